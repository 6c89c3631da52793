/**
 * What people hear of a further alert of a condition that they know: of another shard and, while somebody works on it, of
 * another machine, but not of another pod of a Deployment.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { ownChannel } from '../helpers/own-channel.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

type Labels = Readonly<Record<string, string>>

function world(t: TestContext, rules: Parameters<typeof ownChannel>[1] = []) {
  const flow = ownChannel(t, rules)
  flow.addOwn()
  const shard = async (minute: number, labels: Labels, isOver = false) => {
    const { clock, until } = flow
    await until(minute)
    const times = isOver ? { startsAt: clock.now - 1, endsAt: clock.now } : { startsAt: clock.now }
    const summary = `${Object.values(labels).join(' ')} lost`
    const { severity = 'critical', ...own } = labels
    const item = alert('Shard', { service: 'store', namespace: 'shop', severity, ...own }, { ...times, summary })
    await flow.send('metrics', alertmanager([item], { groupKey: JSON.stringify(own) }))
  }
  return { ...flow, shard }
}

test('another shard is told, with its name, five minutes after the opening', async (t) => {
  const { shard, until, sent, texts } = world(t)
  await shard(1, { shard: '1' })
  await shard(3, { shard: '2' })
  await until(10)
  assert.deepEqual(sent, ['opened of store at 1.5', 'worse of store (Shard) at 6'])
  assert.match(texts[1] ?? '', /^store got worse: Shard \(shard 2\) is firing, too\. Shard: .*2 lost\. /)
})

test('it is told at once if people heard nothing for five minutes, even if somebody works on it', async (t) => {
  const { shard, until, user, sent } = world(t)
  await shard(1, { shard: '1' })
  await user(2, { status: 'investigating' })
  await shard(8, { shard: '2' })
  await until(9)
  assert.deepEqual(sent.slice(2), ['worse of store (Shard) at 8.5'])
})

test('several more are told together, and the next one five minutes later', async (t) => {
  const { shard, until, sent, texts } = world(t)
  await shard(1, { shard: '1' })
  await shard(3, { shard: '2' })
  await shard(4, { shard: '3' })
  await shard(8, { shard: '4' })
  await until(20)
  const at = sent.filter((one) => one.startsWith('worse')).map((one) => one.split(' at ')[1])
  assert.deepEqual([...new Set(at)], ['6', '11'])
  assert.match(texts[1] ?? '', /^store got worse: Shard \(shard 2\) and Shard \(shard 3\) are firing, too\./)
  assert.match(texts[2] ?? '', /^store got worse: Shard \(shard 4\) is firing, too\./)
})

const REPLICA = { instance: '10.0.0.1:80', node: 'w1', code: '500', path: '/' }

for (const [what, labels] of [
  ['another pod', { shard: '1', pod: 'store-2', instance: '10.0.0.2:80', node: 'w2' }],
  ['another machine', { shard: '1', instance: '10.0.0.2:80', node: 'w2' }],
  ['another sender of the same', { shard: '1', prometheus: 'b' }],
  ['another status code', { shard: '1', code: '503', path: '/pay' }],
] as const) {
  test(`${what} is not told while nobody works on it`, async (t) => {
    const { shard, until, sent } = world(t)
    await shard(1, { ...REPLICA, shard: '1', pod: 'store-1' })
    await shard(8, labels)
    await until(20)
    assert.deepEqual(sent, ['opened of store at 1.5'])
  })
}

/** Somebody works on the alert of a machine since minute 2. */
async function attended(t: TestContext, first: Labels) {
  const flow = world(t)
  await flow.shard(1, first)
  await flow.user(2, { status: 'investigating' })
  return flow
}

for (const [first, second, said] of [
  [{ instance: 'h1' }, { instance: 'h2' }, 'instance h2'],
  [{ node: 'w1', instance: 'h1' }, { node: 'w2', instance: 'h2' }, 'instance h2'],
  [{ host: 'h1', mountpoint: '/' }, { host: 'h2', mountpoint: '/' }, 'host h2'],
  [{ pod: 'store-0', node: 'w1' }, { pod: 'store-1', node: 'w2' }, 'pod store-1'],
] as const)
  test(`while somebody works on one, ${said} is told, and that the first goes on, too`, async (t) => {
    const { shard, until, sent, texts } = await attended(t, first)
    await shard(8, second)
    await until(20)
    assert.deepEqual(sent.slice(2), ['worse of store (Shard) at 8.5'])
    assert.ok(texts.at(-1)?.startsWith(`store got worse: Shard (${said}) is firing, too. `), texts.at(-1))
  })

for (const [what, first, second] of [
  [
    'another pod of a Deployment',
    { pod: 'api-7d4b9c6f5d-bcdfg', node: 'w1' },
    { pod: 'api-7d4b9c6f5d-bcdfh', node: 'w2' },
  ],
  [
    'another pod of a Deployment in the words of OpenTelemetry',
    { k8s_pod_name: 'api-7d4b9c6f5d-bcdfg', k8s_pod_uid: 'a', k8s_node_name: 'w1' },
    { k8s_pod_name: 'api-7d4b9c6f5d-bcdfh', k8s_pod_uid: 'b', k8s_node_name: 'w2' },
  ],
  ['another pod of a job', { pod: 'job-bcdfg', instance: '10.0.0.1' }, { pod: 'job-bcdfh', instance: '10.0.0.2' }],
  ['another container with dots', { 'k8s.container.name': 'a' }, { 'k8s.container.name': 'b' }],
  ['another container', { instance: 'h1', container: 'a' }, { instance: 'h1', container: 'b' }],
  [
    'another pod of the exporter',
    { job: 'kube-state-metrics', instance: '10.0.0.1:8080', reason: 'a' },
    { job: 'kube-state-metrics', instance: '10.0.0.2:8080', reason: 'b' },
  ],
] as const)
  test(`${what} is not told even then`, async (t) => {
    const { shard, until, sent } = await attended(t, first)
    await shard(8, second)
    await until(20)
    assert.deepEqual(sent.length, 2)
  })

