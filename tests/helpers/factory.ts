/** Inserts records directly into the store, without the engine. */

import { createHash } from 'node:crypto'
import type { Compilable } from 'kysely'
import { NO_EVIDENCE } from '../../src/domain/alert/evidence.ts'
import type { Source } from '../../src/domain/event/event.ts'
import type { Severity } from '../../src/domain/severity.ts'
import { countAlerts } from '../../src/store/history/alert-counts.ts'
import type { Db } from '../../src/store/sqlite/open.ts'
import { uuidToBytes } from '../../src/store/sqlite/uuid.ts'

/** A Saturday in March on which all tests take place. */
export const NOON = Date.UTC(2026, 2, 14, 12)
export const MINUTE = 60_000
export const DAY = 86_400_000

/** A record with its row id and its UUID. */
export type Made = { readonly key: number; readonly id: string }

let made = 0
let rows = 0

/** The number of records that this process has inserted. */
export function rowsMade(): number {
  return rows
}

/** Returns a UUID that is unique in this process. */
export function newUuid(): string {
  made += 1
  return `01900000-0000-7000-8000-${made.toString(16).padStart(12, '0')}`
}

export function makeOrganization(db: Db, name: string, plan: 'Free' | 'Team' | 'Pro'): Made {
  return named((uuid) => db.sql.insertInto('organizations').values({ uuid, name, plan, created_at: NOON - DAY }), db)
}

/** Inserts a token. Returns it with its secret. */
export function makeToken(
  db: Db,
  organization: Made,
  scopes: readonly string[],
  more: { secret?: string; cluster?: string; name?: string; expires_at?: number; revoked_at?: number } = {},
): string {
  made += 1
  const { secret = `incmon_${made.toString(36).padStart(43, 'T')}`, ...columns } = more
  const row = {
    uuid: bytesOf(newUuid()),
    organization_id: organization.key,
    name: `token ${made}`,
    hash: createHash('sha256').update(secret).digest(),
    scopes: JSON.stringify(scopes),
    created_at: NOON - DAY,
    ...columns,
  }
  db.run(db.sql.insertInto('tokens').values(row))
  return secret
}

export function makeService(db: Db, organization: Made, name: string, more: Partial<ServiceColumns> = {}): Made {
  const row = { cluster: '', namespace: 'shop', name, created_at: NOON - DAY, ...more }
  return named((uuid) => db.sql.insertInto('services').values({ uuid, organization_id: organization.key, ...row }), db)
}
type ServiceColumns = {
  namespace: string
  status: 'healthy' | 'degraded' | 'critical'
  score: number
  health: string
  last_alert_at: number
  last_event_at: number
  created_at: number
}

export function makeAlert(db: Db, organization: Made, service: Made, more: Partial<AlertColumns> = {}): Made {
  const row = {
    organization_id: organization.key,
    service_id: service.key,
    source: 'metrics' as Source,
    name: 'HighLatency',
    severity: 'warning' as Severity,
    status: 'firing' as const,
    summary: 'slow',
    labels: '{"alertname":"HighLatency"}',
    annotations: '{}',
    links: '{}',
    fingerprint: 'cbf29ce484222325',
    rules: '{"service":{"by":"label","label":"service"},"severity":"label severity","identity":"fingerprint"}',
    evidence: JSON.stringify(NO_EVIDENCE),
    starts_at: NOON,
    last_seen_at: NOON,
    occurrences: 1,
    received_at: NOON,
    logical_key: newUuid(),
    ...more,
  }
  const begun = { organizationId: organization.key, serviceId: service.key, startsAt: row.starts_at }
  return db.transaction(() => {
    countAlerts(db, [begun])
    return named((uuid) => db.sql.insertInto('alerts').values({ uuid, ...row }), db)
  })
}
type AlertColumns = {
  source: Source
  node: string
  name: string
  severity: Severity
  status: 'firing' | 'resolved'
  resolution: 'reported'
  summary: string
  labels: string
  annotations: string
  fingerprint: string
  links: string
  incident_id: number
  starts_at: number
  ends_at: number
}

export function makeEvent(db: Db, organization: Made, more: Partial<EventColumns> = {}, payload: unknown = {}): Made {
  const row = {
    organization_id: organization.key,
    source: 'metrics' as Source,
    kind: 'firing',
    name: 'HighLatency',
    object: '',
    severity: 'warning' as Severity,
    text: 'slow',
    at: NOON,
    received_at: NOON,
    ...more,
  }
  const event = named((uuid) => db.sql.insertInto('events').values({ uuid, ...row }), db)
  db.run(db.sql.insertInto('payloads').values({ event_id: event.key, body: JSON.stringify(payload) }))
  return event
}
type EventColumns = {
  object: string
  source: Source
  service_id: number
  alert_id: number
  at: number
  received_at: number
  text: string
}

