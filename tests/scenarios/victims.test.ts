/** Several workloads fail for one reason, with pods on one node: none of them is the cause of another one. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Source } from '../../src/domain/event/event.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'
import { suspectsOf } from '../helpers/suspected.ts'

type Told = readonly [minute: number, source: Source, body: unknown]
const SERVICES = ['cart', 'ledger', 'search']
const podOf = (service: string) => `${service}-5d4f8c7b9-x2kqp`

/** Every service reports the same, a few seconds after the one before. */
const each = (of: (service: string, at: number) => Told) => SERVICES.flatMap((one, n) => [of(one, n / 10)])
const event = (reason: string, message: (service: string) => string, more: { count?: number } = {}) =>
  each((service, minute) => {
    const at = NOON + minute * MINUTE
    const about = { message: message(service), node: 'worker-9', at, ...more }
    return [minute, 'cluster', kubernetesEvent(reason, podOf(service), about)]
  })
const fires = (source: Source, labels: Readonly<Record<string, string>> = {}) =>
  each((service, minute) => {
    const known = { pod: podOf(service), node: 'worker-9', ...labels }
    const body = alertmanager([alert('PodDown', known, { startsAt: NOON + minute * MINUTE })], { groupKey: service })
    return [minute, source, body]
  })

const DENIED = 'failed to pull and unpack image: unexpected status: 401 Unauthorized: no basic auth credentials'
const stories: readonly (readonly [string, readonly Told[]])[] = [
  [
    'their pull secret has expired',
    event('Failed', (one) => `Failed to pull image "registry.example.com/shop/${one}:1": ${DENIED}`, { count: 4 }),
  ],
  [
    'a secret that they mount is missing',
    event('FailedMount', () => 'MountVolume.SetUp failed for volume "tls": secret "tls" not found', { count: 5 }),
  ],
  ['they crash', event('BackOff', () => 'Back-off restarting failed container app', { count: 6 })],
  ['Prometheus reports their pods', fires('metrics')],
  ['Grafana reports their pods', fires('dashboard')],
]

describe('no victim leads the list of another one, nor is its likely cause, if', () => {
  for (const [title, told] of stories)
    test(title, async (t) => {
      const flow = makeFlow(t)
      for (const [minute, source, body] of told) await flow.send(source, body, { at: NOON + minute * MINUTE })
      await flow.sweepUntil(NOON + 3 * MINUTE)
      for (const service of SERVICES) {
        const [first, ...others] = suspectsOf(flow, service)
        assert.equal(first?.ref, `shop/${service}`)
        assert.ok(others.every(({ score }) => score < 0.5))
      }
    })
})
