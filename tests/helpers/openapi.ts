/** Compares responses with openapi.json. An undocumented status or field fails the test. */
import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { ROUTES } from '../../src/app.ts'
import { openApi } from '../../src/http/api/openapi/openapi.ts'
import { assertAlertmanager } from './alertmanager-schema.ts'

export const DOCUMENT = openApi(ROUTES)

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(tightened(DOCUMENT) as object, 'openapi')

const TEMPLATES = ROUTES.map(({ path }) => ({
  template: path.replace(/:(\w+)/g, '{$1}'),
  pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}/?$`),
}))

/**
 * Fails if the document does not contain this response. The router's own 404 and 405 must also be problem documents.
 */
export function assertDocumented(method: string, path: string, status: number, type: string, body: unknown): void {
  if (path.startsWith('/alertmanager/')) {
    assertAlertmanager(method, path, status, body)
    return
  }
  const template = TEMPLATES.find(({ pattern }) => pattern.test(path))?.template
  const operation = template ? DOCUMENT.paths[template]?.[method === 'HEAD' ? 'get' : method.toLowerCase()] : undefined
  if (!template || !operation) {
    fits('#/components/schemas/Problem', body, `${method} ${path}`)
    return
  }
  const answer = operation.responses[status]
  assert.ok(answer, `${method} ${template} may not answer ${status}, and did: ${JSON.stringify(body)}`)
  if (!answer.content || method === 'HEAD') return
  const documented = type.split(';')[0] ?? ''
  assert.ok(documented in answer.content, `${method} ${template} may not answer ${status} as ${type}`)
  const pointer = ['paths', template, method.toLowerCase(), 'responses', status, 'content', documented, 'schema']
  fits(pointerTo(pointer), body, template)
}

/** Joins the parts to a JSON pointer such as `#/paths/~1api~1alerts/get`. */
export function pointerTo(parts: readonly (string | number)[]): string {
  return `#/${parts.map((part) => encodeURIComponent(String(part).replaceAll('/', '~1'))).join('/')}`
}

/** Fails if the value does not match the schema at this path of the document. */
export function fits(pointer: string, body: unknown, where: string): void {
  const validate = ajv.getSchema(`openapi${pointer}`) ?? ajv.compile({ $ref: `openapi${pointer}` })
  const right = validate(body)
  assert.ok(right, `${where}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)?.slice(0, 500)}`)
}

/** Fails if the value does not match a schema that refers to schemas of the document. */
export function fitsSchema(schema: object, body: unknown, where: string): void {
  const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components'))
  const validate = ajv.compile(local)
  assert.ok(validate(body), `${where}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(body)?.slice(0, 500)}`)
}

/** Clients must accept new fields, but tests must not, so unknown fields fail. */
function tightened(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tightened)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, tightened(child)]))
  const isObject = copy.type === 'object' && copy.properties && !('additionalProperties' in copy)
  return isObject ? { ...copy, additionalProperties: false } : copy
}