export function makeIncident(db: Db, organization: Made, service: Made, more: Partial<IncidentColumns> = {}): Made {
  const since = more.resolved_at ? null : (more.started_at ?? NOON)
  const row = {
    organization_id: organization.key,
    service_id: service.key,
    title: 'Checkout is down',
    severity: 'critical' as Severity,
    status: 'open' as const,
    origin: 'manual' as const,
    created_at: NOON,
    started_at: NOON,
    problem: JSON.stringify({ since, periods: since === null ? [] : [{ name: '', from: since, to: null }] }),
    ...more,
  }
  return named((uuid) => db.sql.insertInto('incidents').values({ uuid, ...row }), db)
}
type IncidentColumns = {
  title: string
  started_at: number
  alert_count: number
  status: 'open' | 'investigating' | 'identified' | 'monitoring' | 'resolved'
  severity: Severity
  created_at: number
  resolved_at: number
}

export function makeTimelineEntry(db: Db, incident: Made, text: string, at = NOON): void {
  const row = { incident_id: incident.key, at, kind: 'note', text, actor: null, ref: null }
  db.run(db.sql.insertInto('timeline').values(row))
}

export function makeCorrelation(db: Db, organization: Made, service: Made, score: number, alert?: Made): Made {
  const row = {
    organization_id: organization.key,
    service_id: service.key,
    change_kind: 'pipeline' as const,
    change_ref: 'acme/shop!7',
    change_event_id: makeEvent(db, organization, { source: 'ci' }).key,
    alert_id: (alert ?? makeAlert(db, organization, service)).key,
    evidence_event_id: makeEvent(db, organization).key,
    evidence_count: 2,
    score,
    band: 'probable' as const,
    reasons: '[{"code":"during_run","text":"it began during the run"}]',
    lag_seconds: -30,
    created_at: NOON,
  }
  return named((uuid) => db.sql.insertInto('correlations').values({ uuid, ...row }), db)
}

export function makeRejection(db: Db, organization: Made, error: string, more: Partial<RejectionColumns> = {}): Made {
  const row = { source: 'metrics' as Source, item: 0, error, payload: '{}', received_at: NOON, ...more }
  return named(
    (uuid) => db.sql.insertInto('rejections').values({ uuid, organization_id: organization.key, ...row }),
    db,
  )
}
type RejectionColumns = { source: Source; payload: string; received_at: number }

export function makeSender(db: Db, organization: Made, receiver: string, more: Partial<SenderColumns> = {}): void {
  const row = { source: 'metrics' as Source, cluster: '', receiver, events: 3, last_event_at: NOON, ...more }
  db.run(db.sql.insertInto('senders').values({ organization_id: organization.key, ...row }))
}
type SenderColumns = { last_event_at: number; heartbeat_at: number; heartbeat_due_at: number; names_cluster: number }

export function makeSilence(db: Db, organization: Made, more: Partial<SilenceColumns> = {}): Made {
  const row = {
    organization_id: organization.key,
    matchers: '[{"name":"service","op":"=","value":"cart"}]',
    starts_at: NOON,
    ends_at: NOON + DAY,
    comment: 'Upgrade',
    created_by: 'on call',
    created_at: NOON,
    ...more,
  }
  return named((uuid) => db.sql.insertInto('silences').values({ uuid, ...row }), db)
}
type SilenceColumns = { matchers: string; starts_at: number; ends_at: number; schedule: string; comment: string }

/** Inserts a webhook channel with its secrets. */
export function makeChannel(db: Db, organization: Made, name = 'on-call'): Made {
  const row = { organization_id: organization.key, name, kind: 'webhook' as const, settings: '{}', created_at: NOON }
  const target = 'https://example.com/hook'
  const made = named((uuid) => db.sql.insertInto('channels').values({ uuid, target, ...row }), db)
  const [signing, acknowledging] = [`whsec_${'A'.repeat(32)}`, `whsec_${'B'.repeat(32)}`]
  db.run(db.sql.insertInto('channel_secrets').values({ channel_id: made.key, target, signing, acknowledging }))
  return made
}

function named(query: (uuid: Buffer) => Compilable, db: Db): Made {
  rows += 1
  const id = newUuid()
  return { id, key: db.insert(query(bytesOf(id))) }
}

function bytesOf(uuid: string): Buffer {
  return uuidToBytes(uuid) ?? assertNever(uuid)
}

function assertNever(uuid: string): never {
  throw new Error(`no UUID: ${uuid}`)
}
