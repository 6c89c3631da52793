/** Untrusted text on a terminal. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { forTerminal, visible } from '../../src/domain/terminal.ts'

test('one line of untrusted text has no invisible character and no line break', () => {
  assert.equal(visible('a\u001b[31m\u0007\u202e\u2028\rb'), 'a�[31m����b')
  assert.equal(
    visible('moved the log\r\n- freed 40 GB\n\tnext: a larger volume'),
    'moved the log - freed 40 GB  next: a larger volume',
  )
  assert.equal(visible(''), '-')
})

test('text for a terminal keeps its lines and escapes everything else that is invisible', () => {
  assert.equal(forTerminal('a\nb\u001b[0m\u202e\u0085'), 'a\nb\\u001b[0m\\u202e\\u0085')
})

test('letters of every script, combining marks and emoji are kept', () => {
  for (const text of ['naïve', '日本語', 'e\u0301', '🔥', 'שלום']) assert.equal(forTerminal(text), text)
})

test('JSON has the same meaning after escaping', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.equal(JSON.parse(forTerminal(JSON.stringify(text))), text)
    }),
  )
})
