/** The graph in the Markdown of a postmortem. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { type GraphRecord, queryOf } from '../../src/domain/graph/graph.ts'
import { graphLines } from '../../src/domain/postmortem/markdown.ts'
import { MINUTE } from '../../src/domain/units.ts'
import { NOON } from '../helpers/factory.ts'

const QUERY = queryOf('errors{code=~"4..|5.."} > 0.5', NOON, NOON + 10 * MINUTE)
const GRAPH = { ...QUERY, series: [{ name: '{pod="a|b"}', points: [[NOON, 0.75] as const] }], more: 2 }
const lines = (found: Partial<GraphRecord>) =>
  graphLines({ found: { alertId: 'a', graph: GRAPH, fetchedAt: NOON, fault: null, ...found }, startedAt: NOON })

test('the graph is a table with a row for each series', () => {
  const [period = '', rows = '', more, scope] = lines({})
  assert.match(period, /^The values of errors.* in Prometheus, 2026-.* UTC\. The alert fires if the value is > 0\.5\.$/)
  assert.equal(scope, 'The expression selects these series. They can belong to other services.')
  assert.match(rows, /^\| Series \| Course \| At the start \| Least \| Most \| Last \|\n\| --- /)
  assert.match(rows, /\n\| \{pod="a\\\|b"\} \| `·+▁·+` \| 0\.75 \| 0\.75 \| 0\.75 \| 0\.75 \|$/)
  assert.equal(more, 'There are 2 more series.')
})

test('the values end when they were read, and a single series needs no remark', () => {
  const graph = { ...GRAPH, more: 0 }
  const [period = '', , ...remarks] = lines({ graph, fetchedAt: NOON + MINUTE })
  assert.match(period, / to 2026-03-14 12:01:00 UTC, read at 2026-03-14 12:01:00 UTC\./)
  assert.deepEqual(remarks, [])
  assert.match(
    lines({ graph, fetchedAt: NOON + 60 * MINUTE })[0] ?? '',
    / to 2026-03-14 12:1\d:.*, read at .* 13:00:00 UTC/,
  )
  assert.doesNotMatch(lines({ graph, fetchedAt: null })[0] ?? '', /read at/)
})

test('a graph without data, and a missing graph, say so', () => {
  assert.match(lines({ graph: { ...GRAPH, series: [] } })[1] ?? '', /^Prometheus has no data/)
  const fault = 'it does not answer'
  assert.deepEqual(lines({ graph: null, fault }), [
    'There is no graph. incmon could not get it from Prometheus: it does not answer.',
  ])
  assert.match(lines({ fault }).at(-1) ?? '', /^The graph could not be updated\./)
})

for (const rule of ['</td>` | x > 1', '[a](http://x.test)\n# b > 1', '<b> < 1']) {
  test(`the rule ${JSON.stringify(rule)} is only text`, () => {
    const graph = { ...GRAPH, ...queryOf(rule, NOON, NOON), series: [{ name: rule, points: [] }] }
    const text = lines({ graph })
      .join('\n')
      .replace(/\\[!-/:-@[-`{-~]/g, 'x')
      .replaceAll('`http://x.test`', '')
    assert.doesNotMatch(text, /<\/|<b>|\]\(|^# /m)
    assert.equal(text.match(/`/g)?.length, 2)
  })
}
