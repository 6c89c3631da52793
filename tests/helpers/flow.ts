/** The write path for tests: sends webhooks, moves the clock, and reads the resulting records. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Deps, withEngine } from '../../src/actions/deps.ts'
import type { Source } from '../../src/domain/event/event.ts'
import type { Notice } from '../../src/domain/notice.ts'
import type { Delivery } from '../../src/engine/changes/receive/delivery.ts'
import type { Receipt } from '../../src/engine/changes/receive/receipt.ts'
import type { Committed } from '../../src/engine/queue.ts'
import { READERS } from '../../src/intake/index.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { uuidFromBytes } from '../../src/store/sqlite/uuid.ts'
import { type Made, MINUTE, makeOrganization, NOON, newUuid } from './factory.ts'
import { newStore, withoutSyncs } from './store.ts'

export type Sending = {
  /** The time of receipt, to which the clock is moved. Default: now. */
  readonly at?: number
  readonly as?: Made
  /** The token's cluster. */
  readonly cluster?: string
  readonly key?: string
  readonly dryRun?: boolean
}

export type Flow = ReturnType<typeof makeFlow>

/**
 * Creates a store with Acme, Basil and the outsider Charlie, at noon. Commits are not synced.
 */
export function makeFlow(t: Pick<TestContext, 'after'>, wrap: (db: Db) => Db = (db) => db) {
  const directory = mkdtempSync(join(tmpdir(), 'incmon-'))
  const file = join(directory, 'incmon.db')
  const clock = { now: NOON }
  const notices: Notice[] = []
  const batches: Committed[] = []
  const open = () => {
    const db = (existsSync(file) ? openStore : newStore)(file, { busyMs: 0 })
    return wrap(withoutSyncs(db))
  }
  const depsOf = (db: Db): Deps =>
    withEngine({
      db,
      now: () => clock.now,
      newId: newUuid,
      newSecret: () => 'S'.repeat(43),
      announce: (notice) => void notices.push(notice),
      observe: (batch) => void batches.push(batch),
    })
  const deps: { -readonly [Name in keyof Deps]: Deps[Name] } = depsOf(open())
  t.after(() => {
    deps.db.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const [acme, basil, charlie] = (['Acme', 'Basil', 'Charlie'] as const).map((name) =>
    makeOrganization(deps.db, name, name === 'Basil' ? 'Free' : 'Pro'),
  ) as [Made, Made, Made]

  const delivery = (source: Source, body: unknown, sending: Sending = {}): Delivery => {
    const { at = clock.now, as = acme, cluster = '', key = null, dryRun = false } = sending
    clock.now = at
    const intake = READERS[source](body, at)
    const who = { organizationId: as.key, cluster, source }
    return { ...who, intake, receivedAt: at, idempotencyKey: key, dryRun, isFromCache: false }
  }
  const send = (source: Source, body: unknown, sending: Sending = {}): Promise<Receipt> =>
    deps.engine.submit(delivery(source, body, sending))
  /** Runs the sweep at every step up to and including `time`, repeatedly if there is more to do. */
  const sweepUntil = async (time: number, step = MINUTE) => {
    while (clock.now < time) {
      clock.now = Math.min(time, clock.now + step)
      while (await deps.engine.sweep());
      await deps.engine.settled()
    }
  }
  const restart = () => {
    deps.db.close()
    Object.assign(deps, depsOf(open()))
  }
  return {
    ...{ deps, file, clock, notices, batches, acme, basil, charlie, delivery, send, sweepUntil, restart },
    ...reading(deps, acme),
    submit: (one: Delivery) => deps.engine.submit(one),
    closeIngest: () => deps.engine.close(),
  }
}

/** Returns functions that read Acme's records. Alerts are sorted by start time. */
function reading(deps: Deps, acme: Made) {
  const alerts = (of: Made = acme) =>
    deps.db
      .all(
        deps.db.sql
          .selectFrom('alerts')
          .innerJoin('services', 'services.id', 'alerts.service_id')
          .selectAll('alerts')
          .select(['services.name as service', 'services.cluster', 'services.namespace'])
          .where('alerts.organization_id', '=', of.key)
          .orderBy('alerts.id'),
      )
      .map((row) => ({ ...row, id: uuidFromBytes(row.uuid), key: row.id }))
  const incidents = (of: Made = acme) =>
    deps.db
      .all(
        deps.db.sql.selectFrom('incidents').selectAll().where('organization_id', '=', of.key).orderBy('incidents.id'),
      )
      .map((row) => ({ ...row, id: uuidFromBytes(row.uuid), key: row.id }))
  const services = (of: Made = acme) =>
    deps.db
      .all(deps.db.sql.selectFrom('services').selectAll().where('organization_id', '=', of.key).orderBy('id'))
      .map((row) => ({ ...row, id: uuidFromBytes(row.uuid), key: row.id }))
  const events = (of: Made = acme) =>
    deps.db.all(deps.db.sql.selectFrom('events').selectAll().where('organization_id', '=', of.key).orderBy('id'))
  const service = (name: string, of: Made = acme) => services(of).find((one) => one.name === name)
  const timeline = (incident: { readonly key: number }) =>
    deps.db.all(deps.db.sql.selectFrom('timeline').selectAll().where('incident_id', '=', incident.key).orderBy('id'))
  return { alerts, incidents, services, service, events, timeline }
}

/** Returns the status, resolution and end (in minutes after noon) of the only alert. */
export function fate(flow: Flow) {
  const [one, ...more] = flow.alerts()
  assert.deepEqual(more, [])
  return [one?.status, one?.resolution, one?.ends_at === null ? null : ((one?.ends_at ?? 0) - NOON) / MINUTE]
}
