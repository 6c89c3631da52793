/** Every documented parameter and field with one typo: the error names the correct one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../src/app.ts'
import { makeWorld } from '../helpers/app.ts'
import { newUuid } from '../helpers/factory.ts'
import { DOCUMENT } from '../helpers/openapi.ts'

// biome-ignore lint/suspicious/noExplicitAny: a part of an OpenAPI document has many forms
type Part = any
type Typo = { readonly right: string; readonly wrong: string }

const REST = ROUTES.filter(({ auth }) => auth && auth.scope !== 'ingest')
/** In a two-letter name, a typo results in a different word. */
const SHORTEST = 3

test('a typo in any parameter gets 400 with the parameter', async (t) => {
  const { acme, request } = makeWorld(t)
  const tried = REST.flatMap((route) => typosIn(parametersOf(route)).map((typo) => ({ ...route, ...typo })))
  assert.ok(tried.length > 150)
  for (const { method, path, right, wrong } of tried) {
    const url = `${path.replace(':id', newUuid())}?${wrong}=1`
    const { status, body } = await request(method, url, { token: acme.token })
    assert.deepEqual([status, body.errors[0].message], [400, `unknown parameter; did you mean ${right}?`], url)
  }
})

test('a typo in any field, at any depth, gets 400 with the field', async (t) => {
  const { acme, request } = makeWorld(t)
  const tried = REST.flatMap((route) => bodiesOf(bodySchemaOf(route)).map((one) => ({ ...route, ...one })))
  assert.ok(tried.length > 350)
  for (const { method, path, right, sent } of tried) {
    const { status, body } = await request(method, path.replace(':id', newUuid()), { token: acme.token, body: sent })
    const where = `${method} ${path} ${JSON.stringify(sent)}`
    assert.deepEqual([status, body.errors?.[0]?.message], [400, `unknown field; did you mean ${right}?`], where)
  }
})

function parametersOf(route: (typeof REST)[number]): string[] {
  const all: Part[] = operationOf(route).parameters ?? []
  return all.filter((one) => one.in === 'query').map((one) => one.name)
}

function bodySchemaOf(route: (typeof REST)[number]): Part {
  return operationOf(route).requestBody?.content['application/json'].schema ?? {}
}

function operationOf({ method, path }: (typeof REST)[number]): Part {
  return DOCUMENT.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
}

/** Returns bodies with one misspelled name each, at every depth. */
function bodiesOf(schema: Part): (Typo & { readonly sent: unknown })[] {
  const { items, properties = {} } = resolved(schema)
  if (items) return bodiesOf(items).map((one) => ({ ...one, sent: [one.sent] }))
  const here = typosIn(Object.keys(properties)).map((typo) => ({ ...typo, sent: { [typo.wrong]: null } }))
  const below = Object.entries(properties).flatMap(([name, child]) =>
    bodiesOf(child).map((one) => ({ ...one, sent: { [name]: one.sent } })),
  )
  return [...here, ...below]
}

function resolved(schema: Part): Part {
  const path: string[] | undefined = schema.$ref?.slice(2).split('/')
  if (path) return resolved(path.reduce((part: Part, key) => part[key], DOCUMENT))
  const choice = (schema.anyOf ?? []).find((one: Part) => one.type !== 'null')
  return choice ? resolved(choice) : schema
}

/** Returns each name with a missing, an additional and a wrong letter, and in capitals. */
function typosIn(names: readonly string[]): Typo[] {
  return names
    .filter((name) => name.length >= SHORTEST)
    .flatMap((right) => {
      const at = Math.floor(right.length / 2)
      const [before, after] = [right.slice(0, at), right.slice(at)]
      const wrong = [before + after.slice(1), `${before}q${after}`, `${before}q${after.slice(1)}`, right.toUpperCase()]
      return [...new Set(wrong)].filter((one) => !names.includes(one)).map((one) => ({ right, wrong: one }))
    })
}
