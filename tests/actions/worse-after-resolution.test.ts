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
  assert.deepEqual(await told(3.5), ['again: cart is critical again: Disk is firing, too.'])
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

for (const [what, minute, said] of [
  ['while the rest goes on', 3, 'Cpu (instance h2) is firing, too.'],
  ['after the rest has ended', 4, 'cart has been critical since 12:04 UTC (15 s, 3 min 15 s in all).'],
] as const)
  test(`the same alert on another machine that fires ${what} is named`, async (t) => {
    const { send, report, told } = await resolved(t, 'info')
    const labels = { service: 'cart', severity: 'critical', instance: 'h2' }
    if (minute === 4) await report('Cpu', 'critical', 0, 3)
    assert.deepEqual(await told(minute), [])
    const item = { ...alert('Cpu', labels, { startsAt: after(minute), summary: 'h2 is hot' }), fingerprint: 'h2' }
    await send('metrics', alertmanager([item]))
    assert.deepEqual(await told(minute + 0.25), [`again: cart is critical again: ${said}`])
  })

test('the body quotes what is new first, and names what goes on', async (t) => {
  const { send, deps, sweepUntil } = await resolved(t, 'info')
  await send(
    'metrics',
    alertmanager([alert('Memory', { service: 'cart', severity: 'critical' }, { startsAt: after(3) })]),
  )
  await sweepUntil(after(3.5))
  const [message] = pump(deps)
  assert.equal(message?.title, 'cart is critical again: Memory is firing, too.')
  assert.match(message?.body ?? '', /^Memory: Memory fires; Cpu: Cpu fires\. Nobody is on it\. /)
})
