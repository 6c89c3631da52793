/** Silences during deploys, enabled by a setting. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { changeOrganization } from '../../src/actions/organizations.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, build, iso, pipeline } from '../helpers/senders.ts'

const DOWN = alert('CartDown', { deployment: 'cart', namespace: 'shop' }, { startsAt: NOON })

async function deploying(t: TestContext, minutes: number) {
  const flow = makeFlow(t)
  await changeOrganization(flow.deps, flow.acme.key, { settings: { 'deploy-silence-minutes': minutes } })
  const deploy = (status: string, startedAt = NOON) => {
    const job = build('deploy', status, {
      started_at: iso(startedAt),
      finished_at: status === 'running' ? null : iso(flow.clock.now),
    })
    return flow.send('ci', pipeline(status, 'shop/cart', { jobs: [job] }))
  }
  const silences = () =>
    flow.deps.db
      .all(flow.deps.db.sql.selectFrom('silences').select(['comment', 'created_by', 'starts_at', 'ends_at']))
      .map(({ comment, created_by, starts_at, ends_at }) => [comment, created_by, (ends_at - starts_at) / MINUTE])
  return { ...flow, deploy, silences }
}

test('a running deploy silences its service for at most the configured minutes', async (t) => {
  const { deploy, silences, send, incidents } = await deploying(t, 15)
  await deploy('running')
  await deploy('running')
  await send('metrics', alertmanager([DOWN]))
  assert.deepEqual(silences(), [['Deploy shop/cart#31 is running', 'incmon', 15]])
  assert.equal(incidents().length, 0)
})

test('the silence ends with the deploy, and alerts still firing open their incident', async (t) => {
  const { deploy, silences, send, clock, incidents } = await deploying(t, 15)
  await deploy('running')
  await send('metrics', alertmanager([DOWN]))
  clock.now += 5 * MINUTE
  await deploy('failed')
  assert.deepEqual(silences()[0]?.[2], 5)
  assert.equal(incidents().length, 1)
})

test('a deploy that hangs is silenced no longer than configured', async (t) => {
  const { deploy, send, incidents, sweepUntil } = await deploying(t, 15)
  await deploy('running')
  await send('metrics', alertmanager([DOWN]))
  await sweepUntil(NOON + 16 * MINUTE)
  assert.equal(incidents().length, 1)
})

test('a late notification silences nothing', async (t) => {
  const { deploy, silences } = await deploying(t, 15)
  await deploy('running', NOON - 20 * MINUTE)
  assert.deepEqual(silences(), [])
})

test('without the setting a deploy silences nothing', async (t) => {
  const { deploy, silences, send, incidents } = await deploying(t, 0)
  await deploy('running')
  await send('metrics', alertmanager([DOWN]))
  assert.deepEqual([silences(), incidents().length], [[], 1])
})

test('the deploy of another project with the same name silences nothing', async (t) => {
  const { send, silences } = await deploying(t, 15)
  await send('metrics', alertmanager([DOWN]))
  const job = build('deploy', 'running', { started_at: iso(NOON), finished_at: null })
  await send('ci', pipeline('running', 'other/cart', { jobs: [job] }))
  assert.deepEqual(silences(), [])
})
