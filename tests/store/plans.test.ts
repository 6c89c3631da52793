/** Query plans: no query scans a whole table, or sorts rows whose number grows with the history. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { after, before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openSqlite } from '../../src/store/sqlite/driver.ts'
import { everything } from '../helpers/everything.ts'
import { makeFlow } from '../helpers/flow.ts'
import { listening } from '../helpers/listening.ts'

const STORE = new URL('../../src/store/', import.meta.url)
/** Files without queries on tables of the schema version. */
const WITHOUT_QUERIES = /^(sqlite\/|engine-store\.ts$)/

/** Names that are not tables, and small tables. */
const MAY_BE_SCANNED =
  /^SCAN (json_each|limited|\(subquery-\d+\)|schema_migrations|organizations|channels|postmortems_due|\d+-ROW VALUES CLAUSE|CONSTANT ROW)/

/** Queries that can sort events or alerts because there are few rows, with the reason. */
const MAY_BE_SORTED: readonly { readonly query: RegExp; readonly why: string }[] = [
  { query: /where "incident_id" = \+?\?/, why: 'the alerts of one incident' },
  { query: /"correlations"."alert_id" = \+?\?/, why: 'the links of one alert' },
  { query: /"alerts"."incident_id" = \+?\?/, why: 'what belongs to the alerts of one incident' },
]

/** Queries that can read all records of an organization: totals, all services, and loading the live state. */
const MAY_READ_ALL = /count\(\*\)|from "(services|aliases|image_projects|senders|groups|silences)"/

type Step = { readonly detail: string; readonly text: string }

/** Returns the steps of each query's plan. */
function stepsOf(file: string, texts: Iterable<string>): Step[] {
  const sqlite = openSqlite(file)
  const steps = [...texts].flatMap((text) => {
    const plan = sqlite.prepare(`EXPLAIN QUERY PLAN ${text}`)
    const holes = Array.from({ length: text.split('?').length - 1 }, () => null)
    return (plan.all(...holes) as { detail: string }[]).map(({ detail }) => ({ detail, text }))
  })
  sqlite.close()
  return steps
}

/** Returns the steps that scan a table, an index or a whole organization, and those that sort events or alerts. */
function faults(file: string, texts: Iterable<string>): Step[] {
  return stepsOf(file, texts).filter(({ detail, text }) => {
    if (/^SCAN /.test(detail)) return !MAY_BE_SCANNED.test(detail)
    if (/^SEARCH .*\(organization_id=\?\)$/.test(detail)) return !/ limit /.test(text) && !MAY_READ_ALL.test(text)
    return (
      /TEMP B-TREE/.test(detail) && (/(from|join) "(events|alerts)"/.test(text) || /count\(DISTINCT\)/.test(detail))
    )
  })
}

function isExcused({ detail, text }: Step): boolean {
  return !detail.startsWith('SEARCH ') && MAY_BE_SORTED.some(({ query }) => query.test(text))
}

