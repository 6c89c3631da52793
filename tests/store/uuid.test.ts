/** UUIDs: text outside, bytes in the file, and nothing else is accepted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { uuidBytes, uuidFromBytes, uuidToBytes } from '../../src/store/sqlite/uuid.ts'

const NAME = '01900000-0000-7000-8000-00000000abcd'

test('a UUID becomes 16 bytes and back', () => {
  assert.equal(uuidToBytes(NAME)?.toString('hex'), '0190000000007000800000000000abcd')
  fc.assert(fc.property(fc.uuid(), (name) => assert.equal(uuidFromBytes(uuidBytes(name)), name)))
})

test('upper case gives the same UUID', () => {
  assert.deepEqual(uuidToBytes(NAME.toUpperCase()), uuidToBytes(NAME))
})

for (const [what, text] of [
  ['nothing', ''],
  ['a name without dashes', NAME.replaceAll('-', '')],
  ['a name with something before it', ` ${NAME}`],
  ['a name with something behind it', `${NAME}0`],
  ['a name whose end is cut off', NAME.slice(0, -1)],
  ['a name with a dash elsewhere', '0190000-00000-7000-8000-00000000abcd'],
  ['dashes alone', '-'.repeat(36)],
] as const) {
  test(`${what} is not a UUID`, () => assert.equal(uuidToBytes(text), null))
}

test('a UUID with one wrong character is refused', () => {
  const position = fc.integer({ min: 0, max: NAME.length - 1 })
  const other = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((one) => !/^[0-9a-f-]$/i.test(one))
  fc.assert(
    fc.property(position, other, (at, one) => {
      assert.equal(uuidToBytes(NAME.slice(0, at) + one + NAME.slice(at + 1)), null)
    }),
  )
})

test('an invalid generated UUID is a bug', () => {
  assert.throws(() => uuidBytes('cart'), TypeError)
})
