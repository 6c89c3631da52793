/** Kubernetes events of one organization: with a channel that gets everything, in seconds, or alone, in minutes after noon. */
import type { TestContext } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { MINUTE, NOON } from './factory.ts'
import { type Flow, makeFlow } from './flow.ts'
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

export type Told = readonly [minute: number, reason: string, name: string, more?: KubernetesMore]

/** Plays events with the sweep in between. `until`: the minute in which the story ends. */
export async function playEvents(t: TestContext, told: readonly Told[], until = 10): Promise<Flow> {
  const flow = makeFlow(t)
  for (const [minute, reason, name, more] of told) {
    const at = NOON + minute * MINUTE
    await flow.sweepUntil(at, MINUTE / 2)
    await flow.send('cluster', kubernetesEvent(reason, name, { at, ...more }), { at })
  }
  await flow.sweepUntil(NOON + until * MINUTE, MINUTE / 2)
  return flow
}