/** Returns the queries and the store functions used while exercising a bit of everything. */
async function listen(t: { after: (work: () => void) => void }) {
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

/** The page, endpoint or rule that needs each index. An index that nothing needs is dropped. */
const INDEXES: Readonly<Record<string, string>> = {
  alerts_by_age: 'loading the live state at startup, and retention',
  alerts_by_incident: 'GET /api/incidents/:id, and reports',
  alerts_by_kind: 'GET /api/alerts?severity=…&source=…',
  alerts_by_organization: 'GET /api/alerts',
  alerts_by_service: 'GET /api/alerts?serviceId=…',
  aliases_by_service: 'GET /api/services/:id, and merging services',
  correlations_by_change: 'updating the links of a pipeline after another notification',
  correlations_by_change_event: 'retention: whether a link references an event',
  correlations_by_evidence_event: 'retention: whether a link references an event',
  correlations_by_organization: 'GET /api/correlations',
  correlations_by_service: 'GET /api/correlations?serviceId=…',
  events_awaiting: 'assigning earlier events to a new service',
  events_by_alert: 'the page of an alert, and its links',
  events_by_organization: 'GET /api/events, and retention',
  events_by_service: 'GET /api/events?serviceId=…, and the end of a condition',
  events_of_change: 'the suspects of an incident',
  events_of_change_by_service: 'GET /api/services/:id/changes',
  events_of_starts: 'the suspects of an incident',
  events_of_trouble: 'the suspects of an incident',
  idempotency_keys_by_age: 'deleting responses after a day',
  image_projects_by_service: 'merging services',
  incidents_by_end: 'loading the live state at startup',
  incidents_by_number: 'GET /api/incidents/:number',
  incidents_by_organization: 'GET /api/incidents',
  incidents_by_service: 'GET /api/incidents?serviceId=…',
  incidents_by_span: 'reports, and retention',
  kubernetes_objects_by_cluster: 'resuming the watch of a cluster at startup',
  live_alerts_by_incident: 'the order of the overview, and retention: whether an incident can still change',
  outbox_begun: 'the message that a channel is sending',
  outbox_by_channel: 'the next message of a channel',
  outbox_by_group: 'the timeline of the incident that leads a group',
  outbox_by_incident: 'reminders, and replies in a thread',
  outbox_by_leader: 'the notifications in a message',
  outbox_by_organization: 'GET /api/deliveries',
  outbox_ended: 'deleting old messages',
  pipelines_by_event: 'retention: whether a pipeline references an event',
  pipelines_by_organization: 'the suspects of an incident',
  pipelines_by_service: 'linking an alert to pipelines',
  postmortem_references_by_postmortem: 'deleting a postmortem',
  postmortems_due_by_incident: 'whether the postmortem of an incident is still due',
  rejections_by_organization: 'GET /api/rejections',
  services_by_status: 'the numbers of services on every page',
  services_by_name: 'whether services of several namespaces share a name, for each message',
  sessions_by_end: 'deleting expired sessions',
  sessions_by_organization: 'the page of sessions',
  setup_links_by_end: 'deleting expired setup links',
  silenced_alerts_by_silence: 'GET /api/silences: the number of silenced alerts',
  silences_by_organization: 'GET /api/silences',
  timeline_by_incident: 'GET /api/incidents/:id',
  timeline_by_ref: 'retention: whether a timeline references a record',
  timeline_reopened: 'reports: how often an incident was reopened',
  tokens_by_organization: 'GET /api/tokens',
  untold_by_channel: 'deleting a channel',
  untold_by_incident: 'deleting an incident',
}
/** Indexes that only SQLite itself uses, to check foreign keys when a row is deleted. */
const OF_FOREIGN_KEYS = /^(postmortem_references_by_postmortem|untold_by_(channel|incident))$/

suite('the queries of everything', () => {
  const cleanings: (() => void)[] = []
  let heard: Awaited<ReturnType<typeof listen>>
  before(async () => {
    heard = await listen({ after: (work) => void cleanings.unshift(work) })
  })
  after(() => {
    for (const clean of cleanings) clean()
  })

  test('each index has a stated purpose, and a query that uses it', async () => {
    const { file, queries } = heard
    const sqlite = openSqlite(file)
    const names = sqlite
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
      .pluck()
      .all()
    sqlite.close()
    assert.deepEqual((names as string[]).sort(), Object.keys(INDEXES).sort())
    const used = new Set(stepsOf(file, queries).map(({ detail }) => /INDEX (\w+)/.exec(detail)?.[1]))
    const unused = Object.keys(INDEXES).filter((name) => !used.has(name) && !OF_FOREIGN_KEYS.test(name))
    assert.deepEqual(unused, [], 'an index that no query uses')
  })

  test('no query scans a table, reads a whole organization or sorts the history', async () => {
    const { file, queries, called } = heard
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
})

for (const [what, text] of [
  ['a scan', 'select id from "events" where "text" = ?'],
  ['a scan of an index', 'select "starts_at" from "alerts" where "starts_at" > ?'],
  ['a scan for want of one index', 'select id from "alerts" where "name" = ? or "id" = ?'],
  [
    'a count of what differs, without its order',
    'select count(distinct node) from services join alerts on service_id = services.id where service_id = ?',
  ],
  ['a sort', 'select "id" from "alerts" where "service_id" = ? order by "name"'],
  ['a read of a whole organization', 'select "id" from "correlations" where "organization_id" = ? and "score" < ?'],
  ['a scan of another table', 'select "id" from "services" where "score" < ?'],
] as const) {
  test(`${what} is found`, (t) => {
    assert.equal(faults(makeFlow(t).file, [text]).length, 1)
  })
}
