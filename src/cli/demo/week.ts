/** The demo shop's week: releases, minor warnings and larger problems, from seven days ago until tomorrow. */

import { CHECKOUT, crashLoop } from './crash-loop.ts'
import { DAY, type Ending, HOUR, MINUTE, pipeline, type Request, rollout, shaOf, type Workload } from './senders.ts'
import { memoryLeak, nodeFailure, type PersonAction, repeated, type Trouble, warning, wrongTag } from './troubles.ts'

export type Story = { readonly requests: readonly Request[]; readonly acts: readonly PersonAction[] }

const WORKLOADS: readonly Workload[] = Object.entries({
  shop: ['checkout', 'storefront', 'cart', 'catalog', 'search', 'recommendations'],
  payments: ['gateway', 'ledger', 'payouts', 'fraud-check'],
  platform: ['auth', 'ingress-nginx', 'mailer', 'postgres', 'rabbitmq'],
}).flatMap(([namespace, names]) => names.map((name) => ({ namespace, name })))

const RELEASES_PER_DAY = 7
const MINOR = [
  ['SlowRequests', 'p95 above 800 ms for 2 minutes'],
  ['CPUThrottlingHigh', 'A quarter of the CPU time is throttled.'],
  ['QueueGrowing', 'More than 1,000 messages are in the queue.'],
] as const

/** Returns the week around `now` (Unix time in milliseconds). The same seed and time produce the same week. */
export function weekOf(now: number, seed: number): Story {
  const chance = random(seed)
  const start = now - 7 * DAY
  const troubles: readonly Trouble[] = [
    ...routine(start, now + DAY, now, chance),
    memoryLeak(now - 5 * DAY - 3 * HOUR),
    nodeFailure(now - 3 * DAY - 5 * HOUR, 18),
    wrongTag(now - 2 * DAY - HOUR),
    nodeFailure(now - 113 * MINUTE, 31),
    warning(LEDGER, 'KubeDeploymentReplicasMismatch', MISMATCH, now - 98 * MINUTE, now + 5 * HOUR),
    warning({ namespace: 'shop', name: 'search' }, 'KubeHpaMaxedOut', MAXED, now - 4 * HOUR, now + 9 * HOUR),
    crashLoop(now),
  ]
  const requests = [...first(start), ...heartbeats(start, now + DAY), ...troubles.flatMap((one) => one.requests)]
  return {
    requests: requests.sort((a, b) => a.at - b.at),
    acts: troubles.flatMap(({ acts }) => acts).sort((a, b) => a.at - b.at),
  }
}

const LEDGER: Workload = { namespace: 'payments', name: 'ledger' }
const MISMATCH = 'Deployment has not matched the expected number of replicas.'
const MAXED = 'HPA has been running at max replicas for longer than 15 minutes.'

/** Returns one event per workload, so that all services exist from the first day. */
function first(start: number): Request[] {
  return WORKLOADS.flatMap((workload, n) => rollout(start + n * MINUTE, workload, 1, shaOf(workload.name, 1)))
}

function heartbeats(from: number, to: number): Request[] {
  const labels = { namespace: 'monitoring' }
  const watchdog = { name: 'Watchdog', severity: 'none', summary: 'Alerting works.', labels, startsAt: from }
  return repeated('watchdog', [watchdog], from, to, 5 * MINUTE)
}

/** Returns releases and minor warnings for each day. The last hours are quiet so that the open incident stands out. */
function routine(from: number, to: number, now: number, chance: () => number): Trouble[] {
  const troubles: Trouble[] = []
  let id = 4600
  for (let day = from; day < to; day += DAY) {
    for (let n = 0; n < RELEASES_PER_DAY; n += 1) {
      id += 1
      const at = day + Math.floor((n + chance()) * (DAY / RELEASES_PER_DAY))
      const workload = pick(WORKLOADS, chance)
      const end = chance() < 0.75 ? 'deployed' : chance() < 0.5 ? 'tests failed' : 'no deploy'
      const quiet = at > now - 3 * HOUR && at < now + 20 * MINUTE
      if (!quiet && workload.name !== 'checkout') troubles.push(release(workload, id, at, end))
    }
    for (const [name, summary] of MINOR) {
      const at = day + Math.floor(chance() * DAY)
      const until = at + Math.floor((4 + chance() * 20) * MINUTE)
      if (at < now - 5 * HOUR || at > now + HOUR)
        troubles.push(warning(pick(WORKLOADS, chance), name, summary, at, until))
    }
  }
  return [...troubles, { requests: goodDeploy(now), acts: [] }]
}

/** Returns the last deploy of `checkout` before the open incident. */
function goodDeploy(now: number): Request[] {
  const [from, sha] = [now - 11 * HOUR, shaOf('checkout', 11)]
  const run = { id: 4702, from, until: from + 4 * MINUTE, sha }
  return [...pipeline(CHECKOUT, run), ...rollout(from + MINUTE, CHECKOUT, 11, sha)]
}

function release(workload: Workload, id: number, from: number, end: Ending): Trouble {
  const sha = shaOf(workload.name, id)
  const until = from + 4 * MINUTE
  const requests = pipeline(workload, { id, from, until, sha, end })
  return {
    requests: end === 'deployed' ? [...requests, ...rollout(from + MINUTE, workload, id, sha)] : requests,
    acts: [],
  }
}

function pick<Item>(items: readonly Item[], chance: () => number): Item {
  const item = items[Math.floor(chance() * items.length)]
  if (item === undefined) throw new RangeError('there is nothing to pick from')
  return item
}

/**
 * Returns a pseudo-random number generator (mulberry32) with values from 0 to 1. The same seed produces the same
 * numbers.
 */
function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * Returns the example data for an empty installation: six workloads, a bad deploy of one workload, and the resulting
 * crash loop. The requests cover the day before `now`, in chronological order. The alert storm does not end.
 */
export function exampleOf(now: number): readonly Request[] {
  const shop = WORKLOADS.filter(({ namespace }) => namespace === 'shop')
  const started = shop.flatMap((workload, n) => rollout(now - DAY + n * MINUTE, workload, 1, shaOf(workload.name, 1)))
  const requests = [...started, ...goodDeploy(now), ...crashLoop(now).requests]
  return requests
    .filter(({ at }) => at <= now)
    .sort((a, b) => a.at - b.at)
    .map((request) => ({ ...request, body: renamed(request.body) }))
}

/** Gives the shop a unique namespace, so that its services never match services in another cluster. */
function renamed(body: object): object {
  return JSON.parse(JSON.stringify(body).replaceAll(/(?<![a-z\d])shop\b/g, 'example-shop'))
}
