/** Names: which of several records with the same name is found does not depend on the order of changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createJournal, createNames } from '../../src/engine/state/journal.ts'

function makeNames() {
  const journal = createJournal()
  return { journal, names: createNames(journal, (one, other) => one > other) }
}

test('finds the newest record, in any order of naming', () => {
  for (const order of [
    [1, 2, 3],
    [3, 1, 2],
    [2, 3, 1],
  ]) {
    const { names } = makeNames()
    for (const rowId of order) names.add('metrics', 'a', rowId)
    assert.equal(names.get('metrics', 'a'), 3)
  }
})

test('finds the next newest once the newest is gone, and none after the last', () => {
  const { names } = makeNames()
  for (const rowId of [2, 3, 1]) names.add('metrics', 'a', rowId)
  const found = [3, 1, 2].map((rowId) => {
    names.remove('metrics', 'a', rowId)
    return names.get('metrics', 'a')
  })
  assert.deepEqual(found, [2, 2, undefined])
  assert.deepEqual([...names.entries()], [])
})

test('keeps the names of two scopes apart', () => {
  const { names } = makeNames()
  names.add('metrics', 'a', 1)
  names.add('dashboard', 'a', 2)
  names.remove('dashboard', 'b', 2)
  names.remove('dashboard', 'a', 2)
  assert.deepEqual(
    [names.get('metrics', 'a'), names.get('dashboard', 'a'), names.get('ci', 'a')],
    [1, undefined, undefined],
  )
})

test('a rollback restores which record is found, now and after the newest is gone', () => {
  const { journal, names } = makeNames()
  names.add('metrics', 'a', 1)
  const mark = journal.mark()
  names.add('metrics', 'a', 2)
  names.remove('metrics', 'a', 1)
  journal.rollback(mark)
  assert.equal(names.get('metrics', 'a'), 1)
  names.remove('metrics', 'a', 1)
  assert.equal(names.get('metrics', 'a'), undefined)
})
