/** A project that sends Job events: a failed deploy job on production is a failed deploy, with or without its pipeline. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { type Body, build, iso, job, pipeline } from '../helpers/senders.ts'

type Told = readonly [minute: number, body: Body]
const environment = (name: string, tier: string) => ({ name, action: 'start', deployment_tier: tier })
const PRODUCTION = environment('production', 'production')
const at = (minute: number) => ({ build_finished_at: iso(NOON + minute * MINUTE), build_started_at: iso(NOON) })
const deploy = (minute: number, status: string, more: Body = {}): Told => [
  minute,
  job('deploy', status, 'shop/checkout', { environment: PRODUCTION, ...at(minute), ...more }),
]
const ran = (minute: number, status: string, jobs: readonly Body[]): Told => [
  minute,
  pipeline(status, 'shop/checkout', { at: NOON + minute * MINUTE, jobs }),
]

/** A deploy job that failed for a reason of GitLab. */
const dropped = (reason: string) => deploy(3, 'failed', { build_failure_reason: reason, build_started_at: null })

const idle = (name: string, more: Body = {}) =>
  build(name, 'failed', { started_at: null, failure_reason: 'missing_dependency_failure', ...more })
/** A failed pipeline whose deploy was never started. */
const unstarted = (reason: string, jobs: readonly Body[]): Told =>
  ran(3, 'failed', [...jobs, idle('deploy', { environment: PRODUCTION, failure_reason: reason })])

async function play(t: Parameters<typeof makeFlow>[0], told: readonly Told[]) {
  const flow = makeFlow(t)
  for (const [minute, body] of told) {
    await flow.sweepUntil(NOON + minute * MINUTE, MINUTE)
    await flow.send('ci', body)
  }
  assert.deepEqual(flow.incidents(), [])
  return flow.alerts().map(({ service, severity, status, ends_at: end }) => {
    return `${service} ${severity} ${status}${end === null ? '' : ` ${(end - NOON) / MINUTE}`}`
  })
}

describe('a failed deploy job', () => {
  const failed = deploy(3, 'failed')
  test('is an alert of the service, and no incident', async (t) => {
    assert.deepEqual(await play(t, [failed]), ['checkout warning firing'])
  })
  test('that the runner failed after it had started is an alert', async (t) => {
    const begun = deploy(3, 'failed', { build_failure_reason: 'runner_system_failure' })
    assert.deepEqual(await play(t, [begun]), ['checkout warning firing'])
  })
  test('in a pipeline is an alert, although another job was not started', async (t) => {
    const failed = build('deploy', 'failed', { environment: PRODUCTION })
    assert.deepEqual(await play(t, [ran(3, 'failed', [failed, idle('unit')])]), ['checkout warning firing'])
  })
  test('that was not started leaves the failed tests of its pipeline an alert', async (t) => {
    const told = unstarted('stuck_or_timeout_failure', [build('unit', 'failed')])
    assert.deepEqual(await play(t, [told]), ['checkout info firing'])
  })
  for (const reason of ['script_failure', 'job_execution_timeout', 'server_timeout_running'])
    test(`is an alert after ${reason}`, async (t) =>
      assert.deepEqual(await play(t, [dropped(reason)]), ['checkout warning firing']))

  test('and its pipeline are one alert, whichever arrives first', async (t) => {
    const end = ran(4, 'failed', [build('deploy', 'failed', { id: 9001, environment: PRODUCTION })])
    assert.deepEqual(await play(t, [failed, end]), ['checkout warning firing'])
    assert.deepEqual(await play(t, [end, [4, failed[1]]]), ['checkout warning firing'])
  })
  test('ends when it is retried and succeeds', async (t) => {
    assert.deepEqual(await play(t, [failed, deploy(6, 'success', { build_id: 9002 })]), ['checkout warning resolved 6'])
  })
  test('that is reported after its successful retry has ended', async (t) => {
    const told = [deploy(6, 'success', { build_id: 9002 }), [7, failed[1]] as const]
    assert.deepEqual(await play(t, told), ['checkout warning resolved 6'])
  })
  test('ends with the deploy of another pipeline', async (t) => {
    const next = ran(9, 'success', [build('deploy', 'success', { environment: PRODUCTION })])
    assert.deepEqual(await play(t, [failed, next]), ['checkout warning resolved 9'])
  })
  test('of a child pipeline ends with the deploy of the next child', async (t) => {
    const child = { pipeline_id: 77, source_pipeline: { pipeline_id: 31 } }
    const told = [deploy(3, 'failed', child), deploy(8, 'success', { ...child, pipeline_id: 78, build_id: 9009 })]
    assert.deepEqual(await play(t, told), ['checkout warning resolved 8'])
  })
  test('that a person started is one, too', async (t) => {
    const waits = deploy(1, 'manual', { build_started_at: null, build_finished_at: null })
    assert.deepEqual(await play(t, [waits, failed]), ['checkout warning firing'])
  })
})

describe('no alert is opened by', () => {
  for (const [what, told] of [
    ['a deploy job that may fail', deploy(3, 'failed', { build_allow_failure: true })],
    ['a deploy job that waits for a person', deploy(3, 'manual')],
    ['a deploy job that was canceled', deploy(3, 'canceled')],
    ['a failed deploy to a review app', deploy(3, 'failed', { environment: environment('review/x', 'development') })],
    ['a failed deploy to staging', deploy(3, 'failed', { environment: environment('staging', 'staging') })],
    ['a failed deploy of a merge request', deploy(3, 'failed', { ref: 'refs/merge-requests/7/head' })],
    [
      'an environment that could not be stopped',
      deploy(3, 'failed', { environment: { ...PRODUCTION, action: 'stop' } }),
    ],
    ['a deploy that a newer one overtook', dropped('failed_outdated_deployment_job')],
    ['a deploy that nobody approved', dropped('deployment_rejected')],
    ['a deploy whose artifacts are gone', dropped('missing_dependency_failure')],
    ['a deploy for which no runner came', dropped('stuck_or_timeout_failure')],
    ['a deploy that the scheduler dropped', dropped('scheduler_failure')],
    ['a pipeline of which only a deploy did not start', unstarted('stuck_or_timeout_failure', [])],
    ['a pipeline of which nothing started', unstarted('runner_unsupported', [idle('unit')])],
    [
      'a pipeline whose newer deploy was first',
      unstarted('failed_outdated_deployment_job', [build('unit', 'success')]),
    ],
    ['a failed test job', deploy(3, 'failed', { environment: null, build_name: 'unit', build_stage: 'test' })],
  ] as const)
    test(what, async (t) => assert.deepEqual(await play(t, [told]), []))
})

describe('a failed deploy job goes on after', () => {
  test('the success of another job', async (t) => {
    const unit = deploy(5, 'success', { environment: null, build_name: 'unit', build_stage: 'test', build_id: 9002 })
    assert.deepEqual(await play(t, [deploy(3, 'failed'), unit]), ['checkout warning firing'])
  })
  test('a deploy to another environment', async (t) => {
    const eu = deploy(5, 'success', { environment: environment('production/eu', 'production'), build_id: 9002 })
    assert.deepEqual(await play(t, [deploy(3, 'failed'), eu]), ['checkout warning firing'])
  })
  test('an earlier success that arrives late', async (t) => {
    const early = deploy(1, 'success', { build_id: 8999 })
    assert.deepEqual(await play(t, [deploy(3, 'failed'), [4, early[1]]]), ['checkout warning firing'])
  })
})
