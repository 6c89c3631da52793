/** Forms: which encoded bodies are accepted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { array, constantFrom, assert as holds, property } from 'fast-check'
import { formOf } from '../../src/web/visit/form.ts'
import { assertQuick } from '../helpers/processor.ts'

test('a form returns the first value of a field, and all of them', () => {
  const form = formOf('name=A+b&name=C&csrf=x')
  assert.deepEqual(
    [form.text('name'), form.texts('name'), form.csrf, form.text('other')],
    ['A b', ['A b', 'C'], 'x', ''],
  )
})

test('the CSRF token is not a field', () => {
  assert.deepEqual(formOf('csrf=x&name=a').fields, [['name', 'a']])
})

test('1,000 fields are accepted', () => assert.equal(formOf('a=1&'.repeat(1_000)).fields.length, 1_000))

test('1,001 fields are refused, because an error page would repeat all of them', () => {
  assert.throws(() => formOf('a=1&'.repeat(1_001)), /more than 1000 fields. Reload the page/)
})

test('a form is decoded like by URLSearchParams', () => {
  const piece = constantFrom('a', '=', '&', '+', '%', '%4', '%41', '%e2%82%ac', '%zz', '%0a')
  holds(
    property(array(piece, { maxLength: 30 }), (pieces) => {
      const body = pieces.join('')
      assert.deepEqual(formOf(body).fields, [...new URLSearchParams(body)])
    }),
  )
})

for (const [what, body] of [
  ['empty fields', '&'],
  ['fields', 'a&'],
  ['plus signs', '+'],
  ['percent signs', '%'],
  ['escapes', '%41'],
  ['equals signs', '='],
] as const) {
  test(`a megabyte of ${what} is decoded or refused in time`, () => {
    const large = body.repeat(1_048_576 / body.length)
    assertQuick(1_000, () => {
      try {
        formOf(large)
      } catch {}
    })
  })
}
