/** Writes curl commands. They can be copied and run after $TOKEN and the variables for IDs are set. */
import { exampleOf } from './example.ts'
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from './openapi-document.ts'

/** An operation with its method and path. */
export type Entry = { readonly method: string; readonly path: string; readonly operation: OpenApiOperation }

/**
 * Returns the command for an operation. `url` is the server's URL without a trailing slash, `accept` a media type.
 * IDs are shell variables: `$SERVICE_ID` in the path of a service, `$INTO` for the field `into`.
 */
export function curlOf({ method, path, operation }: Entry, document: OpenApiDocument, url: string, accept?: string) {
  const [scheme] = operation.security.flatMap((one) => Object.keys(one))
  const body = operation.requestBody?.content['application/json']?.schema
  const verb = method === 'GET' ? '' : `-X ${method} `
  const parts = [`curl ${verb}"${url}${withVariables(path)}"`]
  if (scheme) parts.push(scheme === 'ci' ? '-H "X-Ci-Token: $TOKEN"' : '-H "Authorization: Bearer $TOKEN"')
  if (accept) parts.push(`-H "Accept: ${accept}"`)
  if (body) parts.push('-H "Content-Type: application/json"', `-d '${quoted(body, document)}'`)
  return parts.join(' \\\n  ')
}

/** Returns the variables for IDs in the path and the body. `list` is the path that lists their values. */
export function variablesOf({ path, operation }: Entry): { readonly name: string; readonly list: string }[] {
  const inPath = [...path.matchAll(/(.*\/(\w+?)s)\/\{(\w+)\}/g)].map(([, list = '', noun = '', parameter = '']) => ({
    name: variable(`${noun}_${parameter}`),
    list,
  }))
  const body = operation.requestBody?.content['application/json']?.schema ?? {}
  const inBody = idsOf(body).map((name) => {
    const [, noun] = /^(\w+)Id$/.exec(name) ?? []
    return { name: variable(name), list: noun ? `/api/${noun}s` : (inPath[0]?.list ?? '') }
  })
  return [...inPath, ...inBody]
}

/** Returns the names of the fields that contain a UUID. */
function idsOf({ properties = {} }: JsonSchema): string[] {
  return Object.keys(properties).filter((name) => properties[name]?.format === 'uuid')
}

function withVariables(path: string): string {
  return path.replace(/(\w+?)s\/\{(\w+)\}/g, (_, noun, name) => `${noun}s/${variable(`${noun}_${name}`)}`)
}

/** Returns an example body for use within single quotes. A variable closes the quotes before it and opens them again. */
function quoted(schema: JsonSchema, document: OpenApiDocument): string {
  const json = JSON.stringify(exampleOf(schema, document), null, 2).replaceAll("'", `'\\''`)
  return idsOf(schema).reduce(
    (text, name) => text.replace(new RegExp(`("${name}": )"[^"]*"`), (_, key) => `${key}"'${variable(name)}'"`),
    json.replaceAll('\n', '\n  '),
  )
}

/** Returns `$SERVICE_ID` for `serviceId`. */
function variable(name: string): string {
  return `$${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`
}
