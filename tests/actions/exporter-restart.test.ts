/** A restarted exporter changes fingerprints, but an ongoing problem is still one alert. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { type AlertMore, alert, alertmanager } from '../helpers/senders.ts'

const POD = 'cart-5d4f8c7b9-x2kqp'

/** Returns an alert from kube-state-metrics about a pod, with the exporter's `instance` label. */
function crash(instance: string, more: AlertMore = {}, pod = POD) {
  const labels = { job: 'kube-state-metrics', service: 'kube-state-metrics', instance, pod, container: 'app' }
  return alert('KubePodCrashLooping', { ...labels, severity: 'warning' }, { startsAt: NOON, ...more })
}
const OLD = '10.0.0.7:8080'
const NEW = '10.0.0.9:8080'

function fate(flow: Flow) {
  return flow.alerts().map(({ status, occurrences }) => [status, occurrences])
}

test('a restarted exporter keeps the alert under its first fingerprint', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([crash(OLD)]))
  const [before] = flow.alerts()
  await flow.send('metrics', alertmanager([crash(NEW, { startsAt: NOON + 5 * MINUTE })]), { at: NOON + 5 * MINUTE })
  assert.deepEqual([fate(flow), flow.alerts()[0]?.fingerprint], [[['firing', 2]], before?.fingerprint])
})

test('an alert ends when its last fingerprint has ended', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([crash(OLD)]))
  await flow.send('metrics', alertmanager([crash(NEW)]), { at: NOON + 5 * MINUTE })
  await flow.send('metrics', alertmanager([crash(OLD, { endsAt: NOON + 6 * MINUTE })]), { at: NOON + 6 * MINUTE })
  assert.equal(flow.alerts()[0]?.status, 'firing')
  await flow.send('metrics', alertmanager([crash(NEW, { endsAt: NOON + 9 * MINUTE })]), { at: NOON + 9 * MINUTE })
  assert.deepEqual([flow.alerts().length, flow.alerts()[0]?.ends_at], [1, NOON + 9 * MINUTE])
})

test('a restart of incmon keeps all fingerprints', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([crash(OLD)]))
  flow.restart()
  await flow.send('metrics', alertmanager([crash(NEW)]))
  flow.restart()
  await flow.send('metrics', alertmanager([crash(OLD)]))
  assert.deepEqual(fate(flow), [['firing', 3]])
})

test('an old fingerprint joins the alert that fires under a newer one', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([crash(OLD)]))
  await flow.send('metrics', alertmanager([crash(OLD, { endsAt: NOON + MINUTE })]), { at: NOON + MINUTE })
  const later = NOON + 60 * MINUTE
  await flow.send('metrics', alertmanager([crash(NEW, { startsAt: later })]), { at: later })
  await flow.send('metrics', alertmanager([crash(OLD, { startsAt: later })]), { at: later + MINUTE })
  assert.deepEqual(fate(flow), [
    ['resolved', 1],
    ['firing', 2],
  ])
})

test('another pod or target label means another alert', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([crash(OLD), crash(OLD, {}, 'cart-5d4f8c7b9-zzzzz')]))
  assert.deepEqual([flow.alerts().length, flow.services().length], [2, 1])
})

test('Charlie has a separate alert for the same exporter and pod', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([crash(OLD)]))
  await flow.send('metrics', alertmanager([crash(NEW)]), { as: flow.charlie })
  await flow.send('metrics', alertmanager([crash(NEW, { endsAt: NOON + MINUTE })]), { as: flow.charlie })
  assert.deepEqual([fate(flow), flow.alerts(flow.charlie)[0]?.status], [[['firing', 1]], 'resolved'])
})

test('a fingerprint with line breaks is one fingerprint, with and without a cluster', async (t) => {
  const flow = makeFlow(t)
  const odd = (more: AlertMore = {}) =>
    alertmanager([alert('Odd', {}, { fingerprint: 'a\nb', startsAt: NOON, ...more })])
  for (const cluster of ['', 'staging']) {
    await flow.send('metrics', odd(), { cluster })
    await flow.send('metrics', odd({ endsAt: NOON + MINUTE }), { cluster, at: NOON + MINUTE })
  }
  assert.deepEqual(fate(flow), [
    ['resolved', 1],
    ['resolved', 1],
  ])
})
