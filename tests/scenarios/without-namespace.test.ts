/** An alert names a service, but no namespace, as most rules of Grafana do: a known service can have the name. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Source } from '../../src/domain/event/event.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, grafana, kubernetesEvent } from '../helpers/senders.ts'

const POD = 'payment-6b7c8d9f5-xkq4z'
const started = (namespace: string, clusterName?: string) =>
  ({
    ...kubernetesEvent('Started', POD, { namespace, type: 'Normal' }),
    ...(clusterName ? { clusterName } : {}),
  }) as const
const critical = (labels: Readonly<Record<string, string>>) => alert('HighErrorRate', { namespace: '', ...labels })

/** Returns the services that have alerts, after what Kubernetes and then the alert's sender report. */
async function servicesOf(
  t: Parameters<typeof makeFlow>[0],
  known: readonly Record<string, unknown>[],
  body: unknown,
  source: Source = 'metrics',
) {
  const flow = makeFlow(t)
  for (const event of known) await flow.send('cluster', event, { at: NOON })
  await flow.send(source, body, { at: NOON + MINUTE })
  return flow.alerts().map(({ namespace, service }) => (namespace === '' ? service : `${namespace}/${service}`))
}

describe('an alert belongs to the only service with its name if', () => {
  const stories: readonly (readonly [string, unknown, Source?])[] = [
    ['a rule of Grafana names the service', grafana([critical({ service: 'payment' })]), 'dashboard'],
    ['an application names itself', alertmanager([critical({ app: 'payment' })])],
    ['OpenTelemetry names it', alertmanager([critical({ service_name: 'payment', service_instance_id: '0b9e' })])],
    ["Tempo's graph names the server of an edge", alertmanager([critical({ client: 'checkout', server: 'payment' })])],
    [
      'a prober asks its address',
      alertmanager([critical({ job: 'blackbox', instance: 'http://payment:8080/health' })]),
    ],
  ]
  for (const [title, body, source] of stories) {
    test(title, async (t) => assert.deepEqual(await servicesOf(t, [started('shop')], body, source), ['shop/payment']))
  }

  test('another service with the name is for testing', async (t) => {
    const known = [started('shop'), started('shop-staging')]
    assert.deepEqual(await servicesOf(t, known, alertmanager([critical({ service: 'payment' })])), ['shop/payment'])
  })
})

describe('of a service in production and one for testing, an alert belongs to', () => {
  const known = [started('shop'), started('shop-staging')]
  const stories: readonly (readonly [string, Readonly<Record<string, string>>, string])[] = [
    ['the one in the environment that its label names', { env: 'staging' }, 'shop-staging/payment'],
    ['the one in the environment that OpenTelemetry names', { deployment_environment: 'stg' }, 'shop-staging/payment'],
    ['the one in production if the label says so', { environment: 'prod-eu' }, 'shop/payment'],
    ['the one in production if the label has no known word', { env: 'blue' }, 'shop/payment'],
    ['neither if the label names another environment', { env: 'qa' }, 'payment'],
  ]
  for (const [title, labels, service] of stories)
    for (const source of ['metrics', 'dashboard'] as const)
      test(`${title}, from ${source}`, async (t) => {
        const items = [critical({ app: 'payment', ...labels })]
        const body = source === 'metrics' ? alertmanager(items) : grafana(items)
        assert.deepEqual(await servicesOf(t, known, body, source), [service])
      })
})

describe('an alert keeps a service of its own if', () => {
  const body = alertmanager([critical({ service: 'payment' })])
  const stories: readonly (readonly [string, readonly Record<string, unknown>[], unknown, string])[] = [
    ['two services have the name', [started('shop'), started('billing')], body, 'payment'],
    ['the only service with the name is for testing', [started('shop-staging')], body, 'payment'],
    ['the service has another name', [started('shop')], alertmanager([critical({ service: 'payments' })]), 'payments'],
    [
      'it names another namespace',
      [started('shop')],
      alertmanager([critical({ service: 'payment', namespace: 'billing' })]),
      'billing/payment',
    ],
    [
      'the service is in another cluster',
      [started('shop', 'us')],
      alertmanager([critical({ service: 'payment', cluster: 'eu' })]),
      'payment',
    ],
    [
      'it is about a machine',
      [started('shop')],
      alertmanager([critical({ instance: 'payment:9100', job: 'node' })]),
      'node/payment',
    ],
  ]
  for (const [title, known, told, service] of stories)
    test(title, async (t) => assert.deepEqual(await servicesOf(t, known, told), [service]))
})

test('an outage that Kubernetes and Grafana report is one incident', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', started('shop'), { at: NOON })
  await flow.send('dashboard', grafana([critical({ service: 'payment' })]), { at: NOON + 20 * MINUTE })
  await flow.send('cluster', crashLoop(POD), { at: NOON + 21 * MINUTE })
  await flow.sweepUntil(NOON + 25 * MINUTE)
  assert.equal(flow.incidents().length, 1)
  assert.equal(flow.services().length, 1)
})
