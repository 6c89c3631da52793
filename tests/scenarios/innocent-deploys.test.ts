/** A service was deployed, and then something else broke it: the deploy does not stand out among the suspects. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findIncident } from '../../src/store/incident/incidents.ts'
import { findSuspects } from '../../src/store/incident/suspects.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, type Body, build, iso, kubernetesEvent, pipeline } from '../helpers/senders.ts'
import { suspectsOf } from '../helpers/suspected.ts'

const isConnected = (reasons: readonly { readonly code: string }[]) => reasons.every(({ code }) => code !== 'only_time')

type Labels = Readonly<Record<string, string>>
const at = (minute: number) => NOON + minute * MINUTE
const deployed = (minute: number) => {
  const times = { started_at: new Date(at(minute - 2)).toISOString(), finished_at: new Date(at(minute)).toISOString() }
  const job = build('deploy', 'success', { environment: { name: 'production', action: 'start' }, ...times })
  return pipeline('success', 'shop/cart', { at: at(minute), jobs: [job] })
}
const fires = (name: string, minute: number, labels: Labels, summary?: string) =>
  alertmanager([alert(name, labels, { startsAt: at(minute), ...(summary ? { summary } : {}) })], { groupKey: name })

/** A job that deploys one service of a monorepo; `env` alone is the environment, otherwise the job's name says which. */
const part = (name: string, status: string, env = `production/${name}`) =>
  build(env.endsWith(name) ? `deploy ${name.length}` : `deploy ${name}`, status, {
    ...{ id: name.length, environment: { name: env, action: 'start', deployment_tier: 'production' } },
    ...(status === 'success' ? { started_at: iso(at(2)), finished_at: iso(at(4)) } : { started_at: null }),
  })

/** The monorepo shop/platform deploys at minute 4, and the service `broken` fails at minute 6. */
async function platform(t: Parameters<typeof makeFlow>[0], jobs: readonly Body[], broken = 'ad') {
  const flow = makeFlow(t)
  for (const name of ['ad', 'search']) {
    const message = `Successfully pulled image "registry.example/shop/platform/${name}:1.0" in 2s`
    await flow.send('cluster', kubernetesEvent('Pulled', `${name}-5d4f8c7b9-x2kqp`, { message, type: 'Normal' }))
  }
  await flow.send('ci', pipeline('success', 'shop/platform', { at: at(4), jobs }), { at: at(4) })
  await flow.send('metrics', fires('Errors', 6, { deployment: broken }), { at: at(6.5) })
  await flow.sweepUntil(at(8))
  const own = suspectsOf(flow, broken).filter(({ reasons }) => isConnected(reasons))
  return own.flatMap(({ kind, ref }) => (kind === 'pipeline' ? [ref] : []))
}

/** Cart is deployed at minute 4, `other` breaks at minute 9, and the alert of cart says so. */
async function play(t: Parameters<typeof makeFlow>[0], other: Labels | null, { labels = {}, summary = '' }) {
  const flow = makeFlow(t)
  const scaled = (minute: number, set: string) => {
    const message = `Scaled up replica set cart-${set} to 3 from 0`
    const body = kubernetesEvent('ScalingReplicaSet', 'cart', { kind: 'Deployment', message, at: at(minute) })
    return flow.send('cluster', body, { at: at(Math.max(0, minute)) })
  }
  await scaled(-60, '5d4f8c7b9')
  await scaled(3, '7c9f6d5b8')
  await flow.send('ci', deployed(4), { at: at(4) })
  await flow.sweepUntil(at(9.5))
  if (other) await flow.send('metrics', fires('Down', 9, other), { at: at(9.5) })
  await flow.send('metrics', fires('Errors', 9.6, { deployment: 'cart', ...labels }, summary), { at: at(10) })
  await flow.sweepUntil(at(12))
  return suspectsOf(flow, 'cart').map(({ ref }) => ref)
}

describe('the first suspect of a service that was deployed five minutes before is', () => {
  const postgres = { namespace: 'data', statefulset: 'postgres' }
  const stories: readonly (readonly [string, Labels, { labels?: Labels; summary?: string }, string])[] = [
    [
      'the database that its alert names',
      postgres,
      { summary: 'connect ECONNREFUSED postgres.data:5432' },
      'data/postgres',
    ],
    [
      'the service whose host is in a URL',
      { deployment: 'pay' },
      { summary: 'POST http://pay/v1 answers 502' },
      'shop/pay',
    ],
    ['the service in the label upstream', { deployment: 'pay' }, { labels: { upstream: 'pay' } }, 'shop/pay'],
  ]
  for (const [title, other, says, first] of stories)
    test(title, async (t) => {
      const refs = await play(t, other, says)
      assert.deepEqual([refs[0], refs.includes('shop/cart#31')], [first, true])
    })

  test('the deploy, if the alert names nothing else', async (t) => {
    assert.equal((await play(t, postgres, { summary: '40 % of all requests fail' }))[0], 'shop/cart#31')
  })
  test('the deploy, if what the alert names has no problem', async (t) => {
    assert.equal((await play(t, null, { summary: 'slow checkout' }))[0], 'shop/cart#31')
  })
})

