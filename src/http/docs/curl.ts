/** Generates curl commands that can be pasted into a shell where $INCMON_TOKEN and the ID variables are set. */
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from './openapi-document.ts'
export type Entry = { readonly method: string; readonly path: string; readonly operation: OpenApiOperation }

/**
 * Returns the command for an operation. `url` is the server's URL without a trailing slash. `accept` is a media type.
 * IDs are shell variables, for example `$SERVICE_ID` in the path of a service, or `$INTO` for the `into` field.
 */
export function curlOf({ method, path, operation }: Entry, document: OpenApiDocument, url: string, accept?: string) {
  const [scheme] = operation.security.flatMap((one) => Object.keys(one))
  const body = operation.requestBody?.content['application/json']?.schema
  // Without -N, curl shows the events of a stream late.
  const isStream = operation.responses['200']?.content?.['text/event-stream'] !== undefined
  const verb = method === 'GET' ? (isStream ? '-N ' : '') : `-X ${method} `
  const parts = [`curl ${verb}"${url}${withVariables(path)}"`]
  if (scheme)
    parts.push(scheme === 'ci' ? '-H "X-Ci-Token: $INCMON_TOKEN"' : '-H "Authorization: Bearer $INCMON_TOKEN"')
  if (accept) parts.push(`-H "Accept: ${accept}"`)
  if (body) parts.push('-H "Content-Type: application/json"', `-d '${quoted(body, document)}'`)
  return parts.join(' \\\n  ')
}

/** Returns the variables used for IDs in the path and body. `list` is the path of the list that contains the IDs. */
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

/** Returns the names of fields that contain a UUID. */
function idsOf({ properties = {} }: JsonSchema): string[] {
  return Object.keys(properties).filter((name) => properties[name]?.format === 'uuid')
}

function withVariables(path: string): string {
  return path.replace(/(\w+?)s\/\{(\w+)\}/g, (_, noun, name) => {
    return `${noun}s/${variable(name === 'id' ? `${noun}_id` : name)}`
  })
}

/**
 * Returns an example body, escaped for use in a single-quoted shell string. The string is closed before each variable
 * and reopened after it, so that the shell expands the variable.
 */
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

/** The example for a string without a format. */
const SOME_TEXT = '…'

/**
 * Returns a valid example: the schema's own example, or an example that is built from the fields' examples. Leaves out
 * an optional string without an example, such as a time whose default is now.
 */
export function exampleOf(schema: JsonSchema, document: OpenApiDocument): unknown {
  const { examples, properties, required = [], items, anyOf } = schema
  if (examples && examples.length > 0) return examples[0]
  if (schema.$ref) return exampleOf(document.components.schemas[nameOf(schema.$ref)] ?? {}, document)
  if (properties) {
    const all = Object.entries(properties).map(([name, one]) => [name, exampleOf(one, document)] as const)
    return Object.fromEntries(all.filter(([name, example]) => required.includes(name) || example !== SOME_TEXT))
  }
  if (items) return [exampleOf(items, document)]
  if (anyOf?.[0]) return exampleOf(anyOf[0], document)
  return plainExample(schema)
}

/** Returns `Alert` for `#/components/schemas/Alert`. */
export function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

function plainExample(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  if (schema.type === 'boolean') return true
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 0
  return schema.type === 'object' ? {} : SOME_TEXT
}
