/** Bodies: which bytes are a JSON document, and which are refused before they can hurt. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { IncmonError } from '../../src/domain/error.ts'
import { cleanText, MAX_DEPTH, MAX_VALUES, parseBody } from '../../src/intake/json.ts'
import { busyFor } from '../helpers/processor.ts'

const parse = (text: string) => parseBody(Buffer.from(text))

function refused(body: Uint8Array, message: RegExp) {
  assert.throws(
    () => parseBody(body),
    (error) => error instanceof IncmonError && error.code === 'invalid' && message.test(error.message),
  )
}

test('A body may be any JSON value', () => {
  assert.deepEqual(parse(' {"a":[1,null,"ü"]} '), { a: [1, null, 'ü'] })
})

test('A byte order mark before the JSON is allowed', () => {
  assert.deepEqual(parse('\ufeff[1]'), [1])
})

test('Brackets and quotes inside strings do not count as nesting', () => {
  assert.deepEqual(parse(JSON.stringify(['['.repeat(100), '\\"[{'.repeat(100)])), [
    '['.repeat(100),
    '\\"[{'.repeat(100),
  ])
})

test('A key named __proto__ is an ordinary key', () => {
  assert.deepEqual(Object.keys(parse('{"__proto__":{"x":1}}') as object), ['__proto__'])
  assert.equal(Object.hasOwn(Object.prototype, 'x'), false)
})

test('A number outside the range becomes infinite', () => {
  assert.equal(parse('1e400'), Number.POSITIVE_INFINITY)
})

test(`${MAX_DEPTH} levels are the deepest`, () => {
  assert.ok(parse('['.repeat(MAX_DEPTH) + ']'.repeat(MAX_DEPTH)))
  refused(Buffer.from('['.repeat(MAX_DEPTH + 1) + ']'.repeat(MAX_DEPTH + 1)), /nested more than 64 levels/)
})

test('An empty body is refused', () => {
  refused(Buffer.alloc(0), /^body: empty/)
})

test('A body of white space is refused', () => {
  refused(Buffer.from(' \n'), /^body: not JSON/)
})

test('Invalid UTF-8 is refused', () => {
  refused(Buffer.from([0x22, 0xff, 0x22]), /^body: not valid UTF-8/)
})

test('Too many values are refused before they are parsed', () => {
  refused(Buffer.from(`[${'{},'.repeat(MAX_VALUES)}{}]`), /more than 500000 values/)
})

test('Ten mebibytes of brackets are refused in a quarter of a second', () => {
  const body = Buffer.alloc(10 * 1024 * 1024, '[')
  const ms = busyFor(() => refused(body, /nested/))
  assert.ok(ms < 250, `${ms} ms`)
})

test('An error does not repeat the body', () => {
  refused(Buffer.from('password=hunter2'), /^(?!.*hunter2)/)
})

test('NUL and lone surrogates become U+FFFD, all other text stays', () => {
  assert.equal(cleanText('a\0b\ud800c\udc00'), 'a\ufffdb\ufffdc\ufffd')
  for (const text of ['\u{1f600}', 'e\u0301', '\u2028\u202e', '\x1b[31m', '\ufeff']) assert.equal(cleanText(text), text)
})
