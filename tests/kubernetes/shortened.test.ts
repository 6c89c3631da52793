/** Large objects are shortened before they are parsed: what remains is valid, and is their beginning. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUDGETS } from '../../src/domain/budgets.ts'
import { readSeen } from '../../src/domain/kubernetes/parse.ts'
import { parsed } from '../../src/kubernetes/client.ts'
import { shortened } from '../../src/kubernetes/items.ts'

const TEXT = BUDGETS['object-text'].value
const ITEMS = BUDGETS['object-items'].value
const again = (value: unknown) => JSON.parse(shortened(JSON.stringify(value)))

test('what is within the limits stays the same text', () => {
  const text = JSON.stringify({ a: ['x'.repeat(TEXT)], b: Array(ITEMS).fill({ c: '],"[{\\' }), d: {}, e: [] }, null, 1)
  assert.equal(shortened(text), text)
})

test('lists, objects and texts lose their end, wherever they are', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({ name: `c${index}`, more: [[index]] }))
  const first = many.slice(0, ITEMS)
  assert.deepEqual(again({ a: many, b: [many, 1], c: 'x' }), { a: first, b: [first, 1], c: 'x' })
  const fields = Object.fromEntries(many.map(({ name, more }) => [name, more]))
  assert.deepEqual(again([fields, 'y']), [Object.fromEntries(Object.entries(fields).slice(0, 1_000)), 'y'])
  const long = 'x'.repeat(60_000)
  assert.deepEqual(again([long, { a: long, b: [1] }]), [long.slice(0, TEXT), { a: long.slice(0, TEXT), b: [1] }])
})

for (const text of ['\\', '"', '\\"', '\u0001', '\n', 'é', '\u2028', 'a\\', 'ab\u0001', '\\\u0001', ']},{["'])
  test(`a text of ${JSON.stringify(text)} is cut between two characters`, () => {
    for (let more = 0; more < 8; more += 1) {
      const whole = 'x'.repeat(more) + text.repeat(TEXT)
      const [cut, after] = again([whole, 'after'])
      assert.equal(after, 'after')
      assert.ok(cut.length > TEXT / 6 - 1 && cut.length <= TEXT && whole.startsWith(cut), `${cut.length} characters`)
    }
  })

test('an object of megabytes is read with its name and the beginning of its lists, and this is reported', () => {
  const container = {
    name: 'c',
    image: 'i',
    state: { waiting: { reason: 'CrashLoopBackOff', message: 'm'.repeat(60) } },
  }
  const long = 'y'.repeat(60_000)
  const status = { message: long, reason: long, containerStatuses: Array(10_000).fill(container) }
  const object = { metadata: { uid: 'u', name: 'n', namespace: 's' }, status }
  const fault = 'sent no JSON'
  let cuts = 0
  const read = (value: object) => parsed(JSON.stringify(value), fault, () => (cuts += 1))
  const seen = readSeen('Pod', read(object), 0)
  assert.ok(seen?.kind === 'Pod')
  assert.deepEqual(
    [seen.uid, seen.name, seen.facts.containers.length, seen.facts.message.length],
    ['u', 'n', ITEMS, TEXT],
  )
  read({ ...object, status: { message: 'short' }, spec: { texts: Array(ITEMS).fill('z'.repeat(1_000)) } })
  assert.equal(cuts, 1)
})
