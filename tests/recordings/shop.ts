/** The demo shop: releases, minor warnings and larger problems, from 90 days ago until tomorrow. */
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/units.ts'
import { CHECKOUT, crashLoop } from './crash-loop.ts'
import { type Ending, pipeline, type Request, rollout, shaOf, type Workload } from './senders.ts'
import { memoryLeak, nodeFailure, type PersonAction, repeated, type Trouble, warning, wrongTag } from './troubles.ts'

export type Story = { readonly requests: readonly Request[]; readonly acts: readonly PersonAction[] }

const WORKLOADS: readonly Workload[] = Object.entries({
  shop: ['checkout', 'storefront', 'cart', 'catalog', 'search', 'recommendations'],
  payments: ['gateway', 'ledger', 'payouts', 'fraud-check'],
  platform: ['auth', 'ingress-nginx', 'mailer', 'postgres', 'rabbitmq'],
}).flatMap(([namespace, names]) => names.map((name) => ({ namespace, name })))

const MINOR = [
  ['SlowRequests', 'p95 above 800 ms for 2 minutes'],
  ['CPUThrottlingHigh', 'A quarter of the CPU time is throttled.'],
  ['QueueGrowing', 'More than 1,000 messages are in the queue.'],
] as const

/** Returns the history around `now` (Unix time in milliseconds). The same seed and time produce the same history. */
export function storyOf(now: number, seed = 1): Story {
  const chance = random(seed)
  const [start, week] = [now - 90 * DAY, now - 7 * DAY]
  const troubles: readonly Trouble[] = [
    ...routine(start, week, now, 2, chance),
    ...routine(week, now + DAY, now, 7, chance),
    ...olderIncidents(start, week, chance),
    memoryLeak(now - 5 * DAY - 3 * HOUR),
    nodeFailure(now - 3 * DAY - 5 * HOUR, 18),
    wrongTag(now - 2 * DAY - HOUR),
    nodeFailure(now - 113 * MINUTE, 31),
    warning(LEDGER, 'KubeDeploymentReplicasMismatch', MISMATCH, now - 98 * MINUTE, now + 5 * HOUR),
    warning({ namespace: 'shop', name: 'search' }, 'KubeHpaMaxedOut', MAXED, now - 4 * HOUR, now + 9 * HOUR),
    crashLoop(now),
    // Shows soon after the start that the shop keeps sending alerts.
    warning({ namespace: 'shop', name: 'recommendations' }, ...MINOR[2], now + 20 * SECOND, now + 6 * MINUTE),
  ]
  const requests = [
    ...first(start),
    ...heartbeats(week, now + DAY),
    ...goodDeploy(now),
    ...troubles.flatMap((one) => one.requests),
  ]
  return {
    requests: requests.sort((a, b) => a.at - b.at),
    acts: troubles.flatMap(({ acts }) => acts).sort((a, b) => a.at - b.at),
  }
}

/** Returns an incident every three to four days, so that the reports have figures for twelve weeks. */
function olderIncidents(from: number, to: number, chance: () => number): Trouble[] {
  const troubles: Trouble[] = []
  for (let n = 0, at = from + DAY; at < to - DAY; n += 1, at += 3 * DAY + Math.floor(chance() * 30 * HOUR)) {
    const kinds = [
      memoryLeak(at, 20 + 2 * n),
      wrongTag(at, 20 + 2 * n),
      nodeFailure(at, 10 + Math.floor(chance() * 50)),
    ]
    troubles.push(pick(kinds, chance))
  }
  return troubles
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
function routine(from: number, to: number, now: number, perDay: number, chance: () => number): Trouble[] {
  const troubles: Trouble[] = []
  let id = perDay === 7 ? 4600 : 4000
  for (let day = from; day < to; day += DAY) {
    for (let n = 0; n < perDay; n += 1) {
      id += 1
      const at = day + Math.floor((n + chance()) * (DAY / perDay))
      const workload = pick(WORKLOADS, chance)
      const end = chance() < 0.75 ? 'deployed' : chance() < 0.5 ? 'tests failed' : 'no deploy'
      const quiet = at > now - 3 * HOUR && at < now + 20 * MINUTE
      if (!quiet && workload.name !== 'checkout') troubles.push(release(workload, id, at, end))
    }
    for (const [name, summary] of MINOR.slice(0, Math.ceil(perDay / 3))) {
      const at = day + Math.floor(chance() * DAY)
      const until = at + Math.floor((4 + chance() * 20) * MINUTE)
      if (at < now - 5 * HOUR || at > now + HOUR)
        troubles.push(warning(pick(WORKLOADS, chance), name, summary, at, until))
    }
  }
  return troubles
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
