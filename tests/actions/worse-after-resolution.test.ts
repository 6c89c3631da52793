/** An incident that a user resolved while alerts fired: what becomes critical afterwards is news, what was critical is not. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE

/** `Cpu` of `cart` is critical since noon, and `Disk` is milder. A user resolves the incident two minutes later. */
async function resolved(t: TestContext, severity = 'warning') {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const report = (name: string, level: string, from: number, to?: number, key = '') => {
    const times = { startsAt: after(from), ...(to === undefined ? {} : { endsAt: after(to) }) }
    const item = { ...alert(name, { service: 'cart', severity: level }, times), fingerprint: `${name} ${key}` }
    return flow.send('metrics', alertmanager([item]))
  }
  /** Returns what was told until a minute. */
  const told = async (minutes: number) => {
    await flow.sweepUntil(after(minutes), MINUTE / 4)
    return pump(deps).map(({ items, title }) => `${items[0]?.kind}: ${title}`)
  }
  await report('Disk', severity, 0)
  await report('Cpu', 'critical', 0)
  await flow.sweepUntil(after(2))
  await changeIncident(deps, acme.key, flow.incidents()[0]?.id ?? '', { status: 'resolved' }, 'Dana')
  await told(3)
  return { ...flow, report, told }
}

test('a warning that becomes critical brings the incident back at once, whether or not the rest goes on', async (t) => {
  const { report, told, incidents } = await resolved(t)
  await report('Disk', 'critical', 0)
  assert.match(`${await told(3.5)}`, /^again: cart is critical again: /)
  await report('Cpu', 'critical', 0, 3.5)
  assert.deepEqual(await told(8), [])
  const { since, firing } = JSON.parse(incidents()[0]?.problem ?? '{}')
  assert.deepEqual([incidents().length, (since - NOON) / MINUTE, firing], [1, 0, ['Disk']])
})

test('so does a critical item of a rule that also has a warning', async (t) => {
  const { report, told } = await resolved(t)
  await report('Disk', 'critical', 3, undefined, 'of the rule')
  assert.match(`${await told(4)}`, /^again: cart is critical again: /)
})

test('and an error that counts as critical because Kubernetes reports the same', async (t) => {
  const { send, told } = await resolved(t, 'error')
  await send('metrics', alertmanager([alert('PodCrashes', { service: 'cart', severity: 'error', pod: 'cart-1' })]))
  assert.deepEqual(await told(4), [])
  const event = kubernetesEvent('CrashLoopBackOff', 'cart-5d4f8c7b9-x2kqp', { at: after(4) })
  await send('cluster', event, { at: after(4) })
  assert.match(`${await told(6)}`, /^again: cart is critical again: /)
})

test('a warning that becomes an error does not', async (t) => {
  const { report, told } = await resolved(t)
  await report('Disk', 'error', 0)
  assert.deepEqual(await told(10), [])
})

test('what was critical then does not, although it is repeated', async (t) => {
  const { report, told } = await resolved(t)
  await report('Cpu', 'critical', 0)
  assert.deepEqual(await told(10), [])
})

test('what was critical and is milder since does so when it is critical once more', async (t) => {
  const { report, told } = await resolved(t)
  await report('Cpu', 'warning', 0)
  assert.deepEqual(await told(5), [])
  await report('Cpu', 'critical', 0)
  assert.match(`${await told(6)}`, /^again: cart is critical again: /)
})
