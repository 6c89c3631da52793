/** What people hear of a further alert of a condition that they know: of another shard, but not of another pod. */
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
    const all = { service: 'store', namespace: 'shop', severity: 'critical', ...labels }
    const item = alert('Shard', all, { ...times, summary })
    await flow.send('metrics', alertmanager([item], { groupKey: JSON.stringify(labels) }))
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

for (const [what, labels] of [
  ['another pod', { shard: '1', pod: 'store-2', instance: '10.0.0.2:80', node: 'w2' }],
  ['another sender of the same', { shard: '1', prometheus: 'b' }],
  ['another status code', { shard: '1', code: '503', path: '/pay' }],
] as const) {
  test(`${what} is not told`, async (t) => {
    const { shard, until, sent } = world(t)
    await shard(1, { shard: '1', pod: 'store-1', instance: '10.0.0.1:80', node: 'w1', code: '500', path: '/' })
    await shard(8, labels)
    await until(20)
    assert.deepEqual(sent, ['opened of store at 1.5'])
  })
}

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
  await until(14)
  assert.deepEqual(sent, ['opened of store at 1.5', 'recovered of store at 3', 'again of store at 12.5'])
})
