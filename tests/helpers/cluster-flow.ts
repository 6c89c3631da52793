/** An organization that gets Kubernetes events, and a channel that gets everything. Times are in seconds after noon. */
import type { TestContext } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { NOON } from './factory.ts'
import { makeFlow } from './flow.ts'
import { pump } from './pump.ts'
import { type KubernetesMore, kubernetesEvent } from './senders.ts'

export const SECOND = 1_000
const STEP = 5 * SECOND

/** `sent`: the kind and the title of each message, without its details. */
export function clusterFlow(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const sent: string[] = []
  const until = async (seconds: number) => {
    const end = NOON + seconds * SECOND
    while (clock.now < end) {
      await flow.sweepUntil(Math.min(end, clock.now + STEP), STEP)
      const texts = pump(deps).map(({ items, title }) => `${items[0]?.kind}: ${title}`)
      sent.push(...texts.map((text) => text.replace(/ \(.*|, last reported.*/, '')))
    }
  }
  const report = async (seconds: number, reason: string, object: string, more: KubernetesMore = {}) => {
    await until(seconds)
    await flow.send('cluster', kubernetesEvent(reason, object, { at: NOON + seconds * SECOND, ...more }))
  }
  return { ...flow, until, report, sent }
}
