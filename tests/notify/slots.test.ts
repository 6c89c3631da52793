/** Slots: how many messages can be sent at the same time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlots } from '../../src/notify/slots.ts'

test('an organization gets no more slots than its own limit, and the others are unaffected', () => {
  const slots = createSlots({ inAll: 10, perOrganization: 2 })
  assert.deepEqual(
    [1, 1, 1, 2].map((organization) => slots.take(organization) !== null),
    [true, true, false, true],
  )
})

test('all organizations together get no more slots than the limit of the process', () => {
  const slots = createSlots({ inAll: 3, perOrganization: 2 })
  assert.deepEqual(
    [1, 2, 3, 4].map((organization) => slots.take(organization) !== null),
    [true, true, true, false],
  )
})

test('a slot can be taken again after it is freed', () => {
  const slots = createSlots({ inAll: 1, perOrganization: 1 })
  slots.take(1)?.()
  assert.notEqual(slots.take(2), null)
  assert.equal(slots.takenBy(2), 1)
})
