/** The example that fills an empty installation: six workloads, a bad deploy of one, and its crash loop. */

import { crashLoop } from './crash-loop.ts'
import { DAY, HOUR, MINUTE, pipeline, type Request, rollout, shaOf } from './senders.ts'
import { WORKLOADS } from './week.ts'

/** Returns the requests of the last day before `now`, in order of time. The storm does not end. */
export function exampleOf(now: number): readonly Request[] {
  const shop = WORKLOADS.filter(({ namespace }) => namespace === 'shop')
  const started = shop.flatMap((workload, n) => rollout(now - DAY + n * MINUTE, workload, 1, shaOf(workload.name, 1)))
  const good = { project: 'shop/checkout', id: 4702, from: now - 11 * HOUR, until: now - 11 * HOUR + 4 * MINUTE }
  const requests = [
    ...started,
    ...pipeline({ ...good, sha: shaOf('checkout', 11), end: 'deployed' }),
    ...shop.slice(0, 1).flatMap((checkout) => rollout(good.from + MINUTE, checkout, 11, shaOf('checkout', 11))),
    ...crashLoop(now).requests,
  ]
  return requests
    .filter(({ at }) => at <= now)
    .sort((a, b) => a.at - b.at)
    .map((request) => ({ ...request, body: renamed(request.body) }))
}

/** Gives the shop a unique namespace, so that its services never match those of another cluster. */
function renamed(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body).replaceAll(/\bshop\b/g, 'example-shop'))
}
