/** The alerts of Alertmanager's API as JSON. They are read in a worker thread, because there can be tens of thousands. */
import type { Labels } from '../../domain/event/event.ts'
import { explainedByNodes } from '../../domain/health/node-trouble.ts'
import { once } from '../../domain/memoize.ts'
import { receiversOf, receiverTest } from '../../domain/notification/receivers.ts'
import { labelTest, type Matcher } from '../../domain/silence/matcher.ts'
import { statusOf } from '../../domain/silence/silence.ts'
import type { Db } from '../sqlite/open.ts'
import { type FiringFingerprint, type FiringView, listFiringFingerprints } from './firing.ts'

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

/** An alert, and its response as JSON. */
export type Shown = {
  readonly labels: () => Labels
  readonly receivers: readonly string[]
  readonly json: string
  readonly isMuted: boolean
}

/** Returns a JSON list of the wanted alerts. */
export function findAlertsJson(db: Db, organizationId: number, wanted: Wanted): Uint8Array<ArrayBuffer> {
  const shown = shownAlerts(db, organizationId, wanted)
  return encoded(shown.map(({ json }) => json))
}

const encoder = new TextEncoder()

/** Encodes a JSON list here, so that the main thread does not have to. */
export function encoded(items: readonly string[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(`[${items.join(',')}]`)
}

/** Returns the wanted alerts in the order of their fingerprints. */
export function shownAlerts(db: Db, organizationId: number, wanted: Wanted): readonly Shown[] {
  const { matchers, active, silenced, inhibited, now } = wanted
  const view = listFiringFingerprints(db, organizationId, now)
  const [receivers, inhibitors] = [receiversOf(view.channels), inhibitorsOf(view)]
  const matches = matchers.length === 0 ? null : labelTest(matchers)
  const isOfReceiver = receiverTest(wanted.receiver)
  const silencesOf = silencesIn(view, now)
  return view.fingerprints.flatMap((one) => {
    const labels = labelsOf(one)
    const silencedBy = silencesOf(one, labels)
    const inhibitedBy = inhibitors(one)
    const isMuted = silencedBy.length + inhibitedBy.length > 0
    if ((!active && !isMuted) || (!silenced && silencedBy.length > 0) || (!inhibited && inhibitedBy.length > 0))
      return []
    if (matches && !matches(labels())) return []
    const names = receivers(one, () => ({
      source: one.source,
      severity: one.severity,
      alertname: labels().alertname ?? '',
      labels: labels(),
    }))
    if (!names.some(isOfReceiver)) return []
    const json = textOf(one, { labels, names, silencedBy, inhibitedBy, ...wanted })
    return { labels, receivers: names, isMuted, json }
  })
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

/** Builds the JSON text from stored JSON, because parsing and formatting ten thousand alerts would be slow. */
function textOf(
  one: FiringFingerprint,
  more: {
    readonly labels: () => Labels
    readonly names: readonly string[]
    readonly silencedBy: readonly string[]
    readonly inhibitedBy: readonly string[]
    readonly now: number
    readonly resolveTimeout: number
  },
): string {
  const { silencedBy, inhibitedBy, resolveTimeout } = more
  const state = silencedBy.length + inhibitedBy.length > 0 ? 'suppressed' : 'active'
  const endsAt = one.expiresAt ?? Math.max(one.lastSeenAt + resolveTimeout, more.now)
  const generatorURL = one.generator ?? (JSON.parse(one.links) as { generator?: string }).generator
  const fields = JSON.stringify({
    endsAt: new Date(endsAt).toISOString(),
    fingerprint: one.fingerprint,
    receivers: more.names.map((name) => ({ name })),
    startsAt: new Date(one.startsAt).toISOString(),
    status: { inhibitedBy, mutedBy: [], silencedBy, state },
    updatedAt: new Date(one.updatedAt).toISOString(),
    ...(generatorURL === undefined ? {} : { generatorURL }),
  })
  const labels = one.patch === null ? one.labels : JSON.stringify(more.labels())
  return `{"annotations":${one.annotations},${fields.slice(1, -1)},"labels":${labels}}`
}

/**
 * Returns a function that lists the silences of a fingerprint. Silences from this API compare its own labels, as in
 * Alertmanager.
 */
function silencesIn({ silences, labelSilences }: FiringView, now: number) {
  const active = labelSilences.filter((silence) => statusOf(silence, now) === 'active')
  const tests = active.map(({ id, matchers }) => ({ id, matches: labelTest(matchers) }))
  return ({ id }: FiringFingerprint, labels: () => Labels): readonly string[] => {
    const found = silences.get(id) ?? NONE
    const own = tests.filter(({ matches }) => matches(labels()))
    return own.length === 0 ? found : [...found, ...own.map((silence) => silence.id)].sort()
  }
}

/**
 * Returns a function that lists the fingerprints that explain an alert: those of its node, or those of the incident that
 * leads the group of the alert's incident.
 */
function inhibitorsOf({
  nodeAlerts,
  leaders,
  fingerprints,
}: FiringView): (one: FiringFingerprint) => readonly string[] {
  const byNode = Map.groupBy(nodeAlerts, ({ cluster, service }) => `${cluster}\0${service}`)
  const leading = new Set(leaders.values())
  const ofLeaders = Map.groupBy(
    fingerprints.filter(({ incidentId }) => leading.has(incidentId ?? 0)),
    ({ incidentId }) => incidentId,
  )
  return (one) => {
    const leader = leaders.get(one.incidentId ?? 0)
    const ofLeader = (leader && ofLeaders.get(leader)?.map(({ fingerprint }) => fingerprint)) || NONE
    const nodes = one.node === null ? undefined : byNode.get(`${one.cluster}\0node/${one.node}`)
    if (!nodes || one.service === `node/${one.node}`) return ofLeader
    const condition = { ...one, uuid: one.fingerprint }
    const explains = ({ startsAt }: { startsAt: number }) =>
      explainedByNodes([condition], [{ node: one.node ?? '', startsAt, endsAt: null }]).size > 0
    const ofNode = nodes.filter(explains).map(({ fingerprint }) => fingerprint)
    return ofNode.length > 0 ? ofNode : ofLeader
  }
}

const NONE: readonly string[] = []
