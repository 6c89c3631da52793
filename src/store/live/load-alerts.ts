import type { Alert, AlertPart, LiveAlert } from '../../domain/alert/alert.ts'
import { NO_EVIDENCE } from '../../domain/alert/evidence.ts'
import type { Fingerprint } from '../../domain/alert/fingerprints.ts'
import { shareEqual } from '../../domain/memoize.ts'
import { firstDueAt } from '../../engine/changes/sweep.ts'
import { putAlert } from '../../engine/state/alerts.ts'
import type { Journal } from '../../engine/state/journal.ts'
import type { OrganizationState } from '../../engine/state/state.ts'
import { readRules } from '../alert-texts.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidAsText } from '../sqlite/uuid.ts'

const fingerprintsOfLiveAlerts = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .innerJoin('alert_fingerprints as f', 'f.alert_id', 'alerts.id')
    .select(['f.alert_id as alertId', 'f.fingerprint', 'f.severity', 'f.said', 'f.started_at as startedAt'])
    .select(['f.ended', 'f.seen_at as seenAt', 'f.expires_at as expiresAt', 'f.changed_at as changedAt'])
    .where('alerts.settled_at', 'is', null)
    .where('alerts.organization_id', '=', hole('organizationId'))
    .orderBy('alerts.id'),
)

const STEP = 1_000
const NO_SILENCES: readonly number[] = []

/** Loads an organization's live alerts in steps, so that other work can run in between. */
export function* loadAlerts(db: Db, state: OrganizationState, journal: Journal): Generator<void, void> {
  const organizationId = state.rowId
  const silenced = listSilencesOfAlerts(db, organizationId)
  const fingerprints = listLiveFingerprints(db, organizationId)
  for (let after = 0; ; ) {
    const rows = db.all(liveAlerts, { organizationId, after, limit: STEP })
    // The journal is paused because loading is never undone.
    journal.pause(() => {
      for (const row of rows) {
        const silencedBy = silenced.get(row.id) ?? NO_SILENCES
        putAlert(state, toLiveAlert(state, row, silencedBy, fingerprints.get(row.id) ?? null))
      }
    })
    const last = rows.at(-1)
    if (!last || rows.length < STEP) return
    after = last.id
    yield
  }
}

/** Lists, for each live alert, the row ids of its silences in ascending order. */
function listSilencesOfAlerts(db: Db, organizationId: number): ReadonlyMap<number, readonly number[]> {
  const silencedAlerts = db.sql
    .selectFrom('silences')
    .innerJoin('silenced_alerts', 'silenced_alerts.silence_id', 'silences.id')
    .innerJoin('alerts', 'alerts.id', 'silenced_alerts.alert_id')
    .select(['silenced_alerts.alert_id as alertId', 'silenced_alerts.silence_id as id'])
    .where('silences.organization_id', '=', organizationId)
    .where('alerts.settled_at', 'is', null)
  const byAlert = Map.groupBy(db.all(silencedAlerts), ({ alertId }) => alertId)
  return new Map([...byAlert].map(([alertId, rows]) => [alertId, rows.map(({ id }) => id).sort((a, b) => a - b)]))
}

/** Loads the fingerprints of an organization's live alerts, by alert row id. */
function listLiveFingerprints(db: Db, organizationId: number): ReadonlyMap<number, readonly Fingerprint[]> {
  const found = new Map<number, Fingerprint[]>()
  for (const { alertId, ended, ...row } of db.all(fingerprintsOfLiveAlerts, { organizationId })) {
    const one = { ...row, ended: ended === 1 }
    const known = found.get(alertId)
    if (known) known.push(one)
    else found.set(alertId, [one])
  }
  return found
}

/** Selects the live alerts after a row id, in ascending order. */
const liveAlerts = query<{ organizationId: number; after: number; limit: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .leftJoin('events', 'events.id', 'alerts.last_event_id')
    .select(['alerts.id', 'alerts.service_id', 'alerts.incident_id'])
    .select((eb) => [uuidAsText(eb.ref('alerts.uuid')).as('uuid'), uuidAsText(eb.ref('events.uuid')).as('event_uuid')])
    .select(['alerts.source', 'alerts.name', 'alerts.severity', 'alerts.said', 'alerts.status', 'alerts.resolution'])
    .select(['summary', 'fingerprint', 'failure', 'node', 'rules', 'evidence', 'starts_at', 'ends_at', 'last_seen_at'])
    .select(['occurrences', 'cluster', 'logical_key', 'group_id', 'alerts.received_at'])
    .select(['end_received_at', 'expires_at', 'last_event_hash', 'events.id as event_id'])
    // Only Kubernetes conditions need their labels in memory.
    .select((eb) => eb.case().when('alerts.source', '=', 'cluster').then(eb.ref('labels')).end().as('labels'))
    .where('settled_at', 'is', null)
    .where('alerts.organization_id', '=', hole('organizationId'))
    .where('alerts.id', '>', hole('after'))
    .orderBy('alerts.id')
    .limit(hole('limit')),
)

type AlertRow = NonNullable<(typeof liveAlerts)['row']>

/** Converts a row to a live alert. `silencedBy`: row ids of the silences that apply. */
function toLiveAlert(
  state: OrganizationState,
  row: AlertRow,
  silencedBy: readonly number[],
  fingerprints: readonly Fingerprint[] | null,
): LiveAlert {
  const alert = toAlert(row)
  const { event_id: event, group_id: groupId, service_id: serviceId } = row
  const cluster = shareText(row.cluster)
  return {
    rowId: row.id,
    id: row.uuid,
    organizationId: state.rowId,
    serviceId,
    incidentId: row.incident_id,
    groupId,
    cluster,
    dueAt: firstDueAt(state, { alert, fingerprints, cluster, groupId, serviceId }),
    alert,
    fingerprints,
    lastEvent: event === null ? null : { rowId: event, id: row.event_uuid, hash: row.last_event_hash },
    part: row.labels === null ? null : partOf(JSON.parse(row.labels)),
    silencedBy,
  }
}

function toAlert(row: AlertRow): Alert {
  return {
    source: shareText(row.source),
    name: shareText(row.name),
    severity: shareText(row.severity),
    said: row.said === null ? null : shareText(row.said),
    status: shareText(row.status),
    resolution: row.resolution,
    summary: shareText(row.summary),
    fingerprint: row.fingerprint,
    logicalKey: row.logical_key,
    failure: row.failure === null ? null : shareText(row.failure),
    node: row.node,
    rules: shared(row.rules, readRules),
    evidence: row.evidence === '' ? NO_EVIDENCE : shared<Alert['evidence']>(row.evidence, JSON.parse),
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    lastSeenAt: row.last_seen_at,
    occurrences: row.occurrences,
    receivedAt: row.received_at,
    endedAt: row.end_received_at,
    expiresAt: row.expires_at,
  }
}

const known = new Map<string, unknown>()
/** The maximum number of cached texts. The evidence of each Kubernetes condition differs and would fill the cache. */
const MAX_SHARED = 1_000

/** Reads a text. Returns the same object for equal texts. Most alerts have the same rules and no evidence. */
function shared<Value>(text: string, read: (text: string) => Value): Value {
  const found = known.get(text)
  if (found !== undefined) return found as Value
  const value = read(text)
  if (known.size < MAX_SHARED) known.set(text, value)
  return value
}

/** SQLite returns a new string for each row, but most alerts have the same few values. */
const shareText: <Text extends string>(text: Text) => Text = shareEqual((text: string) => text) as never

function partOf({ container, kind }: Record<string, string>): AlertPart {
  return { container: container ?? null, kind: kind ?? '' }
}
