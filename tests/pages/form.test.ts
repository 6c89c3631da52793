/** Forms: which encoded bodies are accepted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formOf } from '../../src/web/visit/form.ts'

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
