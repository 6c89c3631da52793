/** Idempotency keys: which request was already received with a key. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useOf, withAnswer, withoutAnswer } from '../../src/domain/request/idempotency.ts'

const HOUR = 3_600_000
const stored = withAnswer(null, 'body A', 1, 0)

test('an unknown key is new', () => {
  assert.deepEqual(useOf(null, 'body A', 0), { kind: 'new' })
})

test('the same body with the same key is a repeat and gets its response', () => {
  assert.deepEqual(useOf(stored, 'body A', HOUR), { kind: 'repeated', answer: 1 })
})

test('another body with the same key is marked as reused', () => {
  assert.deepEqual(useOf(stored, 'body B', HOUR), { kind: 'reused' })
})

test('both bodies then have their own responses', () => {
  const both = withAnswer(stored, 'body B', 2, HOUR)
  assert.deepEqual(useOf(both, 'body A', HOUR), { kind: 'repeated', answer: 1 })
  assert.deepEqual(useOf(both, 'body B', HOUR), { kind: 'repeated', answer: 2 })
})

test('a response expires after 24 hours, even if the key was used again with another body', () => {
  const both = withAnswer(stored, 'body B', 2, 20 * HOUR)
  assert.deepEqual(useOf(both, 'body A', 24 * HOUR), { kind: 'reused' })
  assert.deepEqual(useOf(both, 'body A', 44 * HOUR), { kind: 'new' })
})

test('a request without a response is unfinished', () => {
  assert.deepEqual(useOf(withAnswer(null, 'body A', null, 0), 'body A', HOUR), { kind: 'unfinished' })
})

test('a failed request leaves nothing except the responses of other bodies', () => {
  assert.equal(withoutAnswer(stored, 'body A', HOUR), null)
  assert.deepEqual(useOf(withoutAnswer(stored, 'body B', HOUR), 'body A', HOUR), { kind: 'repeated', answer: 1 })
})

test('a heavily used key keeps only the newest responses', () => {
  let text: string | null = null
  for (let body = 0; body < 100; body += 1) text = withAnswer(text, `body ${body}`, body, body)
  assert.ok((text ?? '').length < 1_000)
  assert.deepEqual(useOf(text, 'body 99', HOUR), { kind: 'repeated', answer: 99 })
})
