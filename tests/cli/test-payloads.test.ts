/** Test payloads: each one is accepted by its webhook and has the current time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TEST_PAYLOADS } from '../../src/cli/test-payloads.ts'
import { SOURCES } from '../../src/domain/event/event.ts'
import { READERS } from '../../src/intake/index.ts'
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
