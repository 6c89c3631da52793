/** A condition whose incident was merged into another one, and that Kubernetes reports anew: it is told once. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { mergeIncidents } from '../helpers/acts.ts'
import { clusterFlow } from '../helpers/cluster-flow.ts'

type Report = (seconds: number, isReady?: boolean) => Promise<void>

function world(t: TestContext) {
  const flow = clusterFlow(t)
  const { deps, acme, report, sent } = flow
  const node =
    (name: string) =>
    (seconds: number, isReady = false) =>
      report(seconds, isReady ? 'NodeReady' : 'NodeNotReady', name, { kind: 'Node' })
  const pod =
    (name: string) =>
    (seconds: number, isReady = false) =>
      report(
        seconds,
        isReady ? 'PodReady' : 'CrashLoopBackOff',
        `${name}-5d4f8c7b9-x2kqp`,
        isReady ? { type: 'Normal' } : {},
      )
  const merge = (from: number, into: number) =>
    mergeIncidents(
      deps,
      acme.key,
      { from: flow.incidents()[from]?.id ?? '', into: flow.incidents()[into]?.id ?? '' },
      'Ann',
    )
  const states = () => flow.incidents().map(({ title, status }) => `${title} ${status}`)
  return { ...flow, node, pod, merge, states, told: () => sent.splice(0) }
}

/** Both fail at noon, the incident of the second one is merged into that of the first, and both recover. */
async function merged(flow: ReturnType<typeof world>, first: Report, second: Report) {
  await first(0)
  await second(1)
  await flow.until(70)
  await flow.merge(1, 0)
  await first(80, true)
  await second(81, true)
  await flow.until(150)
  flow.told()
}

for (const [what, of] of [
  ['node', (flow: ReturnType<typeof world>) => [flow.node('w1'), flow.node('w2')] as const],
  ['pod', (flow: ReturnType<typeof world>) => [flow.pod('cart'), flow.pod('web')] as const],
] as const) {
  test(`a ${what} that fails again has one incident, since its new start, told once`, async (t) => {
    const flow = world(t)
    const [first, second] = of(flow)
    await merged(flow, first, second)
    await second(200)
    await flow.until(255)
    assert.deepEqual(flow.told(), [])
    await flow.until(300)
    assert.match(flow.told().join(), /^opened: \S+ has been critical since 12:03 UTC$/)
    await second(310, true)
    await flow.until(400)
    assert.deepEqual(
      flow.told().map((text) => text.replace(/:.*/, '')),
      ['recovered'],
    )
    assert.equal(flow.states().length, 3)
  })
}

test('a node that is back within the minute is not told', async (t) => {
  const flow = world(t)
  const [first, second] = [flow.node('w1'), flow.node('w2')]
  await merged(flow, first, second)
  await second(200)
  await second(240, true)
  await flow.until(400)
  assert.deepEqual([flow.told(), flow.states().length], [[], 2])
})

test('while the first node is down, the second one that fails again does not keep its all-clear back', async (t) => {
  const flow = world(t)
  const [first, second] = [flow.node('w1'), flow.node('w2')]
  await first(0)
  await second(1)
  await flow.until(70)
  await flow.merge(1, 0)
  await second(80, true)
  await flow.until(150)
  flow.told()
  await second(200)
  await first(230, true)
  await flow.until(400)
  assert.deepEqual(
    flow.told().map((text) => text.replace(/ (?:has|was) .*/, '')),
    ['opened: node/w2', 'recovered: node/w1'],
  )
})
