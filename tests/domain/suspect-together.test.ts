/** Services with the same problem at the same time weaken a suspect. Problems at other times do not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rankSuspects, type SuspectAlert, type SuspectFacts } from '../../src/domain/suspect/suspect.ts'
import { alert, at, deploy, event, facts } from './suspect-facts.ts'

const own = alert('web', 'HighErrorRate', 0, { severity: 'critical' })
const ended = (service: string, from: number, to: number): SuspectAlert =>
  alert(service, own.name, from, { endsAt: at(to), lastSeenAt: at(to), resolution: 'reported' })
const failed = deploy('web', -2, 'failed')
const suspectsOf = (alerts: SuspectFacts['alerts'], more: Partial<SuspectFacts> = {}) =>
  rankSuspects(facts({ alerts: [own, ...alerts], changes: [failed], ...more }))
const textsOf = (given: ReturnType<typeof suspectsOf>) =>
  given.flatMap(({ serviceId, kind, reasons }) =>
    serviceId === 'web' && kind === 'object' ? reasons.map(({ text }) => text) : [],
  )
const SHARED = /(\d) services have the same problem (at the same time|within 10 min)/
const sharedBy = (given: ReturnType<typeof suspectsOf>) => SHARED.exec(textsOf(given).join())?.slice(1).join(' ') ?? ''

for (const [title, alerts, said] of [
  ['an alert that ended before', [ended('cart', -7, -6.9)], ''],
  ['an alert that began before and goes on', [alert('cart', own.name, -6)], '2 at the same time'],
  [
    'an alert that goes on and is not repeated',
    [alert('cart', own.name, -6, { lastSeenAt: at(-6) })],
    '2 at the same time',
  ],
  ['one of two that ended before', [ended('cart', -7, -6.9), alert('pay', own.name, -5)], '2 at the same time'],
  ['an alert that began during it and ended', [ended('cart', 1, 2)], '2 at the same time'],
] as const) {
  test(`services with the same problem: ${title}`, () => assert.equal(sharedBy(suspectsOf(alerts)), said))
}

test('an alert that began after the end of another one is at another time', () => {
  const given = facts({ alerts: [ended('web', 0, 1), alert('cart', own.name, 3)] })
  assert.equal(sharedBy(rankSuspects(given)), '')
})

test('events show a condition only at moments, so those within ten minutes count, and are called so', () => {
  const crashes = (minutes: number) => ['web', 'cart'].map((one, index) => event(one, 'BackOff', index * minutes))
  const shared = (minutes: number) => sharedBy(rankSuspects(facts({ events: crashes(minutes) })))
  assert.deepEqual([0, 5, 30].map(shared), ['2 at the same time', '2 within 10 min', ''])
})

test('a short alert of another service long before does not weaken the failed deploy of the own service', () => {
  const scoreOf = (given: ReturnType<typeof suspectsOf>) => given.find(({ ref }) => ref === failed.ref)?.score
  const alone = scoreOf(suspectsOf([]))
  assert.equal(scoreOf(suspectsOf([ended('cart', -7, -6.9), ended('pay', -8, -7)])), alone)
  assert.ok((scoreOf(suspectsOf([alert('cart', own.name, -1)])) ?? 1) < (alone ?? 0))
})

test('a possible change of the own service ranks above all that only time connects', () => {
  const down = alert('search', 'TargetDown', -6, { severity: 'critical' })
  const others = ['cart', 'pay'].map((one) => alert(one, own.name, -5))
  const ranked = suspectsOf([down, ...others])
  assert.equal(ranked[0]?.ref, failed.ref)
  assert.ok(ranked.some(({ ref, reasons }) => ref === 'shop/search' && reasons[0]?.code === 'only_time'))
})
