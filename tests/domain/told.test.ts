/** The timeline says who was told, and why somebody was not told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChannelState, type NotTold, type Told, toldRows, whoWasTold } from '../../src/domain/notification/told.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'

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

test('the first line of a digest, which can be about another incident, is not shown', () => {
  const title = '1 new incident (1 critical): fast2.'
  const row = 'message: message “resolved” sent to on-call'
  const of = (more: Partial<Told>) => texts([told('on-call', { kind: 'resolved', title, ...more })])
  assert.deepEqual(of({ isDigest: true }), [`${row}, in a digest`])
  assert.deepEqual(of({ isDigest: false }), [`${row}: ${title}`])
  assert.deepEqual(of({ isDigest: true, title: null }), [row])
})

test('a message that several channels got within a minute is one row, without the age that differs', () => {
  const title = (age: string) => `cart has been critical since 12:00 UTC (${age}).`
  const sent = (channel: string, seconds: number, age: string) =>
    told(channel, {
      ...{ at: NOON + seconds * 1000, title: title(age) },
      titleWithoutAge: 'cart has been critical since 12:00 UTC.',
    })
  assert.deepEqual(texts([sent('mail', 13, '11 s'), sent('night', 12, '11 s'), sent('phone', 14, '12 s')]), [
    'message: message “opened” sent to night, mail and phone: cart has been critical since 12:00 UTC.',
  ])
  const both = [sent('mail', 13, '11 s'), sent('night', 12, '11 s')]
  assert.deepEqual(texts(both), [`message: message “opened” sent to night and mail: ${title('11 s')}`])
})

test('each message to a channel has its row, also if it comes a little less than a minute after the last one', () => {
  const sent = (channel: string, seconds: number) =>
    told(channel, {
      ...{ kind: 'reminder', at: NOON + seconds * 1000, title: `cart is critical (${seconds} s).` },
      titleWithoutAge: 'cart is critical.',
    })
  const all = [0, 59.9, 119.8, 179.7].flatMap((seconds) => [sent('a', seconds), sent('b', seconds + 0.05)])
  assert.deepEqual(
    texts(all).map((text) => text.replace(/:.*: /, ' ')),
    [
      'message cart is critical.',
      'message cart is critical.',
      'message cart is critical.',
      'message cart is critical.',
    ],
  )
  assert.equal(texts([sent('a', 0), sent('a', 1)]).length, 2)
})

test('notifications that one digest tells are one row, and so is what was not sent twice for the same reason', () => {
  const inDigest = told('a', { kind: 'worse', title: '2 changes.', isDigest: true })
  assert.deepEqual(texts([inDigest, inDigest]), ['message: message “worse” sent to a, in a digest'])
  const not = (seconds: number): NotTold => ({
    kind: 'worse',
    channel: 'a',
    at: NOON + seconds * 1000,
    reason: 'silence',
  })
  assert.equal(texts([], [not(0), not(30)]).length, 1)
})

test('a digest with several kinds of news of one incident is one message', () => {
  const title = 'cart was critical again. It is well now.'
  const [recovered, again] = [told('a', { kind: 'recovered', title }), told('a', { kind: 'again', title })]
  assert.deepEqual(texts([recovered, again]), [`message: message “again” and “recovered” sent to a: ${title}`])
  assert.equal(texts([recovered, { ...again, at: NOON + 1 }]).length, 2)
  assert.equal(texts([recovered, { ...again, title: 'cart is critical.' }]).length, 2)
  assert.equal(texts([recovered, { ...again, status: 'failed' }]).length, 2)
})

test('the same message a minute later, and another text in the same second, have their own rows', () => {
  assert.equal(texts([told('a'), told('b', { at: NOON + MINUTE })]).length, 2)
  assert.equal(texts([told('a'), told('b', { title: 'cart is critical since 13:00 CET.' })]).length, 2)
  assert.equal(texts([told('a'), told('b', { kind: 'worse' })]).length, 2)
})

test('what a channel does not want has a row only if nobody was told', () => {
  const not = (channel: string, reason: NotTold['reason']): NotTold => ({ kind: 'opened', channel, at: NOON, reason })
  const own = [not('boss', 'escalation'), not('mail', 'rule')]
  assert.deepEqual(texts([told('pager')], own).length, 1)
  assert.deepEqual(texts([told('pager', { kind: 'worse' })], own).length, 3)
  assert.deepEqual(texts([told('pager')], [not('boss', 'silence')]).length, 2)
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

const state = (more: Partial<ChannelState>): ChannelState => ({
  ...{ name: 'a', enabled: true, failing: null, failingSince: null, toldAt: null, dueAt: null, failed: false },
  reason: null,
  ...more,
})

test('each channel was told, will be told, or was not told for a reason', () => {
  const channels = [
    state({ name: 'on-call', toldAt: NOON }),
    state({ name: 'late', dueAt: NOON }),
    state({ name: 'pager', dueAt: NOON, failing: '503', failingSince: NOON - MINUTE }),
    state({ name: 'shop', reason: 'rule' }),
    state({ name: 'off', enabled: false }),
    state({ name: 'mail', failed: true }),
  ]
  assert.deepEqual(whoWasTold(channels, NOON), {
    ...{ hasChannel: true, told: ['on-call'], lastAt: NOON, waiting: [{ name: 'late', dueAt: null }] },
    notTold: [
      { name: 'pager', why: 'failing', since: NOON - MINUTE },
      { name: 'shop', why: 'rule', since: null },
      { name: 'off', why: 'disabled', since: null },
      { name: 'mail', why: 'could not be sent', since: null },
    ],
  })
})

test('a channel that was added after the incident is neither told nor not told', () => {
  const { told: names, notTold, lastAt } = whoWasTold([state({})], NOON)
  assert.deepEqual([names, notTold, lastAt], [[], [], null])
})

test('a channel that was told before it began to fail counts as told', () => {
  const { told: names, notTold } = whoWasTold([state({ toldAt: NOON, dueAt: NOON, failing: '503' })], NOON)
  assert.deepEqual([names, notTold], [['a'], []])
})
