/** Loads the facts that a decision needs from the history. Each kind of fact requires one query. */
import { sql as raw } from 'kysely'
import { nodeIn } from '../../domain/event/reason-message.ts'
import { type FactKind, type Facts, WRITTEN } from '../../engine/state/facts.ts'
import { summaryOf } from '../alert-texts.ts'
import { findPipeline } from '../correlation/pipelines.ts'
import { findAnswer } from '../idempotency-keys.ts'
import { findIncident } from '../incident/incidents.ts'
import { findLiveIncident } from '../incident/live-incidents.ts'
import { payloadOf } from '../payloads.ts'
import { listImages } from '../service/images.ts'
import { findSilence, listLabelsOfAlerts } from '../silences.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidFromBytes, uuidOrNone } from '../sqlite/uuid.ts'

type Readers = {
  readonly [Kind in FactKind]: (db: Db, organizationId: number, asked: Facts[Kind]['asked']) => Facts[Kind]['found']
}

const READERS: Readers = {
  answer: (db, organizationId, { source, key, since }) => findAnswer(db, organizationId, source, key, since),
  endingEvents: (db, organizationId, { serviceId, awaited, from }) => [
    ...db.all(endingEventsOf, { serviceId, from }),
    ...db.all(awaitedEndings, { organizationId, awaited, from }),
  ],
  newest: (db, organizationId, { serviceId, awaited }) => {
    const found = db.first(newestOf, { organizationId, serviceId, awaited })
    return {
      endingEventAt: Math.max(found?.eventAt ?? 0, found?.awaitedAt ?? 0),
      changeAt: Math.max(found?.pipelineAt ?? 0, found?.scalingAt ?? 0),
    }
  },
  hasAwaited: (db, organizationId) => db.first(anyAwaited, { organizationId }) !== undefined,
  hasOnlyCi: (db, _, { serviceId }) =>
    db.first(notOfCi, { serviceId }) === undefined && db.first(workload, { serviceId }) === undefined,
  images: (db, _, { serviceId }) => listImages(db, serviceId),
  pipeline: (db, organizationId, { ref }) => findPipeline(db, organizationId, ref),
  labels: (db, _, { rowIds }) => listLabelsOfAlerts(db, rowIds),
  silence: (db, organizationId, { id }) => findSilence(db, organizationId, id) ?? null,
  incident: (db, organizationId, { id }) => findLiveIncident(db, organizationId, id),
  nodeOfPod: (db, _, { serviceId, pod }) =>
    db.all(eventsOfPod, { serviceId, object: `Pod/${pod}` }).flatMap((one) => nodeIn(one) ?? [])[0] ?? null,
  recentEvents: (db, _, asked) => db.all(newestEvents, asked).reverse(),
  notes: (db, _, { incidentId }) => db.first(notesOf, { incidentId }) ?? { entries: 0, length: 0 },
  mergedInto: (db, organizationId, { incidentId }) => {
    const last = db.first(lastMoveOf, { incidentId })
    if (last?.kind !== 'merged' || last.ref === null) return null
    return findIncident(db, organizationId, last.ref.replace('incident/', ''))?.number ?? null
  },
  alertsOfDraft: (db, _, asked) => {
    const newest = db.first(newestPostmortem, asked)
    return newest?.state === 'draft' ? (newest.alerts ?? 0) : null
  },
  event: (db, organizationId, asked) => {
    const found = db.first(eventOf, { organizationId, ...asked })
    return found ? { rowId: found.id, id: uuidFromBytes(found.uuid) } : null
  },
  summary: (db, _, asked) => db.first(summaryOf, asked)?.text ?? null,
  alert: (db, organizationId, { id }) => db.first(alertByUuid, { organizationId, uuid: uuidOrNone(id) })?.id ?? null,
}

/** Loads one fact for a decision. */
export function findFact(db: Db, organizationId: number, kind: FactKind, asked: object): unknown {
  return (READERS[kind] as (db: Db, organizationId: number, asked: object) => unknown)(db, organizationId, asked)
}

/** The maximum number of events to check for the end of a condition. */
const MAX_ENDING_EVENTS = 200
const MAY_END = ['info', 'change', 'success'] as const

