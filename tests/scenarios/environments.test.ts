/** Deploys to several environments, retried jobs, and pipelines of several kinds. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { type Body, build, kubernetesEvent, pipeline } from '../helpers/senders.ts'

const rolledOut = kubernetesEvent('ScalingReplicaSet', 'cart', {
  kind: 'Deployment',
  message: 'Scaled up replica set cart-5d4f8c7b9 to 3 from 0',
  at: NOON - 60 * MINUTE,
})
const to = (name: string, status: string, more: Body = {}) =>
  build('deploy', status, { environment: { name, action: 'start' }, started_at: '2026-03-14 11:59:00 UTC', ...more })

let ids = 100
async function run(flow: Flow, minute: number, status: string, jobs: readonly Body[], more: Body = {}) {
  ids += 1
  const at = NOON + minute * MINUTE
  const { ref = 'main', source = 'push' } = more
  const body = pipeline(status, 'shop/cart', { id: ids, at, ref: String(ref), jobs: [...jobs] })
  const attributes = { ...(body.object_attributes as Body), source }
  await flow.send('ci', { ...body, object_attributes: attributes }, { at })
}

const firing = (flow: Flow) =>
  flow
    .alerts()
    .filter(({ status }) => status === 'firing')
    .map(({ severity }) => severity)

describe('a failed deploy degrades nothing in production if it goes to', () => {
  const jobs: readonly (readonly [string, Body])[] = [
    ['a review app', to('review/feature-x', 'failed')],
    ['staging', to('staging', 'failed')],
    [
      'an environment that GitLab calls testing',
      build('deploy', 'failed', { environment: { name: 'blue', action: 'start', deployment_tier: 'testing' } }),
    ],
    ['a stage named after an environment, without an environment', build('deploy_qa', 'failed')],
  ]
  for (const [title, failed] of jobs) {
    test(title, async (t) => {
      const flow = makeFlow(t)
      await flow.send('cluster', rolledOut)
      await run(flow, 0, 'failed', [failed], { ref: 'feature-x' })
      assert.deepEqual(firing(flow), ['info'])
    })
  }

  test('but production is degraded by its own failed deploy', async (t) => {
    const flow = makeFlow(t)
    await flow.send('cluster', rolledOut)
    await run(flow, 0, 'failed', [to('production', 'failed')])
    assert.deepEqual(firing(flow), ['warning'])
  })
})

describe('a failed deploy to production fires on after', () => {
  const others: readonly (readonly [string, readonly Body[], Body])[] = [
    ['a nightly pipeline without a deploy', [build('test', 'success')], { source: 'schedule' }],
    ['a child pipeline', [build('docs', 'success')], { source: 'parent_pipeline' }],
    ['an external status', [build('sonar', 'success')], { source: 'external' }],
    ['a push to the same branch that deploys nothing', [build('test', 'success')], {}],
    ['a deploy to staging', [to('staging', 'success')], {}],
  ]
  for (const [title, jobs, more] of others) {
    test(title, async (t) => {
      const flow = makeFlow(t)
      await run(flow, 0, 'failed', [to('production', 'failed')])
      await run(flow, 5, 'success', jobs, more)
      assert.deepEqual(firing(flow), ['warning'])
    })
  }
})

describe('a failed deploy to production ends with', () => {
  const fixes: readonly (readonly [string, string, readonly Body[], Body])[] = [
    ['the next deploy to production', 'success', [to('production', 'success')], {}],
    ['a deploy of another tag', 'success', [to('production', 'success')], { ref: 'v1.2.4' }],
    [
      'a deploy in a pipeline that failed later',
      'failed',
      [to('production', 'success'), build('report', 'failed')],
      {},
    ],
    ['a deploy in a pipeline that still runs', 'running', [to('production', 'success')], {}],
  ]
  for (const [title, status, jobs, more] of fixes) {
    test(title, async (t) => {
      const flow = makeFlow(t)
      await run(flow, 0, 'failed', [to('production', 'failed')])
      await run(flow, 5, status, jobs, more)
      assert.ok(!firing(flow).includes('warning'))
    })
  }

  test('a success that was told before the failure', async (t) => {
    const flow = makeFlow(t)
    await run(flow, 5, 'success', [to('production', 'success')])
    await run(flow, 0, 'failed', [to('production', 'failed')])
    assert.deepEqual(firing(flow), [])
  })
})

describe('of jobs with one name, the last one counts', () => {
  const first = to('production', 'failed', { id: 7 })
  const second = to('production', 'success', { id: 8 })
  test('a retry that succeeded is no failed deploy', async (t) => {
    const flow = makeFlow(t)
    await run(flow, 0, 'failed', [first, second, build('report', 'failed', { id: 9 })])
    assert.deepEqual(firing(flow), ['info'])
  })
  test('whatever the order of the jobs', async (t) => {
    const flow = makeFlow(t)
    await run(flow, 0, 'failed', [second, first, build('report', 'failed', { id: 9 })])
    assert.deepEqual(firing(flow), ['info'])
  })
  test('a retry that failed too is a failed deploy', async (t) => {
    const flow = makeFlow(t)
    await run(flow, 0, 'failed', [
      { ...second, id: 7 },
      { ...first, id: 8 },
    ])
    assert.deepEqual(firing(flow), ['warning'])
  })
})
