/** The documentation, the Alertmanager example and the code agree on the limits for inferred ends. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { EXPIRES } from '../../src/domain/alert/ending.ts'
import {
  DEFAULT_REPEAT_TIMEOUT,
  MIN_REPEAT_TIMEOUT,
  MISSED_REPEATS,
} from '../../src/domain/sender/delivery-interval.ts'

const MINUTE = 60_000
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').replace(/\n#? ?/g, ' ')

test('docs/alertmanager.md contains the same numbers as the code', () => {
  const text = read('docs/alertmanager.md')
  const minutes = MIN_REPEAT_TIMEOUT / MINUTE
  assert.ok(
    text.includes(`ends after ${MISSED_REPEATS} missed deliveries, but never before ${minutes} minutes have passed`),
  )
  assert.equal(DEFAULT_REPEAT_TIMEOUT, 270 * MINUTE)
  assert.ok(text.includes('Until incmon knows the interval, an alert ends after 4 hours 30 minutes without a delivery'))
  assert.equal(EXPIRES, 24 * 60 * MINUTE)
  assert.ok(text.includes('the alert expires after 24 hours'))
})

test('the Alertmanager example reports ends, continues, and explains the effect of send_resolved: false', () => {
  const text = read('examples/alertmanager.yml')
  assert.match(text, /send_resolved: true\s+http_config/)
  assert.match(text, /receiver: incmon\s+continue: true/)
  const cost = `after ${MISSED_REPEATS} missed deliveries, but never before ${MIN_REPEAT_TIMEOUT / MINUTE} minutes have passed`
  assert.ok(text.includes(cost), cost)
})
