/** Compares responses with the definitions of Alertmanager 0.34. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'

const DOCUMENT = JSON.parse(readFileSync(new URL('../fixtures/alertmanager-0.34.json', import.meta.url), 'utf8'))
const ajv = new Ajv({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema(DOCUMENT, 'alertmanager')

const POSTED = {
  type: 'object',
  properties: { silenceID: { type: 'string', format: 'uuid' } },
  required: ['silenceID'],
}
/** The error of the framework, or the JSON string of a handler. */
const ERROR = {
  anyOf: [
    { type: 'string' },
    { type: 'object', required: ['code', 'message'], properties: { code: { type: 'number' } } },
  ],
}
const DEFINITIONS: readonly (readonly [RegExp, object])[] = [
  [/^GET \/status$/, { $ref: 'alertmanager#/definitions/alertmanagerStatus' }],
  [/^GET \/receivers$/, { type: 'array', items: { $ref: 'alertmanager#/definitions/receiver' } }],
  [/^GET \/silences$/, { $ref: 'alertmanager#/definitions/gettableSilences' }],
  [/^POST \/silences$/, POSTED],
  [/^GET \/silence\//, { $ref: 'alertmanager#/definitions/gettableSilence' }],
  [/^GET \/alerts$/, { $ref: 'alertmanager#/definitions/gettableAlerts' }],
  [/^GET \/alerts\/groups$/, { $ref: 'alertmanager#/definitions/alertGroups' }],
]

/** Fails if Alertmanager's document does not allow the response. `path`: the whole path. */
export function assertAlertmanager(method: string, path: string, status: number, body: unknown): void {
  if (path.startsWith('/alertmanager/api/v1/')) return
  const call = `${method} ${path.replace('/alertmanager/api/v2', '')}`
  if (status === 200) {
    const schema = DEFINITIONS.find(([pattern]) => pattern.test(call))?.[1]
    if (schema) fits(schema, body, call)
  } else if (body !== null) fits(ERROR, body, call)
}

function fits(schema: object, body: unknown, call: string): void {
  const isValid = ajv.validate(schema, body)
  assert.ok(isValid, `${call}: ${ajv.errorsText()} in ${JSON.stringify(body)?.slice(0, 500)}`)
}
