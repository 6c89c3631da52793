/** Stores the same rows as incmon without applying any rules: the best possible result for this schema. */
import { randomUUIDv7 } from 'node:crypto'
import { fdatasync, openSync } from 'node:fs'
import SQLite from 'better-sqlite3'
import { type Notified, receive } from './receiver.ts'

const file = process.env.DATABASE ?? ''
const sqlite = new SQLite(file)
// The same settings as the server. Here, too, a thread syncs the log before each response.
for (const setting of [
  'journal_mode = WAL',
  'synchronous = NORMAL',
  'foreign_keys = ON',
  'wal_autocheckpoint = 32000',
]) {
  sqlite.pragma(setting)
}
const organization = sqlite.prepare<[], { id: number }>('SELECT id FROM organizations').get()?.id ?? 0

const insertService = sqlite.prepare(
  "INSERT INTO services (uuid, organization_id, cluster, namespace, name, created_at) VALUES (?, ?, '', ?, ?, ?)",
)
const insertAlert = sqlite.prepare(
  `INSERT INTO alerts (uuid, organization_id, service_id, source, name, severity, said, status, summary, labels,
     annotations, links, fingerprint, logical_key, rules, evidence, starts_at, last_seen_at, received_at, occurrences)
   VALUES (?, ?, ?, 'metrics', ?, ?, ?, 'firing', ?, ?, ?, ?, ?, ?, ?, '{}', ?, ?, ?, 1)`,
)
const insertEvent = sqlite.prepare(
  `INSERT INTO events (uuid, organization_id, service_id, alert_id, source, kind, name, object, severity, text, at, received_at)
   VALUES (?, ?, ?, ?, 'metrics', 'firing', ?, '', ?, ?, ?, ?)`,
)
const insertPayload = sqlite.prepare('INSERT INTO payloads VALUES (?, ?)')
const repeatAlert = sqlite.prepare(
  'UPDATE alerts SET last_seen_at = ?, received_at = ?, occurrences = occurrences + 1 WHERE id = ?',
)

const MOST = 256
/** Every alert is stored with the names of its rules. */
const RULES = JSON.stringify({ service: 'label service', severity: 'label severity', identity: 'fingerprint' })

const services = new Map<string, number>()
const known = new Map<string, { readonly alertId: number; readonly eventId: string }>()

function store(alert: Notified): string {
  const now = Date.now()
  const before = known.get(alert.fingerprint)
  if (before) {
    repeatAlert.run(now, now, before.alertId)
    return before.eventId
  }
  const { labels, annotations, fingerprint } = alert
  const { alertname: name = '', severity = 'warning', namespace = '', service = '' } = labels
  const { summary = '' } = annotations
  const startsAt = Date.parse(alert.startsAt)
  const serviceId = serviceOf(namespace, service)
  const [alertUuid, eventUuid] = [randomUUIDv7(), randomUUIDv7()]
  const texts = [labels, annotations, { generator: alert.generatorURL }].map((one) => JSON.stringify(one))
  const head = [bytes(alertUuid), organization, serviceId, name, severity, severity, summary]
  const identity = [fingerprint, fingerprint, RULES]
  const alertId = Number(insertAlert.run(...head, ...texts, ...identity, startsAt, now, now).lastInsertRowid)
  const event = [bytes(eventUuid), organization, serviceId, alertId, name, severity, summary, startsAt, now]
  insertPayload.run(insertEvent.run(...event).lastInsertRowid, JSON.stringify(alert))
  known.set(fingerprint, { alertId, eventId: eventUuid })
  return eventUuid
}

function serviceOf(namespace: string, name: string): number {
  const key = `${namespace}/${name}`
  const before = services.get(key)
  if (before !== undefined) return before
  const made = insertService.run(bytes(randomUUIDv7()), organization, namespace, name, Date.now())
  services.set(key, Number(made.lastInsertRowid))
  return Number(made.lastInsertRowid)
}

function bytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

type Waiting = { readonly alerts: readonly Notified[]; readonly answer: (ids: string[]) => void }
let waiting: Waiting[] = []
let isWorking = false
let log: number | null = null
const storeAll = sqlite.transaction((batch: readonly Waiting[]) => batch.map(({ alerts }) => alerts.map(store)))

/** All requests that arrive in the same turn of the event loop share a commit. */
function gather(before: number): void {
  isWorking = true
  setImmediate(() => {
    if (waiting.length > before && waiting.length < MOST) gather(waiting.length)
    else work()
  })
}

function work(): void {
  const batch = waiting
  waiting = []
  const ids = storeAll(batch)
  log ??= openSync(`${file}-wal`, 'r+')
  fdatasync(log, (error) => {
    if (error) throw error
    batch.forEach(({ answer }, index) => {
      answer(ids[index] ?? [])
    })
    isWorking = false
    if (waiting.length > 0) gather(0)
  })
}

receive('bare', (alerts) => {
  return new Promise((answer) => {
    waiting.push({ alerts, answer })
    if (!isWorking) gather(0)
  })
})
