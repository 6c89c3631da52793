/** Merging incidents: what happens to the remaining one, and when a merge is rejected. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Mergeable, mergeOf, refuseMerge } from '../../src/domain/incident/merge.ts'
import { declaredOf } from '../../src/domain/text.ts'

const SERVICE = { cause: 'service' } as const
const SLOW: Mergeable = { id: 'a', title: 'Slow', status: 'open', startedAt: 2, ...SERVICE }
const DOWN: Mergeable = { id: 'b', title: 'Down', status: 'monitoring', startedAt: 3, ...SERVICE }

for (const [condition, service] of [
  ['“Customers pay twice” of cart', 'cart'],
  ['““No payments” of pay” of shop/cart', 'shop/cart'],
  ['“Customers pay twice”', null],
  ['Down of cart', null],
] as const) {
  test(`${condition} was declared ${service === null ? 'for no other service' : `for ${service}`}`, () => {
    assert.equal(declaredOf(condition), service)
  })
}

for (const [from, into, startedAt] of [
  [SLOW, DOWN, 2],
  [DOWN, SLOW, 2],
  [{ ...DOWN, startedAt: 1 }, SLOW, 1],
] as const) {
  test(`${from.title} merged into ${into.title} started at ${startedAt}`, () => {
    const merged = mergeOf(from, into)
    assert.equal(merged.startedAt, startedAt)
    assert.equal(merged.why, `merged into “${into.title}”`)
    assert.equal(merged.took, `merged into this incident: “${from.title}”`)
  })
}

for (const [what, from, into, refusal] of [
  ['two open incidents', SLOW, DOWN, null],
  ['a resolved incident into an open one', { ...SLOW, status: 'resolved' }, DOWN, null],
  ['an incident into itself', SLOW, SLOW, /cannot be merged into itself: choose two different incidents/],
  ['an open incident into a resolved one', SLOW, { ...DOWN, status: 'resolved' }, /b is resolved: reopen it first/],
  ['an incident about a silent sender', { ...SLOW, cause: 'silence' }, DOWN, /a is about a silent sender: it is resol/],
  ['an incident into one about a silent sender', SLOW, { ...DOWN, cause: 'silence' }, /b is about a silent sender/],
  ['a resolved incident about a silent sender', { ...SLOW, cause: 'silence', status: 'resolved' }, DOWN, null],
] as const) {
  test(`${refusal ? 'refuses to merge' : 'merges'} ${what}`, () => {
    const found = refuseMerge(from, into)
    if (refusal) assert.match(found ?? '', refusal)
    else assert.equal(found, null)
  })
}
