/** Test payloads: each one is accepted by its webhook and has the current time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TEST_PAYLOADS } from '../../src/cli/test-payloads.ts'
import { SOURCES } from '../../src/domain/event/event.ts'
import { READERS } from '../../src/intake/index.ts'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'

for (const source of SOURCES) {
  test(`the test payload of ${source} is one item from the last minute that the webhook accepts`, () => {
    const body = JSON.parse(JSON.stringify(TEST_PAYLOADS[source](NOON)))
    const { accepted, rejected } = READERS[source](body, NOON)
    assert.deepEqual([accepted.length, rejected], [1, []])
    const [item] = accepted
    assert.ok(item && item.draft.at <= NOON && item.draft.at >= NOON - MINUTE)
  })
}

for (const [source, count] of [
  ['cluster', 1],
  ['metrics', 0],
  ['dashboard', 0],
  ['ci', 0],
] as const) {
  test(`the test payload of ${source} opens one alert and ${count} incidents, as send-test says`, async (t) => {
    const { acme, request } = makeWorld(t)
    const headers: Record<string, string> = source === 'ci' ? { 'X-Ci-Token': acme.token } : {}
    const token = source === 'ci' ? {} : { token: acme.token }
    await request('POST', `/api/webhooks/${source}`, { ...token, headers, body: TEST_PAYLOADS[source](NOON) })
    const [alerts, incidents] = await Promise.all(
      ['alerts', 'incidents'].map((list) => request('GET', `/api/${list}`, { token: acme.token })),
    )
    assert.deepEqual([alerts?.body.pagination.total, incidents?.body.pagination.total], [1, count])
  })
}