describe('a pipeline of a monorepo is no suspect of a service', () => {
  const stories: readonly (readonly [string, readonly Body[]])[] = [
    ['whose environment waits for a click', [part('search', 'success'), part('ad', 'manual')]],
    ['whose environment was skipped', [part('search', 'success'), part('ad', 'skipped')]],
    ['whose job waits for a click', [part('search', 'success', 'production'), part('ad', 'manual', 'production')]],
    ['that no environment names', [part('search', 'success')]],
  ]
  for (const [title, jobs] of stories) test(title, async (t) => assert.deepEqual(await platform(t, jobs), []))
})

describe('a pipeline of a monorepo is a suspect of a service', () => {
  const all = build('deploy', 'success', { id: 7, environment: { name: 'production', action: 'start' } })
  const stories: readonly (readonly [string, readonly Body[]])[] = [
    ['that it deployed', [part('ad', 'success'), part('search', 'manual')]],
    ['if it deployed both', [part('ad', 'success'), part('search', 'success')]],
    ['if a job deployed everything', [all, part('ad', 'manual')]],
    ['by the name of a job', [part('ad', 'success', 'production'), part('search', 'manual', 'production')]],
  ]
  for (const [title, jobs] of stories)
    test(title, async (t) => assert.deepEqual(await platform(t, jobs), ['shop/platform#31']))
})

describe('a deploy changes the service of the cluster that its environment names', () => {
  const CLUSTERS = ['prod-eu', 'prod-us', 'staging-us']
  /** Cart runs in three clusters and is deployed at minute 4. Returns the clusters in which the deploy is a suspect. */
  const accused = async (t: Parameters<typeof makeFlow>[0], ...environments: readonly string[]) => {
    const flow = makeFlow(t)
    for (const cluster of CLUSTERS) {
      const event = kubernetesEvent('Started', 'cart-5d4f8c7b9-x2kqp', { type: 'Normal' })
      await flow.send('cluster', event, { cluster })
    }
    const jobs = environments.map((name, n) => {
      return { ...part('cart', 'success', name), id: n, name: `${n}`, environment: { name, action: 'start' } }
    })
    await flow.send('ci', pipeline('success', 'shop/cart', { at: at(4), jobs }), { at: at(4) })
    for (const cluster of CLUSTERS) {
      const body = fires('Errors', 6, { deployment: 'cart', cluster })
      await flow.send('metrics', { ...body, groupKey: cluster }, { at: at(6.5) })
    }
    await flow.sweepUntil(at(8))
    return flow.incidents().flatMap(({ id, service_id: key }) => {
      const record = findIncident(flow.deps.db, flow.acme.key, id)
      const suspects = record ? findSuspects(flow.deps.db, flow.acme.key, record, flow.clock.now) : []
      const isAccused = suspects.some(({ kind, reasons }) => kind === 'pipeline' && isConnected(reasons))
      return isAccused ? [flow.services().find((one) => one.key === key)?.cluster] : []
    })
  }
  for (const name of ['prod-us', 'production/us', 'us'])
    test(name, async (t) => assert.deepEqual(await accused(t, name), ['prod-us']))
  for (const name of ['staging-us', 'staging/us'])
    test(name, async (t) => assert.deepEqual(await accused(t, name), ['staging-us']))
  test('a failed deploy to staging/us is an alert of the service in staging-us', async (t) => {
    const flow = makeFlow(t)
    for (const cluster of CLUSTERS)
      await flow.send('cluster', kubernetesEvent('Started', 'cart-5d4f8c7b9-x2kqp', { type: 'Normal' }), { cluster })
    const environment = { name: 'staging/us', action: 'start' }
    const jobs = [{ ...part('cart', 'success'), status: 'failed', environment }]
    await flow.send('ci', pipeline('failed', 'shop/cart', { at: at(4), jobs }), { at: at(4) })
    const [failed] = flow.alerts()
    assert.equal(flow.services().find(({ key }) => key === failed?.service_id)?.cluster, 'staging-us')
  })
  test('and of both, if it has a job for each', async (t) => {
    assert.deepEqual((await accused(t, 'prod-us', 'prod-eu')).toSorted(), ['prod-eu', 'prod-us'])
  })
})
