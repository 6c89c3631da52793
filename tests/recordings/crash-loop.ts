/** The demo shop's open incident: a crashing release and the alert storm that it causes. */
import { MINUTE, SECOND } from '../../src/domain/units.ts'
import { alertmanager, event, type Firing, nodeOf, pipeline, podsOf, rollout, shaOf, type Workload } from './senders.ts'
import { repeated, type Trouble } from './troubles.ts'

export const CHECKOUT: Workload = { namespace: 'shop', name: 'checkout' }

/** The number of alerts per notification during the storm. */
const GROUP_SIZE = 110
const GROUP_STARTS = [0, 110, 220, 330]
const STORM_REPEAT = 3 * MINUTE

/** Returns a release that crashes immediately and causes an alert storm. A rollback follows 14 minutes after `now`. */
export function crashLoop(now: number): Trouble {
  const deploy = now - 15 * MINUTE
  const [first, end] = [now - 12 * MINUTE, now + 14 * MINUTE]
  const [sha, back] = [shaOf('checkout', 12), shaOf('checkout', 11)]
  const pods = podsOf(CHECKOUT, 12, 6)
  const message = (pod: string) => `Back-off restarting failed container checkout in pod ${pod}_shop`
  const crashes = pods.flatMap((pod, n) => {
    const since = first + n * 12 * SECOND
    return [0, 1, 3, 6, 11, 20].map((minutes, index) => {
      const more = { message: message(pod), node: nodeOf(n), count: index + 1, since }
      return event(since + minutes * MINUTE, 'shop', pod, 'BackOff', more)
    })
  })
  const looping = pods.map((pod): Firing => {
    const labels = { namespace: 'shop', pod, container: 'checkout' }
    const summary = 'Pod is crash looping.'
    const period = { startsAt: now - 11 * MINUTE, endsAt: end }
    return { name: 'KubePodCrashLooping', severity: 'warning', summary, labels, ...period }
  })
  const storm = Array.from({ length: 440 }, (_, n): Firing => {
    const where = { route: `/checkout/step-${n % 11}`, pod: `edge-${n % 40}` }
    const labels = { namespace: 'shop', deployment: 'checkout', ...where }
    const startsAt = now - 9 * MINUTE + (n % 12) * 20 * SECOND
    const summary = 'More than 5 % of requests fail'
    return { name: 'HighErrorRate', severity: 'warning', summary, labels, startsAt, endsAt: end }
  })
  const reports = (at: number) =>
    GROUP_STARTS.map((n) => {
      const begun = storm.slice(n, n + GROUP_SIZE).filter(({ startsAt }) => startsAt <= at)
      return alertmanager(at, `storm ${n}`, begun)
    })
  const store = (name: string, severity: string, summary: string, minutes: number): Firing => {
    const labels = { namespace: 'shop', deployment: 'storefront' }
    return { name, severity, summary, labels, startsAt: now - minutes * MINUTE, endsAt: end }
  }
  const shopfront = [
    store('HighErrorRate', 'error', 'More than 10 % of requests fail: POST /order', 10),
    store('SlowRequests', 'warning', 'p95 above 800 ms for 2 minutes', 8),
  ]
  const revert = { id: 4712, from: now + 9 * MINUTE, until: now + 12 * MINUTE }
  return {
    requests: [
      ...pipeline(CHECKOUT, { id: 4711, from: deploy, until: now - 11 * MINUTE, sha, title: 'Ask for the tax number' }),
      ...rollout(deploy + 90 * SECOND, CHECKOUT, 12, sha),
      ...crashes,
      ...repeated('crash', looping, now - 11 * MINUTE, end),
      ...Array.from({ length: 8 }, (_, n) => reports(now - 9 * MINUTE + n * STORM_REPEAT)).flat(),
      ...repeated('shopfront', shopfront, now - 8 * MINUTE, end),
      ...pipeline(CHECKOUT, { ...revert, sha: back, title: 'Revert "Ask for the tax number"' }),
      ...rollout(now + 10 * MINUTE, CHECKOUT, 13, back),
      ...reports(end),
    ],
    acts: [],
  }
}
