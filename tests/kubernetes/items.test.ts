/** Splitting the text of a list into its items. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSplitter } from '../../src/kubernetes/items.ts'

/** Splits the text in parts of a length. */
function split(text: string, length: number) {
  const splitter = createSplitter()
  const items: string[] = []
  for (let at = 0; at < text.length; at += length) items.push(...splitter.take(text.slice(at, at + length)))
  return { items: items.map((item) => JSON.parse(item)), rest: JSON.parse(splitter.rest()), kept: splitter.kept() }
}

const ITEMS = [
  { metadata: { uid: 'a', labels: { 'a"}]': '\\' } }, list: [[{ a: [] }], {}] },
  { metadata: { uid: 'ä😀' }, text: '{"items":[{' },
  { metadata: {} },
]

test('the items and the rest are the same however the text is cut', () => {
  const whole = JSON.stringify({ kind: 'PodList', metadata: { continue: 'n"x', list: [{ a: 1 }] }, items: ITEMS })
  for (let length = 1; length <= whole.length; length += 1) {
    const { items, rest } = split(whole, length)
    assert.deepEqual(items, ITEMS)
    assert.deepEqual(rest, {
      kind: 'PodList',
      metadata: { continue: 'n"x', list: [{ a: 1 }] },
      items: [null, null, null],
    })
  }
})

test('the order of the fields and white space do not matter', () => {
  const text = JSON.stringify({ items: ITEMS, metadata: { resourceVersion: '7' } }, null, 2)
  const { items, rest } = split(text, 10)
  assert.deepEqual([items, rest.metadata.resourceVersion], [ITEMS, '7'])
})

test('an empty list, a list of null and an error have no items', () => {
  for (const object of [
    { items: [] },
    { items: null },
    { kind: 'Status', details: { causes: [{ a: 1 }] } },
    [{}],
    'a',
  ]) {
    const { items, rest } = split(JSON.stringify(object), 3)
    assert.deepEqual([items, rest], [[], object])
  }
})

test('items that were returned are not kept', () => {
  const item = `{"a":"${'b'.repeat(1000)}"}`
  const { items, kept } = split(`{"items":[${Array(100).fill(item).join(',')}]}`, 64)
  assert.equal(items.length, 100)
  assert.ok(kept < 1_000, String(kept))
})

test('an item that never ends is kept and counted', () => {
  const splitter = createSplitter()
  splitter.take('{"items":[{"a":"')
  for (let index = 0; index < 100; index += 1) splitter.take('b'.repeat(1_000))
  assert.ok(splitter.kept() >= 100_000)
})
