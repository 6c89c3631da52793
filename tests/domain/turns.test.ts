/** Work that takes long gives way to new connections. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createTurns } from '../../src/domain/request/turns.ts'

function doing() {
  const done: string[] = []
  const turns = createTurns()
  return { done, turns, later: (name: string) => turns.later(() => void done.push(name)) }
}

test('one piece of work is done in each turn, in the order of the calls', async () => {
  const { done, later } = doing()
  for (const name of ['a', 'b', 'c']) later(name)
  assert.deepEqual(done, [])
  await turn()
  assert.deepEqual(done, ['a'])
  later('d')
  for (let turns = 0; turns < 3; turns += 1) await turn()
  assert.deepEqual(done, ['a', 'b', 'c', 'd'])
})

test('nothing is done in a turn that accepts a connection, because others may be waiting', async () => {
  const { done, turns, later } = doing()
  later('a')
  for (let accepted = 0; accepted < 5; accepted += 1) {
    turns.accepted()
    await turn()
  }
  assert.deepEqual(done, [])
  await turn()
  assert.deepEqual(done, ['a'])
})

test('connections without end do not keep the work from being done', async () => {
  const { done, turns, later } = doing()
  for (const name of ['a', 'b']) later(name)
  for (let accepted = 0; accepted < 250; accepted += 1) {
    turns.accepted()
    await turn()
  }
  assert.deepEqual(done, ['a', 'b'])
})