const endingEventsOf = query<{ serviceId: number; from: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select(['kind', 'name', 'object', 'text', 'at'])
    .where('service_id', '=', hole('serviceId'))
    .where('at', '>=', hole('from'))
    .where('kind', 'in', MAY_END)
    .orderBy('at')
    .limit(MAX_ENDING_EVENTS),
)
// The unary plus makes SQLite use the small index on waiting events.
const awaitedEndings = query<{ organizationId: number; awaited: string; from: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select(['kind', 'name', 'object', 'text', 'at'])
    .where('organization_id', '=', hole('organizationId'))
    .where('awaited', '=', hole('awaited'))
    .where(raw<number>`+at`, '>=', hole('from'))
    .where(raw<string>`+kind`, 'in', MAY_END)
    .limit(MAX_ENDING_EVENTS),
)
/** The maximum number of a service's newest events in which to look for a pod. */
const MAX_SEARCHED = 2_000
const eventOf = query<{ organizationId: number } & Facts['event']['asked']>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select(['id', 'uuid'])
    .where('organization_id', '=', hole('organizationId'))
    .where('at', '=', hole('at'))
    .where('source', '=', 'cluster')
    .where('object', '=', hole('object'))
    .where('name', '=', hole('name'))
    .where('text', '=', hole('text')),
)

const eventsOfPod = query<{ serviceId: number; object: string }>()((sql, hole) =>
  sql
    .selectFrom(
      sql
        .selectFrom('events')
        .select(['id', 'object', 'text', 'at'])
        .where('service_id', '=', hole('serviceId'))
        .orderBy('at', 'desc')
        .limit(MAX_SEARCHED)
        .as('newest'),
    )
    .select(['newest.text', payloadOf('newest.id').as('body')])
    .where('newest.object', '=', hole('object'))
    .orderBy('newest.at', 'desc')
    .limit(20),
)

const newestEvents = query<Facts['recentEvents']['asked']>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select(['kind', 'name', 'object', 'text', 'at'])
    .where('service_id', '=', hole('serviceId'))
    .where('at', '>=', hole('from'))
    .orderBy('at', 'desc')
    .limit(MAX_SEARCHED),
)

/** One statement, because it runs for every new service of an organization with awaited events. */
const newestOf = query<{ organizationId: number; serviceId: number; awaited: string }>()((sql, hole) =>
  sql.selectNoFrom((eb) => [
    eb
      .selectFrom('events')
      .select((of) => of.fn.max<number | null>('at').as('at'))
      .where('service_id', '=', hole('serviceId'))
      .as('eventAt'),
    eb
      .selectFrom('events')
      .select(raw<number | null>`max(+at)`.as('at'))
      .where('organization_id', '=', hole('organizationId'))
      .where('awaited', '=', hole('awaited'))
      .as('awaitedAt'),
    eb
      .selectFrom('pipelines')
      .select((of) => of.fn.max<number | null>('ends_at').as('at'))
      .where('service_id', '=', hole('serviceId'))
      .as('pipelineAt'),
    eb
      .selectFrom('events')
      .select((of) => of.fn.max<number | null>('at').as('at'))
      .where('service_id', '=', hole('serviceId'))
      .where('kind', '=', 'change')
      .as('scalingAt'),
  ]),
)
const anyAwaited = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select('organization_id')
    .where('organization_id', '=', hole('organizationId'))
    .where('awaited', 'is not', null)
    .limit(1),
)
const notOfCi = query<{ serviceId: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select('id')
    .where('service_id', '=', hole('serviceId'))
    .where('source', '!=', 'ci')
    .limit(1),
)
/** Checks alerts and images, because they outlive their events. */
const workload = query<{ serviceId: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .select('service_id')
    .where('service_id', '=', hole('serviceId'))
    .where('source', '!=', 'ci')
    .unionAll(sql.selectFrom('images').select('service_id').where('service_id', '=', hole('serviceId')))
    .limit(1),
)
const notesOf = query<{ incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('timeline')
    .select((eb) => eb.fn.countAll<number>().as('entries'))
    .select(raw<number>`ifnull(sum(length(text)), 0)`.as('length'))
    .where('incident_id', '=', hole('incidentId'))
    .where('kind', 'in', WRITTEN),
)
/** What took over another incident changed its own status afterwards, at the latest when it was resolved. */
const lastMoveOf = query<{ incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('timeline')
    .select(['kind', 'ref'])
    .where('incident_id', '=', hole('incidentId'))
    .where('kind', 'in', ['merged', 'status'])
    .orderBy('id', 'desc')
    .limit(1),
)
const newestPostmortem = query<{ incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('postmortems')
    .select('state')
    .select((eb) =>
      eb
        .selectFrom('alerts')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('alerts.incident_id', '=', hole('incidentId'))
        .as('alerts'),
    )
    .where('postmortems.incident_id', '=', hole('incidentId'))
    .orderBy('revision', 'desc')
    .limit(1),
)
const alertByUuid = query<{ organizationId: number; uuid: Buffer }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .select('id')
    .where('organization_id', '=', hole('organizationId'))
    .where('uuid', '=', hole('uuid')),
)
