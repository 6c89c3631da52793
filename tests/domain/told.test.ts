/** The timeline says who was told, and why somebody was not told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type NotTold, type Told, toldRows } from '../../src/domain/notification/told.ts'
import { NOON } from '../helpers/factory.ts'

function told(channel: string, more: Partial<Told> = {}): Told {
  return {
    kind: 'opened',
    channel,
    status: 'delivered',
    at: NOON,
    dueAt: NOON,
    detail: null,
    title: 'cart is critical.',
    ...more,
  }
}

function texts(all: readonly Told[], not: readonly NotTold[] = []) {
  return toldRows([], 'i', all, not).map(({ kind, text }) => `${kind}: ${text}`)
}

test('a message to several channels is one row with its first line', () => {
  assert.deepEqual(texts([told('#on-call'), told('pager')]), [
    'message: message “opened” sent to #on-call and pager: cart is critical.',
  ])
})

test('a message that failed or waits says why', () => {
  const broken = { detail: 'the receiver responded with 500', title: null }
  assert.deepEqual(texts([told('a', { status: 'failed', ...broken }), told('b', { status: 'pending', ...broken })]), [
    'message: message “opened” could not be sent to a: the receiver responded with 500',
    'message: message “opened” waits for b: the receiver responded with 500, next attempt at 2026-03-14 12:00:00 UTC',
  ])
})

test('a message that was not sent names the reason', () => {
  const not = (reason: NotTold['reason']): NotTold => ({ kind: 'reminder', channel: 'a', at: NOON, reason })
  assert.deepEqual(texts([], [not('silence'), not('rule')]), [
    'not-told: message “reminder” not sent to a: a silence covers all alerts of the problem',
    'not-told: message “reminder” not sent to a: no rule of the channel matches',
  ])
})

test('an incident of which nobody had to be told has no such row', () => {
  assert.deepEqual(texts([]), [])
})
