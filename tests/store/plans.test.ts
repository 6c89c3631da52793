/** Query plans: no query scans a whole table, or sorts rows whose number grows with the history. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import SQLite from 'better-sqlite3'
import { everything } from '../helpers/everything.ts'
import { makeFlow } from '../helpers/flow.ts'
import { listening } from '../helpers/listening.ts'

const STORE = new URL('../../src/store/', import.meta.url)
/** Files without queries on tables of the schema version. */
const WITHOUT_QUERIES = /^(sqlite\/|engine-store\.ts$)/

/** Names that are not tables, and small tables. */
const MAY_BE_SCANNED =
  /^SCAN (json_each|schema_migrations|organizations|channels|postmortems_due|\d+-ROW VALUES CLAUSE)/

/** Queries that can sort events or alerts because there are few rows, with the reason. */
const MAY_BE_SORTED: readonly { readonly query: RegExp; readonly why: string }[] = [
  { query: /where "incident_id" = \+?\?/, why: 'the alerts of one incident' },
  { query: /"correlations"."alert_id" = \+?\?/, why: 'the links of one alert' },
  { query: /"alerts"."incident_id" = \+?\?/, why: 'what belongs to the alerts of one incident' },
]

/** Queries that can read all records of an organization: totals, all services, and loading the live state. */
const MAY_READ_ALL = /count\(\*\)|from "(services|aliases|image_projects|senders|groups|silences)"/

type Step = { readonly detail: string; readonly text: string }

/** Returns the steps that scan a table, an index or a whole organization, and those that sort events or alerts. */
function faults(file: string, texts: Iterable<string>): Step[] {
  const sqlite = new SQLite(file)
  const steps = [...texts].flatMap((text) => {
    const plan = sqlite.prepare(`EXPLAIN QUERY PLAN ${text}`)
    const holes = Array.from({ length: text.split('?').length - 1 }, () => null)
    return (plan.all(...holes) as { detail: string }[]).map(({ detail }) => ({ detail, text }))
  })
  sqlite.close()
  return steps.filter(({ detail, text }) => {
    if (/^SCAN /.test(detail)) return !MAY_BE_SCANNED.test(detail)
    if (/^SEARCH .*\(organization_id=\?\)$/.test(detail)) return !/ limit /.test(text) && !MAY_READ_ALL.test(text)
    return /TEMP B-TREE/.test(detail) && /(from|join) "(events|alerts)"/.test(text)
  })
}

function isExcused({ detail, text }: Step): boolean {
  return !detail.startsWith('SEARCH ') && MAY_BE_SORTED.some(({ query }) => query.test(text))
}

/** Returns the queries and the store functions used while exercising a bit of everything. */
async function listen(t: TestContext) {
  const queries = new Set<string>()
  const flow = makeFlow(t, listening(queries))
  for (const read of [flow.alerts, flow.incidents, flow.services]) read()
  const own = [...queries]
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true })
  await everything(flow)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  for (const text of own) queries.delete(text)
  const functions = result.filter(({ url }) => url.startsWith(STORE.href)).flatMap((script) => script.functions)
  const called = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).map(({ functionName }) => functionName)
  return { file: flow.file, queries, called: new Set(called) }
}

/** Returns all functions that other layers can call. */
async function exported(): Promise<string[]> {
  const names = readdirSync(fileURLToPath(STORE), { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.ts') && !WITHOUT_QUERIES.test(name))
  const modules: object[] = await Promise.all(files.map((name) => import(new URL(name, STORE).href)))
  return modules.flatMap((one) =>
    Object.entries(one).flatMap(([name, value]) => (value instanceof Function ? [name] : [])),
  )
}

test('no query scans a table, reads a whole organization or sorts the history', async (t) => {
  const { file, queries, called } = await listen(t)
  const found = faults(file, queries)
  assert.deepEqual(
    found.filter((step) => !isExcused(step)),
    [],
  )
  const stale = MAY_BE_SORTED.filter(({ query }) => !found.some(({ text }) => query.test(text)))
  assert.deepEqual(stale, [], 'an exception that nothing needs')
  assert.deepEqual(
    (await exported()).filter((name) => !called.has(name)),
    [],
    'add what calls these to tests/helpers/everything.ts: their queries were not run',
  )
})

for (const [what, text] of [
  ['a scan', 'select id from "events" where "text" = ?'],
  ['a scan of an index', 'select "starts_at" from "alerts" where "starts_at" > ?'],
  ['a scan for want of one index', 'select id from "alerts" where "name" = ? or "id" = ?'],
  ['a sort', 'select "id" from "alerts" where "service_id" = ? order by "name"'],
  ['a read of a whole organization', 'select "id" from "correlations" where "organization_id" = ? and "score" < ?'],
  ['a scan of another table', 'select "id" from "services" where "score" < ?'],
] as const) {
  test(`${what} is found`, (t) => {
    assert.equal(faults(makeFlow(t).file, [text]).length, 1)
  })
}