for (const [what, ends] of [
  ['after the one that somebody works on has ended', 9],
  ['at the moment at which it ends', 8],
  ['half a minute after it ended', 7.5],
] as const)
  test(`another machine that fires ${what} is told, for it is all that fires`, async (t) => {
    const { shard, until, sent, texts } = await attended(t, { instance: 'h1' })
    if (ends <= 8) await shard(ends, { instance: 'h1' }, true)
    await shard(8, { instance: 'h2' })
    if (ends > 8) await shard(ends, { instance: 'h1' }, true)
    await until(30)
    assert.deepEqual(sent.slice(2, 3), ['worse of store (Shard) at 8.5'])
    const too = ends > 8 ? ', too' : ''
    assert.ok(texts[2]?.startsWith(`store got worse: Shard (instance h2) is firing${too}. `), texts[2])
  })

test('fifty machines within an hour are told in one message every five minutes', async (t) => {
  const { shard, until, sent, texts } = await attended(t, { instance: 'h0' })
  for (let index = 1; index <= 50; index += 1) await shard(7 + index, { instance: `h${index}` })
  await until(70)
  const at = sent.slice(2).map((one) => Number(one.split(' at ')[1]))
  assert.deepEqual([...new Set(at)], [8.5, 13, 18, 23, 28, 33, 38, 43, 48, 53, 58])
  const said =
    'store got worse: Shard (instance h2), Shard (instance h3), Shard (instance h4) and Shard (instance h5) are firing, too. '
  assert.ok(texts[3]?.startsWith(said), texts[3])
})

test('and fifty in one request in one, with their number', async (t) => {
  const { send, until, texts } = await attended(t, { instance: 'h0' })
  await until(8)
  const labels = (index: number) => ({
    service: 'store',
    namespace: 'shop',
    severity: 'critical',
    instance: `h${index}`,
  })
  await send('metrics', alertmanager(Array.from({ length: 50 }, (_, index) => alert('Shard', labels(index + 1)))))
  await until(20)
  assert.equal(texts.length, 3)
  assert.match(texts[2] ?? '', /^store got worse: Shard \(instance h1\), .* and 47 more are firing, too\. /)
})

test('what has ended before its time is not told, and neither is what a silence covers', async (t) => {
  const { shard, until, sent } = world(t)
  await shard(1, { shard: '1' })
  await shard(3, { shard: '2' })
  await shard(4, { shard: '2' }, true)
  await until(20)
  assert.deepEqual(sent, ['opened of store at 1.5'])
})

test('a channel whose rule does not match the alert hears nothing of it', async (t) => {
  const { shard, until, sent } = world(t, [{ matchers: parseMatchers('shard="1"') }])
  await shard(1, { shard: '1' })
  await shard(8, { shard: '2' })
  await until(20)
  assert.deepEqual(sent, ['opened of store at 1.5'])
})

test('what is new in the first minute is counted, and what was told after an all-clear is new again', async (t) => {
  const { shard, until, sent } = world(t)
  await shard(1, { shard: '1' })
  await shard(2, { shard: '1' }, true)
  await shard(12, { shard: '2' })
  await until(20)
  assert.deepEqual(sent, ['opened of store at 1.5', 'recovered of store at 3', 'again of store at 12.5'])
})

for (const [what, severity, isOver] of [
  ['a machine whose warning becomes critical', 'warning', false],
  ['a machine that had ended before somebody worked on the incident', 'critical', true],
] as const)
  test(`${what} is told once, however often it changes`, async (t) => {
    const { shard, user, until, sent, texts } = world(t)
    await shard(1, { instance: 'h1' })
    await shard(1.5, { instance: 'h2', severity }, isOver)
    await user(2, { status: 'investigating' })
    for (const minute of [8, 16, 24]) {
      await shard(minute, { instance: 'h2' })
      await shard(minute + 4, { instance: 'h2', severity }, isOver)
    }
    await until(40)
    assert.deepEqual(sent.slice(2), ['worse of store (Shard) at 8.5'])
    assert.match(texts.at(-1) ?? '', /^store got worse: Shard \(instance h2\) is firing, too\./)
  })

test('4,000 shards at once are counted in one short message, in little time', async (t) => {
  const { shard, send, clock, until, texts } = world(t)
  await shard(1, { shard: 'a' })
  await until(3)
  const all = Array.from({ length: 4_000 }, (_, index) => ({ service: 'store', namespace: 'shop', shard: `${index}` }))
  await send('metrics', alertmanager(all.map((labels) => alert('Shard', labels, { startsAt: clock.now }))))
  const before = process.threadCpuUsage()
  await until(7)
  assert.ok(process.threadCpuUsage(before).user < 3_000_000)
  assert.match(
    texts[1] ?? '',
    /: Shard \(shard 0\), Shard \(shard 1\), Shard \(shard 2\) and 3,997 more are firing, too\./,
  )
})
