/** Which incidents the overview shows together: groups with a common cause, and storms. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clustersOf } from '../../src/domain/incident/storm.ts'

const MINUTE = 60_000
const NONE = new Map()

const at = (id: string, minute: number, isOn = true) => ({ id, startedAt: minute * MINUTE, isOn })
const shown = (found: ReturnType<typeof clustersOf>) =>
  found.map(
    ({ leader, cause, members }) =>
      `${leader.id}: ${members.map(({ id }) => id).join(' ')}${cause ? ` by ${cause}` : ''}`,
  )

const six = ['b', 'a', 'c', 'd', 'e', 'f'].map((id, index) => at(id, id === 'a' ? 0 : index + 1))

test('six problems that begin soon after each other are a storm, led by the earliest', () => {
  assert.deepEqual(shown(clustersOf(six, NONE)), ['a: a b c d e f'])
})

test('five are not a storm', () => {
  assert.equal(clustersOf(six.slice(0, 5), NONE).length, 5)
})

test('a problem that begins more than ten minutes after the last one does not belong to the storm', () => {
  assert.deepEqual(shown(clustersOf([...six, at('later', 17)], NONE)), ['a: a b c d e f', 'later: later'])
})

test('an incident whose problem is over does not belong to a storm', () => {
  assert.equal(clustersOf([at('over', 2, false), ...six.slice(0, 5)], NONE).length, 6)
})

test('a group keeps its own leader and cause, and its members belong to no storm', () => {
  const group = { leader: 'c', cause: 'postgres', members: ['a', 'b', 'c'] }
  const groups = new Map(group.members.map((id) => [id, group]))
  assert.deepEqual(shown(clustersOf(six, groups)), ['c: a b c by postgres', 'd: d', 'e: e', 'f: f'])
})

test('a group whose leader is not in the list is led by its first member', () => {
  const group = { leader: 'gone', cause: 'node a', members: ['gone', 'd', 'e'] }
  assert.deepEqual(shown(clustersOf(six.slice(3), new Map(group.members.map((id) => [id, group])))).slice(0, 1), [
    'd: d e by node a',
  ])
})

test('every incident is shown exactly once, in any order of arrival', () => {
  const incidents = fc.uniqueArray(fc.record({ id: fc.string(), startedAt: fc.nat(90 * MINUTE), isOn: fc.boolean() }), {
    selector: ({ id }) => id,
  })
  fc.assert(
    fc.property(incidents, (all) => {
      const ids = clustersOf(all, NONE).flatMap(({ members }) => members.map(({ id }) => id))
      assert.deepEqual(ids.toSorted(), all.map(({ id }) => id).toSorted())
    }),
  )
})
