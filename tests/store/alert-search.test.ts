/**
 * Alerts by status, severity and source: counting without scanning the whole history gives the same result as scanning
 * it.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findAlertGroups, findServiceGroups } from '../../src/store/history/alert-groups.ts'
import { type AlertFilter, listMatchingAlerts } from '../../src/store/history/alert-search.ts'
import type { Db } from '../../src/store/sqlite/open.ts'
import { DAY, type Made, MINUTE, makeAlert, makeOrganization, makeService, NOON } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

/** Equal times, and times on both sides of the five-minute and one-day boundaries of counts. */
const at = fc.constantFrom(...[-DAY, -1, 0, 1, 5 * MINUTE, 12 * 60 * MINUTE, 2 * DAY].map((ms) => NOON + ms))
const severity = fc.constantFrom('critical', 'warning')
const source = fc.constantFrom('metrics', 'ci')
const alert = fc.record({ service: fc.nat(2), at, fires: fc.boolean(), severity, source })
const bound = fc.option(at, { nil: undefined })
const asked = fc.record({
  service: fc.option(fc.nat(2), { nil: undefined }),
  severity: fc.option(severity, { nil: undefined }),
  source: fc.option(source, { nil: undefined }),
  bounds: fc.tuple(bound, bound).filter(([from, to]) => from === undefined || to === undefined || from <= to),
  page: fc.integer({ min: 1, max: 4 }),
  limit: fc.integer({ min: 1, max: 4 }),
})

/** Creates two services for Acme, and one for the outsider Charlie. */
function makeCast(db: Db) {
  const acme = makeOrganization(db, 'Acme', 'Team')
  const charlie = makeOrganization(db, 'Charlie', 'Pro')
  const owners = [acme, acme, charlie]
  return { acme, owners, services: owners.map((owner, index) => makeService(db, owner, `svc-${index}`)) }
}

type Drawn = { service: number; at: number; fires: boolean; severity: 'critical' | 'warning'; source: 'metrics' | 'ci' }
type Kept = Made & Drawn

/** Replaces all existing alerts. */
function put(db: Db, cast: ReturnType<typeof makeCast>, alerts: readonly Drawn[]): Kept[] {
  return db.transaction(() => {
    db.run(db.sql.deleteFrom('alerts'))
    return alerts.map((one) => {
      const over = { status: 'resolved', resolution: 'reported', ends_at: one.at } as const
      const { severity, source } = one
      const more = { severity, source, starts_at: one.at, ...(one.fires ? {} : over) }
      const made = makeAlert(db, cast.owners[one.service] as Made, cast.services[one.service] as Made, more)
      return { ...one, ...made }
    })
  })
}

for (const [what, status, list] of [
  ['resolved', 'resolved', listMatchingAlerts],
  ['one or the other', undefined, listMatchingAlerts],
] as const) {
  test(`every page of what is ${what}, with a severity and a source, equals that of a plain filter`, (t) => {
    const db = temporaryStore(t)
    db.pragma('synchronous = OFF')
    const cast = makeCast(db)
    fc.assert(
      fc.property(fc.array(alert, { maxLength: 15 }), asked, (alerts, { service, bounds: [from, to], ...wanted }) => {
        const { severity, source, page, limit } = wanted
        const left = put(db, cast, alerts)
          .filter((one) => one.service < 2 && (status === undefined || !one.fires))
          .filter((one) => service === undefined || one.service === service)
          .filter((one) => (severity ?? one.severity) === one.severity && (source ?? one.source) === one.source)
          .filter((one) => (from ?? 0) <= one.at && one.at < (to ?? Number.POSITIVE_INFINITY))
          .sort((a, b) => b.at - a.at || b.key - a.key)
        const serviceId = service === undefined ? undefined : cast.services[service]?.id
        const filter: AlertFilter = { status, severity, source, serviceId, from, to }
        const { items, total } = list(db, cast.acme.key, filter, { page, limit })
        const ids = left.slice((page - 1) * limit, page * limit).map(({ id }) => id)
        assert.deepEqual({ ids: items.map(({ id }) => id), total }, { ids, total: left.length })
      }),
    )
  })
}

test('pages read only short labels and annotations of a long alert, and the API all', (t) => {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  const service = makeService(db, acme, 'wordy')
  const many = Array.from({ length: 20 }, (_, index) => [`l${index}`, 'ä'.repeat(100)])
  const texts = JSON.stringify({ log: 'x'.repeat(60_000), pod: '"a"', ...Object.fromEntries(many) })
  const ordinary = JSON.stringify({ log: 'x'.repeat(3_900) })
  for (const labels of [texts, ordinary]) makeAlert(db, acme, service, { labels, annotations: labels })
  const read = (page: object) => {
    const { items } = listMatchingAlerts(db, acme.key, { severity: 'warning' }, { page: 1, limit: 9, ...page })
    return items.map(({ labels, annotations }) => [labels, annotations].map((of) => Object.entries(of)))
  }
  const [short, whole] = [read({}), read({ most: 1_000_000 })]
  assert.deepEqual(short[0], whole[0])
  assert.deepEqual(short[1], [
    [['pod', '"a"'], ...many.slice(0, 15)],
    [['pod', '"a"'], ...many.slice(0, 15)],
  ])
  assert.deepEqual(whole[1], [Object.entries(JSON.parse(texts)), Object.entries(JSON.parse(texts))])
  const { firing, groups } = findServiceGroups(db, acme.key, service.id, 0)
  const { groups: found } = findAlertGroups(db, acme.key, {}, { page: 1, limit: 9 })
  for (const [group] of [firing, groups, found]) {
    assert.deepEqual(group?.members.map(({ labels }) => Object.keys(labels).length).sort(), [1, 16])
  }
})
