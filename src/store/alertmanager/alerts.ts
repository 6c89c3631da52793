/** The alerts of Alertmanager's API as JSON. They are read in a worker thread, because there can be tens of thousands. */
import { BUDGETS } from '../../domain/budgets.ts'
import { IncmonError } from '../../domain/error.ts'
import type { Labels } from '../../domain/event/event.ts'
import { explainedByNodes } from '../../domain/health/node-trouble.ts'
import { cacheByKey, cacheLast, once } from '../../domain/memoize.ts'
import { receiversOf, receiverTest } from '../../domain/notification/audience.ts'
import { labelTest, type Matcher, type Steps, stepsOfRead } from '../../domain/silence/matcher.ts'
import { statusOf } from '../../domain/silence/silence.ts'
import type { Db } from '../sqlite/open.ts'
import { byFingerprint, type FiringFingerprint, findFiringView, type Place } from './firing.ts'
import { createTexts, type Texts } from './texts.ts'

type FiringView = ReturnType<typeof findFiringView>

/** Which alerts are wanted. Regular expressions are valid. */
export type Wanted = {
  readonly matchers: readonly Matcher[]
  /** The matcher for the names of receivers; null if every receiver is wanted. */
  readonly receiver: Matcher | null
  readonly active: boolean
  readonly silenced: boolean
  readonly inhibited: boolean
  readonly now: number
  /** When an alert without an end expires after it was last seen, in milliseconds. */
  readonly resolveTimeout: number
}

/** An alert, and the number of its response in `Texts`. */
export type Shown = {
  readonly fingerprint: string
  readonly labels: string
  readonly receivers: readonly string[]
  readonly text: number
  readonly isMuted: boolean
}

/** Returns a JSON list of the wanted alerts. @throws IncmonError `invalid` if it would be too large */
export function findAlertsJson(db: Db, organizationId: number, wanted: Wanted): Uint8Array<ArrayBuffer> {
  const texts = createTexts()
  const shown = shownAlerts(db, organizationId, wanted, texts)
  return texts.joined(['[', ...separated(shown), ']'])
}

/** Returns the texts of alerts with commas between them. */
export function separated(alerts: readonly Shown[]): (number | string)[] {
  return alerts.flatMap(({ text }, index) => (index === 0 ? text : [',', text]))
}

const LARGEST = BUDGETS['alertmanager-answer'].value

/** Returns a function that adds up sizes. It throws an IncmonError `invalid` if the answer would be too large. */
export function sizeLimit(what: 'alerts' | 'groups'): (bytes: number) => void {
  let size = 0
  return (bytes) => {
    size += bytes
    if (size <= LARGEST) return
    const why = `the ${what} have more than ${LARGEST / 2 ** 20} MiB`
    throw new IncmonError('invalid', `${why}; ask for one receiver, or filter the alerts`)
  }
}

/**
 * Returns the wanted alerts in the order of their fingerprints.
 * @throws IncmonError `invalid` if they would be too large
 */
export function shownAlerts(db: Db, organizationId: number, wanted: Wanted, texts: Texts): readonly Shown[] {
  const { matchers, active, silenced, inhibited, now } = wanted
  const view = findFiringView(db, organizationId, now)
  const [receivers, inhibitors] = [receiversOf(view.channels), inhibitorsOf(view)]
  const matches = matchers.length === 0 ? null : labelTest(matchers)
  const isOfReceiver = receiverTest(wanted.receiver)
  const { steps, check } = stepsOfRead()
  const [silencesOf, placeOf, textOf] = [silencesIn(view, now, steps), placesIn(view), textsOf(wanted)]
  const shown: Shown[] = []
  const grow = sizeLimit('alerts')
  for (const one of view.fingerprints()) {
    check()
    const labels = labelsOf(one)
    const silencedBy = silencesOf(one, labels)
    const inhibitedBy = inhibitors(one)
    const isMuted = silencedBy.length + inhibitedBy.length > 0
    if ((!active && !isMuted) || (!silenced && silencedBy.length > 0) || (!inhibited && inhibitedBy.length > 0))
      continue
    if (matches && !matches(labels(), steps)) continue
    const names = receivers({ ...placeOf(one), severity: one.severity, steps }, () => ({
      source: one.source,
      severity: one.severity,
      alertname: labels().alertname ?? '',
      labels: labels(),
    }))
    if (!names.some(isOfReceiver)) continue
    const own = one.patch === null ? one.labels : JSON.stringify(labels())
    const text = texts.add(textOf(one, { labels: own, names, silencedBy, inhibitedBy }))
    grow(texts.size(text))
    shown.push({ fingerprint: one.fingerprint, labels: own, receivers: names, isMuted, text })
  }
  check()
  return shown.sort(byFingerprint)
}

/** Returns the labels of the fingerprint, which are parsed at most once. */
function labelsOf({ labels, patch }: FiringFingerprint): () => Labels {
  return once(() => {
    const own: Record<string, string | null> = JSON.parse(labels)
    const changes: Record<string, string | null> = patch === null ? {} : JSON.parse(patch)
    for (const name of Object.keys(changes)) {
      Object.defineProperty(own, name, { value: changes[name], enumerable: true, configurable: true, writable: true })
      if (changes[name] === null) delete own[name]
    }
    return own as Labels
  })
}

