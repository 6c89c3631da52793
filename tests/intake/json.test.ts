/** Bodies: which bytes are valid JSON, and which are rejected before they can do harm. */

import assert from 'node:assert/strict'
import test from 'node:test'
import { IncmonError } from '../../src/domain/error.ts'
import { cleanText, LABEL_LIMIT, MAX_DEPTH, MAX_SHAPES, MAX_VALUES, parseBody } from '../../src/intake/json.ts'
import { assertQuick } from '../helpers/processor.ts'

const parse = (text: string) => parseBody(Buffer.from(text))

function refused(body: Uint8Array, message: RegExp) {
  assert.throws(
    () => parseBody(body),
    (error) => error instanceof IncmonError && error.code === 'invalid' && message.test(error.message),
  )
}

test('A body can be any JSON value', () => {
  assert.deepEqual(parse(' {"a":[1,null,"ü"]} '), { a: [1, null, 'ü'] })
})

test('A byte order mark before the JSON is allowed', () => {
  assert.deepEqual(parse('\ufeff[1]'), [1])
})

test('Brackets and quotes inside strings are not nesting', () => {
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

test(`${MAX_DEPTH} levels are the maximum depth`, () => {
  assert.ok(parse('['.repeat(MAX_DEPTH) + ']'.repeat(MAX_DEPTH)))
  refused(Buffer.from('['.repeat(MAX_DEPTH + 1) + ']'.repeat(MAX_DEPTH + 1)), /nested more than 64 levels/)
})

test('An empty body is refused', () => {
  refused(Buffer.alloc(0), /^body: empty/)
})

test('A body of whitespace is refused', () => {
  refused(Buffer.from(' \n'), /^body: not JSON/)
})

for (const [text, where] of [
  ['{"alerts":[],}', 'Expected double-quoted property name in JSON at position 13 (line 1 column 14)'],
  ['{"a": 1\n "b": 2}', "Expected ',' or '}' after property value in JSON at position 9 (line 2 column 2)"],
  ['{} {}', 'Unexpected non-whitespace character after JSON at position 3 (line 1 column 4)'],
  ['token=incmon_secret', "Unexpected token 'o'"],
  ['{"password": hunter2}', "Unexpected token 'h'"],
  ['{', "Expected property name or '}' in JSON at position 1 (line 1 column 2)"],
] as const) {
  test(`The error about ${text} says where it is and quotes nothing else`, () => {
    const wanted = `body: not JSON (${where}); send one JSON document in UTF-8, not a form or text`
    assert.throws(() => parse(text), { message: wanted })
  })
}

test('A control character in the place of a value is not in the message', () => {
  refused(Buffer.from('{"a": \0}'), /^body: not JSON; send/)
})

test('Invalid UTF-8 is refused', () => {
  refused(Buffer.from([0x22, 0xff, 0x22]), /^body: not valid UTF-8/)
})

test('Too many values are refused before they are parsed', () => {
  refused(Buffer.from(`[${'{},'.repeat(MAX_VALUES)}{}]`), /more than 500000 values/)
})

/** Returns a list of objects with `each` fields, `total` in all. */
function objectsOf(total: number, each: number, nameOf: (index: number, object: number) => string): Buffer {
  const objects = Array.from({ length: total / each }, (_, object) =>
    Array.from({ length: each }, (_, index) => `"${nameOf(object * each + index, object)}":1`).join(','),
  )
  return Buffer.from(`[${objects.map((one) => `{${one}}`).join(',')}]`)
}

for (const [what, body] of [
  ['in the body itself', objectsOf(490_000, 490_000, (index) => `k${index}`).subarray(1, -1)],
  ['in many objects', objectsOf(400_000, 100, (index) => `k${index}`)],
  [
    'in the same names in a different order',
    objectsOf(400_000, 20, (index, object) => `k${index % 20}${Math.floor(object / 2 ** (index % 20)) % 2}`),
  ],
  [
    'below each other',
    Buffer.from(`[${Array.from({ length: 20_000 }, (_, i) => `{"a":{"b${i}":[{"c":"}"}]}}`).join(',')}]`),
  ],
] as const) {
  test(`Too many different fields ${what} are refused before they are parsed`, () => {
    assertQuick(250, () => refused(body, /^body: more than 10000 different fields; send it in smaller parts$/))
  })
}

test('Of an object with very many fields, so many are parsed that a reader rejects only its item', () => {
  const large = objectsOf(20_000, 20_000, (index) => `k\\",{${index}`).subarray(1, -1)
  const [first, labels = {}, last] = parse(`[{"a":[1,{"b":{}}]},${large},{"c":2}]`) as object[]
  assert.deepEqual([first, Object.keys(labels).length, last], [{ a: [1, { b: {} }] }, LABEL_LIMIT + 1, { c: 2 }])
  refused(Buffer.from(`[${large},}`), /^body: not JSON; send/)
})

test('The same fields in very many objects are allowed', () => {
  const body = objectsOf(400_000, 20, (index, object) => `${'n'.repeat(object % 50)}${index % 20}`)
  assert.equal((parseBody(body) as unknown[]).length, 20_000)
})

test(`${MAX_SHAPES} different fields are allowed, however often they repeat`, () => {
  const text = `{${Array.from({ length: MAX_SHAPES }, (_, index) => `"k\\"${index}":{}`).join(',')}}`
  assert.deepEqual(parse(`[${text},${text}]`), JSON.parse(`[${text},${text}]`))
})

test('Ten mebibytes of brackets are refused within a quarter of a second', () => {
  const body = Buffer.alloc(10 * 1024 * 1024, '[')
  assertQuick(250, () => refused(body, /nested/))
})

const LONG_NUMBERS = [`1.${'7'.repeat(25)}e-300`, '123456789012345678901', '12345678.901234567890123']

for (const number of LONG_NUMBERS) {
  test(`A thousand numbers such as ${number.slice(0, 30)} are allowed, and more are refused before they are parsed`, () => {
    const body = (count: number) => Buffer.from(`[${Array(count).fill(number).join(', ')}]`)
    assert.deepEqual(parseBody(body(1_000)), Array(1_000).fill(Number(number)))
    refused(body(1_001), /more than 1000 numbers with more than 19 digits; send them as strings/)
  })
}

test('Numbers of up to 19 digits after zeros, and digits in strings, do not count as long', () => {
  const numbers = ['-1234567890.123456789e-10', '0.0012345678901234567', `0.${'0'.repeat(300)}1`]
  const all = Array(1_001)
    .fill([...numbers, '"12345678901234567890123"'])
    .join(',')
  assert.equal((parseBody(Buffer.from(`[${all}]`)) as unknown[]).length, 4_004)
})

test('Brackets and commas in strings do not count', () => {
  const text = JSON.stringify({ a: `${'['.repeat(100)}\\"${'{'.repeat(100)}`, b: ','.repeat(MAX_VALUES + 1) })
  assert.deepEqual(parse(text), JSON.parse(text))
})

test('An error does not repeat the body', () => {
  refused(Buffer.from('password=hunter2'), /^(?!.*hunter2)/)
})

test('NUL and lone surrogates become U+FFFD, and all other text is unchanged', () => {
  assert.equal(cleanText('a\0b\ud800c\udc00'), 'a\ufffdb\ufffdc\ufffd')
  for (const text of ['\u{1f600}', 'e\u0301', '\u2028\u202e', '\x1b[31m', '\ufeff']) assert.equal(cleanText(text), text)
})
