/** Groups of similar alerts: a storm is one row, with a summary of what varies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type GroupedAlert, groupAlerts, variesText } from '../../src/domain/alert/groups.ts'
import { commandFor } from '../../src/domain/event/reason-command.ts'

let made = 0
function alert(more: Partial<GroupedAlert> = {}): GroupedAlert {
  made += 1
  return {
    ...{ id: `a${made}`, serviceId: 'checkout', source: 'metrics', name: 'HighErrorRate', severity: 'warning' },
    ...{ status: 'firing', summary: 'More than 5 % of requests fail', labels: {}, startsAt: 0, endsAt: null },
    ...{ occurrences: 1, ...more },
  }
}

test('440 similar alerts are one group that lists the labels that differ', () => {
  const storm = Array.from({ length: 440 }, (_, n) =>
    alert({ labels: { alertname: 'HighErrorRate', route: `/r${n % 11}`, pod: `checkout-${n % 40}` }, occurrences: 2 }),
  )
  const [group, ...more] = groupAlerts(storm)
  assert.deepEqual(more, [])
  assert.equal(group?.summary, 'More than 5 % of requests fail: 11 routes on 40 pods')
  assert.deepEqual([group?.members.length, group?.firing, group?.seen], [440, 440, 880])
})

test('10,000 similar alerts are one group', () => {
  const [group] = groupAlerts(Array.from({ length: 10_000 }, (_, n) => alert({ startsAt: n })))
  assert.deepEqual([group?.firstStartsAt, group?.lastStartsAt], [0, 9_999])
})

for (const [what, more] of [
  ['another service', { serviceId: 'cart' }],
  ['another name', { name: 'SlowRequests' }],
  ['another source', { source: 'dashboard' }],
  ['another severity', { severity: 'error' }],
] as const) {
  test(`an alert of ${what} is not similar`, () => assert.equal(groupAlerts([alert(), alert(more)]).length, 2))
}

test('the worst group comes first, then the group with the latest start', () => {
  const groups = groupAlerts([
    alert({ name: 'old', startsAt: 1 }),
    alert({ name: 'bad', severity: 'critical' }),
    alert({ name: 'new', startsAt: 9 }),
  ])
  assert.deepEqual(
    groups.map(({ name }) => name),
    ['bad', 'new', 'old'],
  )
})

test('a group ends when its last alert ends', () => {
  const ended = (endsAt: number) => alert({ status: 'resolved', endsAt })
  assert.equal(groupAlerts([ended(5), ended(9)])[0]?.endsAt, 9)
  assert.equal(groupAlerts([ended(5), alert()])[0]?.endsAt, null)
})

test('different summaries are represented by an example', () => {
  const [group] = groupAlerts([
    alert({ summary: 'route /a fails', labels: { route: '/a' }, startsAt: 2 }),
    alert({ summary: 'route /b fails', labels: { route: '/b' } }),
  ])
  assert.equal(group?.summary, 'route /a fails (one of 2 routes)')
})

for (const [labels, text] of [
  [[], ''],
  [[{ pod: 'a' }, { pod: 'a' }], ''],
  [
    [
      { pod: 'a', severity: 'warning' },
      { pod: 'a', severity: 'error' },
    ],
    '',
  ],
  [[{ pod: 'a' }, { pod: 'b' }], '2 pods'],
  [
    [
      { address: '1', query: 'x' },
      { address: '2', query: 'y' },
      { address: '3', query: 'x' },
    ],
    '2 queries on 3 addresses',
  ],
  [[{ 'a.b/c': '1' }, { 'a.b/c': '2' }], '2 values of a.b/c'],
  [[{ ['__proto__']: '1' }, { ['__proto__']: '2' }], '2 values of __proto__'],
] as const) {
  test(`${JSON.stringify(labels)} differ in “${text}”`, () => assert.equal(variesText(labels), text))
}

for (const [condition, spot, command] of [
  ['CrashLoopBackOff', { pod: 'checkout-1' }, 'kubectl logs -n shop checkout-1 --previous'],
  ['NodeNotReady', { node: 'worker-7' }, 'kubectl describe node worker-7'],
  ['Unhealthy (liveness)', { pod: 'web-0', namespace: null }, 'kubectl describe pod web-0'],
  ['OOMKilled', {}, null],
  ['HighErrorRate', { pod: 'checkout-1' }, null],
  ['CrashLoopBackOff', { pod: 'x; rm -rf /' }, null],
  ['CrashLoopBackOff', { pod: '--all' }, null],
  ['CrashLoopBackOff', { pod: 'checkout-1', namespace: '$(id)' }, null],
] as const) {
  test(`${condition} of ${JSON.stringify(spot)} leads to ${command}`, () => {
    assert.equal(commandFor(condition, { namespace: 'shop', pod: null, node: null, ...spot })?.command ?? null, command)
  })
}
