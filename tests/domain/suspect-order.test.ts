/** The order of suspects whose scores look equal. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rankSuspects, type SuspectFacts } from '../../src/domain/suspect/suspect.ts'
import { alert, deploy, facts } from './suspect-facts.ts'

const ranked = (given: Partial<SuspectFacts>) => rankSuspects(facts({ of: 'web', ...given }))
const down = alert('web', 'HighErrorRate', 0, { severity: 'critical' })
const changed = (given: Partial<SuspectFacts>) =>
  ranked(given).flatMap(({ kind, ref }) => (kind === 'pipeline' ? [ref] : []))

for (const [title, changes] of [
  ['ten seconds apart, the later one after the best moment', [deploy('cart', -1.6), deploy('pay', -1.383)]],
  ['in the other order of the facts', [deploy('pay', -1.383), deploy('cart', -1.6)]],
  ['with a third one long before', [deploy('search', -9), deploy('pay', -1.383), deploy('cart', -1.6)]],
] as const)
  test(`of two deploys with one displayed score, the later is first: ${title}`, () => {
    assert.deepEqual(changed({ alerts: [down], changes }).slice(0, 2), ['shop/pay#1', 'shop/cart#1'])
  })

test('a deploy with a higher displayed score stays first, however early it came', () => {
  const changes = [deploy('pay', -1.5), deploy('cart', -0.1)]
  assert.deepEqual(changed({ alerts: [down], changes }), ['shop/pay#1', 'shop/cart#1'])
})

test('a suspect connected only by timing has a lower displayed score than a possible one with another connection', () => {
  const accusing = alert('web', 'UpstreamErrors', 0, { labels: { upstream: 'pay' } })
  const others = [alert('cart', 'CartDown', 0), alert('search', 'SearchDown', 0, { severity: 'critical' })]
  const scores = new Map(ranked({ alerts: [accusing, ...others] }).map(({ ref, score }) => [ref, score]))
  for (const by of ['shop/cart', 'shop/search']) assert.ok((scores.get(by) ?? 1) < (scores.get('shop/pay') ?? 0), by)
})
