/** The graphs of incidents: the expression, the period, the response of Prometheus, and when to ask again. */
import assert from 'node:assert/strict'
import test from 'node:test'
import {
  alertToDraw,
  expressionIn,
  type GraphState,
  graphEnd,
  isGraphDue,
  MAX_POINTS,
  queryOf,
  readGraph,
} from '../../src/domain/graph/graph.ts'
import { formatValue, seriesTexts } from '../../src/domain/graph/words.ts'
import { HOUR, MINUTE } from '../../src/domain/units.ts'
import { GraphPicture } from '../../src/web/drawing/graph-section.tsx'
import { NOON } from '../helpers/factory.ts'

for (const [rule, expression, threshold] of [
  ['up == 0', 'up', { operator: '==', value: 0 }],
  ['rate(x{a="b > 1"}[5m]) >= 0.5', 'rate(x{a="b > 1"}[5m])', { operator: '>=', value: 0.5 }],
  ['(a + b)>-1e3', '(a + b)', { operator: '>', value: -1000 }],
  ['x{a=~"b.*"} < 2', 'x{a=~"b.*"}', { operator: '<', value: 2 }],
  ['a > 1 and b > 2', 'a > 1 and b > 2', null],
  ['sum(a > 1)', 'sum(a > 1)', null],
  ['a > bool 1', 'a > bool 1', null],
  ['a > b', 'a > b', null],
  ['absent(up)', 'absent(up)', null],
  ['(a > 1', '(a > 1', null],
  ['a > 1e999', 'a > 1e999', null],
] as const) {
  test(`the graph of ${rule} shows ${expression}`, () => {
    const query = queryOf(rule, NOON, NOON + HOUR)
    assert.deepEqual([query.expression, query.threshold], [expression, threshold])
  })
}

for (const [url, expression] of [
  ['http://p:9090/graph?g0.expr=up+%3D%3D+0&g0.tab=1', 'up == 0'],
  ['http://p:9090/graph?g0.tab=1', null],
  ['http://p/graph?g0.expr=', null],
  [`http://p/graph?g0.expr=${'x'.repeat(20_000)}`, null],
  ['::', null],
] as const) {
  test(`${url.slice(0, 50)} has the expression ${expression}`, () => assert.equal(expressionIn(url), expression))
}

for (const hours of [0, 1, 24, 24 * 30]) {
  test(`the graph of a problem of ${hours} hours has at most ${MAX_POINTS} points`, () => {
    const { from, to, stepMs } = queryOf('up', NOON, NOON + hours * HOUR)
    assert.ok(from < NOON && to > NOON && (to - from) / stepMs + 1 <= MAX_POINTS)
  })
}

test('the most severe alert with an expression is drawn, and of equal ones the first', () => {
  const generator = 'http://p/graph?g0.expr=up'
  const alert = (id: number, severity: 'warning' | 'critical', startsAt: number, url = generator) => {
    return { id, severity, startsAt, generator: url }
  }
  const alerts = [
    alert(1, 'warning', 1),
    alert(2, 'critical', 3),
    alert(3, 'critical', 2),
    alert(4, 'critical', 1, 'x'),
  ]
  for (const order of [alerts, alerts.toReversed()]) assert.equal(alertToDraw(order)?.id, 3)
  assert.equal(alertToDraw([]), null)
})

const QUERY = queryOf('up == 0', NOON, NOON + HOUR)
const answer = (result: unknown) => ({ status: 'success', data: { resultType: 'matrix', result } })

test('at most ten series are kept, named by the labels in which they differ', () => {
  const result = Array.from({ length: 12 }, (_, i) => ({
    metric: { __name__: 'up', job: 'cart', instance: `10.0.0.${i}` },
    values: [[NOON / 1000, `${i}`]],
  }))
  const graph = readGraph(QUERY, answer(result))
  assert.ok('series' in graph)
  assert.deepEqual([graph.series.length, graph.more], [10, 2])
  assert.deepEqual(graph.series[1], { name: '{instance="10.0.0.1"}', points: [[NOON, 1]] })
})

test('values that are no numbers are left out', () => {
  const values = [[1, 'NaN'], [2, '+Inf'], [3, '1.5'], 'x', [4]]
  const graph = readGraph(QUERY, answer([{ metric: {}, values }]))
  assert.deepEqual('series' in graph && graph.series, [{ name: 'value', points: [[3000, 1.5]] }])
})

