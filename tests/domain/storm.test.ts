/** Which incidents the overview shows together: groups with a common cause, and storms. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { beganText, clustersOf } from '../../src/domain/incident/storm.ts'

const MINUTE = 60_000
const NONE = new Map()

const at = (id: string, minute: number, isOn = true) => ({ id, startedAt: minute * MINUTE, isOn })
const shown = (found: ReturnType<typeof clustersOf>) =>
  found.map(
    ({ leader, cause, members }) =>
      `${leader.id}: ${members.map(({ id }) => id).join(' ')}${cause ? ` by ${cause}` : ''}`,
  )

/** The earliest one, `a`, is the second of the list. */
const ten = [...'bacdefghij'].map((id, index) => at(id, id === 'a' ? 0 : index + 1))

test('ten problems that begin within ten minutes are a storm, led by the earliest', () => {
  assert.deepEqual(shown(clustersOf(ten, NONE)), ['a: a b c d e f g h i j'])
  assert.equal(beganText(ten), 'began within 10 min')
})

test('nine are not a storm', () => {
  assert.equal(clustersOf(ten.slice(0, 9), NONE).length, 9)
})

test('a problem that begins more than ten minutes after the first one does not belong to the storm', () => {
  assert.deepEqual(shown(clustersOf([...ten, at('later', 11)], NONE)), ['a: a b c d e f g h i j', 'later: later'])
})

test('problems of which each begins soon after the one before are not a storm', () => {
  const steady = Array.from({ length: 40 }, (_, index) => at(`${index}`, index * 2))
  assert.equal(clustersOf(steady, NONE).length, 40)
})

test('a problem some minutes before a storm does not split it', () => {
  const burst = Array.from({ length: 12 }, (_, index) => at(String.fromCharCode(98 + index), 9 + index / 4))
  const [alone, storm] = clustersOf([at('a', 0), ...burst], NONE)
  assert.deepEqual([alone?.members.length, storm?.members.length, beganText(burst)], [1, 12, 'began within 3 min'])
})

test('problems that begin at once began within a minute', () => {
  assert.equal(beganText([at('a', 3), at('b', 3)]), 'began within 1 min')
})

test('an incident whose problem is over does not belong to a storm', () => {
  assert.equal(clustersOf([at('over', 2, false), ...ten.slice(0, 9)], NONE).length, 10)
})

test('a group keeps its own leader and cause, and its members belong to no storm', () => {
  const group = { leader: 'c', cause: 'postgres', members: ['a', 'b', 'c'] }
  const groups = new Map(group.members.map((id) => [id, group]))
  assert.deepEqual(shown(clustersOf(ten.slice(0, 6), groups)), [...['c: a b c by postgres', 'd: d', 'e: e', 'f: f']])
})

test('a group whose leader is not in the list is led by its first member', () => {
  const group = { leader: 'gone', cause: 'node a', members: ['gone', 'd', 'e'] }
  assert.deepEqual(shown(clustersOf(ten.slice(3), new Map(group.members.map((id) => [id, group])))).slice(0, 1), [
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
