import type { InferResult } from 'kysely'
import { type Matcher, matcherTest, stepsOfRead } from '../domain/silence/matcher.ts'
import { withSaid } from '../domain/silence/silence.ts'
import { listAllOtherNames } from './service/services.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'

/** Rows per read. Limits the memory for a long history. */
const CHUNK = 2_000

/**
 * Counts the matching alerts that are firing, and the matching alerts that started at or after `since`. Scans all
 * alerts that started at or after `since`.
 */
export function findSilencePreview(
  db: Db,
  organizationId: number,
  matchers: readonly Matcher[],
  since: number,
): { readonly firing: number; readonly total: number } {
  const matches = testOf(db, organizationId, matchers)
  let total = 0
  let last = { at: since, id: 0 }
  for (;;) {
    const rows = db.all(chunk, { organizationId, at: last.at, id: last.id })
    total += rows.filter(matches).length
    const end = rows.at(-1)
    if (!end || rows.length < CHUNK) break
    last = { at: end.startsAt, id: end.id }
  }
  return { firing: countFiring(db, organizationId, matchers), total }
}

/** Counts the firing alerts that match. `labelsOnly`: see `matcherTest`. */
export function countFiring(db: Db, organizationId: number, matchers: readonly Matcher[], labelsOnly = false): number {
  const live = select(db.sql).where('alerts.settled_at', 'is', null)
  const firing = live.where('alerts.organization_id', '=', organizationId).where('alerts.status', '=', 'firing')
  return db.all(firing).filter(testOf(db, organizationId, matchers, labelsOnly)).length
}

type Row = InferResult<ReturnType<typeof select>>[number]

/** Returns a test whose calls share the steps of one request. It throws an IncmonError `invalid` if none is left. */
function testOf(
  db: Db,
  organizationId: number,
  matchers: readonly Matcher[],
  labelsOnly = false,
): (row: Row) => boolean {
  const [matches, { steps, check }] = [matcherTest(matchers, labelsOnly), stepsOfRead()]
  const otherNames = listAllOtherNames(db, organizationId)
  return ({ labels, said, name, serviceId, ...row }) => {
    check()
    const known = { ...row, aliases: otherNames.get(serviceId), alertname: name }
    return matches({ ...known, labels: withSaid(JSON.parse(labels), said) }, steps)
  }
}

function select(builder: Db['sql']) {
  return builder
    .selectFrom('alerts')
    .innerJoin('services', 'services.id', 'alerts.service_id')
    .select([
      'alerts.id',
      'alerts.service_id as serviceId',
      'alerts.starts_at as startsAt',
      'alerts.name',
      'alerts.source',
      'alerts.severity',
      'alerts.said',
    ])
    .select(['alerts.labels', 'services.name as service', 'services.namespace', 'services.cluster'])
}

const chunk = query<{ organizationId: number; at: number; id: number }>()((builder, hole) =>
  select(builder)
    .where('alerts.organization_id', '=', hole('organizationId'))
    .where('alerts.starts_at', '>=', hole('at'))
    .where((eb) => eb.or([eb('alerts.starts_at', '>', hole('at')), eb('alerts.id', '>', hole('id'))]))
    .orderBy('alerts.starts_at')
    .orderBy('alerts.id')
    .limit(CHUNK),
)

/** Counts the firing alerts of the services with a name, in all clusters. `alertname`: only those with this name. */
export function findMutedCount(
  db: Db,
  organizationId: number,
  { service, namespace, alertname }: { service: string; namespace: string; alertname?: string },
): number {
  const firing = db.sql
    .selectFrom('services')
    .innerJoin('alerts', 'alerts.service_id', 'services.id')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('services.organization_id', '=', organizationId)
    .where('services.name', '=', service)
    .where('services.namespace', '=', namespace)
    .where('alerts.settled_at', 'is', null)
    .where('alerts.status', '=', 'firing')
  return db.first(alertname === undefined ? firing : firing.where('alerts.name', '=', alertname))?.count ?? 0
}