for (const [what, values, threshold] of [
  ['the largest numbers', ['1.7e308', '-1.7e308'], 1],
  ['one very large number', ['1e300'], 1e300],
  ['very small numbers', ['5e-324', '0'], 0],
  ['no numbers', ['NaN', '+Inf'], 1],
  ['equal numbers', ['7', '7'], 7],
  ['a number far from the threshold', ['1'], -1.7e308],
] as const) {
  test(`the picture of ${what} contains only numbers`, () => {
    const points = values.map((value, index) => [NOON / 1000 + index * 15, value])
    const read = readGraph({ ...QUERY, threshold: { operator: '>', value: threshold } }, answer([{ values: points }]))
    assert.ok('series' in read)
    const html = String(GraphPicture({ graph: read, startsAt: NOON, zone: 'UTC' }))
    assert.doesNotMatch(html, /NaN|Infinity|undefined/)
    for (const [, y] of html.matchAll(/ y1="([^"]+)"/g)) assert.ok(Number(y) >= 0 && Number(y) <= 148, y)
  })
}

for (const [what, response, fault] of [
  ['an error', { status: 'error', error: 'parse error' }, { code: 'refused', detail: 'parse error' }],
  ['an error without a text', { status: 'error', error: 7 }, { code: 'refused', detail: null }],
  ['nothing', null, { code: 'refused', detail: null }],
  ['a vector', { status: 'success', data: { resultType: 'vector', result: [] } }, { code: 'unreadable', detail: null }],
  ['no list', answer({}), { code: 'unreadable', detail: null }],
] as const) {
  test(`a response with ${what} is no graph`, () => assert.deepEqual(readGraph(QUERY, response), fault))
}

const STATE: GraphState = { createdAt: NOON, resolvedAt: null, askedAt: null, tries: 0 }
for (const [what, state, now, isDue] of [
  ['of a new incident', {}, NOON, true],
  ['of an old incident', {}, NOON + 25 * HOUR, false],
  ['of an open incident after one minute', { askedAt: NOON }, NOON + MINUTE, false],
  ['of an open incident after five minutes', { askedAt: NOON }, NOON + 5 * MINUTE, true],
  ['of an incident that has just ended', { askedAt: NOON, resolvedAt: NOON + MINUTE }, NOON + MINUTE, false],
  ['of an incident that has ended', { askedAt: NOON, resolvedAt: NOON + MINUTE }, NOON + 3 * MINUTE, true],
  ['that shows the end', { askedAt: NOON + 3 * MINUTE, resolvedAt: NOON + MINUTE }, NOON + HOUR, false],
  ['after a failure', { askedAt: NOON, tries: 1 }, NOON + MINUTE, true],
  ['after a third failure', { askedAt: NOON, tries: 3 }, NOON + 14 * MINUTE, false],
  ['after a fourth failure', { askedAt: NOON, tries: 4 }, NOON + 10 * HOUR, false],
] as const) {
  test(`the graph ${what} is ${isDue ? '' : 'not '}fetched`, () => {
    assert.equal(isGraphDue({ ...STATE, ...state }, now), isDue)
  })
}

test('the graph ends shortly after the incident', () => {
  assert.equal(graphEnd({ resolvedAt: NOON }, NOON + HOUR), NOON + 2 * MINUTE)
  assert.equal(graphEnd({ resolvedAt: null }, NOON + HOUR), NOON + HOUR)
})

for (const [value, text] of [
  [0, '0'],
  [0.012345, '0.0123'],
  [98.46, '98.5'],
  [1234, '1230'],
  [25_600, '25.6 k'],
  [-3_000_000, '-3 M'],
] as const) {
  test(`${value} is shown as ${text}`, () => assert.equal(formatValue(value), text))
}

test('a series is described by its course and its values at the start, least, most and last', () => {
  const graph = { ...queryOf('x > 5', NOON, NOON + 10 * MINUTE), more: 0 }
  const points = [0, 10, 20, 29, 31, 40].map(
    (at, index) => [graph.from + at * MINUTE, [1, 1, 2, 3, 8, 4][index] ?? 0] as const,
  )
  const [one, none] = seriesTexts(
    {
      ...graph,
      series: [
        { name: 'a', points },
        { name: 'b', points: [] },
      ],
    },
    NOON,
  )
  assert.deepEqual([one?.atStart, one?.least, one?.most, one?.last], ['3', '1', '8', '4'])
  assert.deepEqual([one?.course.replaceAll('·', ''), one?.course.length], ['▁▁▂▃█▄', 40])
  assert.deepEqual([none?.course, none?.atStart, none?.last], ['·'.repeat(40), '', ''])
})

test('a constant series and the largest numbers have a course', () => {
  const course = (...values: number[]) => {
    const graph = { ...queryOf('x < 5', NOON, NOON), more: 0 }
    const points = values.map((value, index) => [graph.from + index * MINUTE, value] as const)
    return seriesTexts({ ...graph, series: [{ name: 'a', points }] }, NOON)[0]?.course.replaceAll('·', '')
  }
  assert.deepEqual([course(7, 7), course(-Number.MAX_VALUE, Number.MAX_VALUE)], ['▁▁', '▁█'])
})