/** What is not in the row of an alert. */
type Found = {
  readonly labels: string
  readonly names: readonly string[]
  readonly silencedBy: readonly string[]
  readonly inhibitedBy: readonly string[]
}

/**
 * Returns a function that builds the JSON text of an alert. Stored JSON is copied, and equal parts of different alerts
 * are formatted once, because formatting ten thousand alerts would be slow.
 */
function textsOf({ now, resolveTimeout }: Wanted): (one: FiringFingerprint, found: Found) => string {
  const time = cacheByKey(identity<number>, (at) => new Date(at).toISOString())
  const receivers = cacheLast((names: readonly string[]) => JSON.stringify(names.map((name) => ({ name }))))
  return (one, { labels, names, silencedBy, inhibitedBy }) => {
    const isMuted = silencedBy.length + inhibitedBy.length > 0
    const status = isMuted ? JSON.stringify({ inhibitedBy, mutedBy: [], silencedBy, state: 'suppressed' }) : ACTIVE
    const endsAt = Math.max(one.expiresAt ?? one.lastSeenAt + resolveTimeout, now)
    const times = `"endsAt":"${time(endsAt)}","startsAt":"${time(one.startsAt)}","updatedAt":"${time(one.updatedAt)}"`
    const generator = one.generator === null ? generatorIn(one.links) : JSON.stringify(one.generator)
    const more = generator === undefined ? '' : `,"generatorURL":${generator}`
    const id = `"fingerprint":${JSON.stringify(one.fingerprint)}`
    return `{"annotations":${one.annotations},${times},${id},"receivers":${receivers(names)},"status":${status}${more},"labels":${labels}}`
  }
}

const ACTIVE = JSON.stringify({ inhibitedBy: [], mutedBy: [], silencedBy: [], state: 'active' })
const identity = <Value>(value: Value) => value
/** The link to the rule is usually the first one. */
const FIRST_LINK = /^\{"generator":("(?:[^"\\]|\\.)*")/

/** Returns the link to the rule as JSON. */
function generatorIn(links: string): string | undefined {
  const [, first] = FIRST_LINK.exec(links) ?? []
  return first ?? JSON.stringify((JSON.parse(links) as { generator?: string }).generator)
}

function placesIn({ places }: FiringView): (one: FiringFingerprint) => Place {
  return ({ serviceRowId }) => places.get(serviceRowId) ?? NOWHERE
}

const NOWHERE: Place = { serviceId: '', cluster: '', namespace: '', service: '' }

/**
 * Returns a function that lists the silences of a fingerprint. Silences from this API compare its own labels, as in
 * Alertmanager.
 */
function silencesIn({ silences, labelSilences }: FiringView, now: number, steps: Steps) {
  const active = labelSilences.filter((silence) => statusOf(silence, now) === 'active')
  const tests = active.map(({ id, matchers }) => ({ id, matches: labelTest(matchers) }))
  return ({ id }: FiringFingerprint, labels: () => Labels): readonly string[] => {
    const found = silences.get(id) ?? NONE
    const own = tests.filter(({ matches }) => matches(labels(), steps))
    return own.length === 0 ? found : [...found, ...own.map((silence) => silence.id)].sort()
  }
}

/**
 * Returns a function that lists the fingerprints that explain an alert: those of its node, or those of the incident that
 * leads the group of the alert's incident.
 */
function inhibitorsOf(view: FiringView): (one: FiringFingerprint) => readonly string[] {
  const { nodeAlerts, leaders } = view
  if (nodeAlerts.length === 0 && leaders.size === 0) return () => NONE
  const placeOf = placesIn(view)
  const byNode = Map.groupBy(nodeAlerts, ({ cluster, service }) => `${cluster}\0${service}`)
  const leading = new Set(leaders.values())
  const ofLeaders = new Map<number, string[]>()
  for (const { incidentId, fingerprint } of leading.size === 0 ? [] : view.fingerprints()) {
    if (incidentId === null || !leading.has(incidentId)) continue
    const known = ofLeaders.get(incidentId)
    if (known) known.push(fingerprint)
    else ofLeaders.set(incidentId, [fingerprint])
  }
  for (const fingerprints of ofLeaders.values()) fingerprints.sort()
  return (one) => {
    const leader = leaders.get(one.incidentId ?? 0)
    const ofLeader = (leader && ofLeaders.get(leader)) || NONE
    if (one.node === null) return ofLeader
    const { cluster, service } = placeOf(one)
    const nodes = byNode.get(`${cluster}\0node/${one.node}`)
    if (!nodes || service === `node/${one.node}`) return ofLeader
    const condition = {
      ...{ ...one, uuid: one.fingerprint, status: 'firing' as const, endsAt: null },
      receivedAt: one.updatedAt,
    }
    const explains = ({ startsAt }: { startsAt: number }) =>
      explainedByNodes([condition], [{ node: one.node ?? '', startsAt, endsAt: null }], { now: 0 }).size > 0
    const ofNode = nodes.filter(explains).map(({ fingerprint }) => fingerprint)
    return ofNode.length > 0 ? ofNode : ofLeader
  }
}

const NONE: readonly string[] = []
