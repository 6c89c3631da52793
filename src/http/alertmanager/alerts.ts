/** GET /alerts and GET /alerts/groups: the firing alerts of Alertmanager and Grafana, one for each fingerprint. */
import { BUDGETS } from '../../domain/budgets.ts'
import type { Labels } from '../../domain/event/event.ts'
import { explainedByNodes } from '../../domain/health/node-trouble.ts'
import { once } from '../../domain/memoize.ts'
import { labelTest } from '../../domain/silence/matcher.ts'
import { statusOf } from '../../domain/silence/silence.ts'
import { RESOLVE_TIMEOUT } from '../../intake/prometheus.ts'
import { type FiringFingerprint, type FiringView, listFiringFingerprints } from '../../store/firing-fingerprints.ts'
import type { Reply } from '../middleware/reply.ts'
import { flag, matchersIn, receiverTest } from './filters.ts'
import { groupByOf, receiversOf } from './receivers.ts'
import { type ApiCall, refusal } from './route.ts'

/** An alert, and its response as JSON. */
type Shown = {
  readonly labels: () => Labels
  readonly receivers: readonly string[]
  readonly json: string
  readonly isMuted: boolean
}

export async function getAlerts(call: ApiCall): Promise<Reply> {
  const shown = await listShown(call)
  return jsonText(`[${shown.map(({ json }) => json).join(',')}]`)
}

const LARGEST = BUDGETS['alertmanager-groups'].value
const TOO_LARGE = `the groups have more than ${LARGEST / 2 ** 20} MiB; ask for one receiver, or filter the alerts`

/** Lists the groups by their labels. An alert with several receivers is in the groups of all of them. */
export async function getAlertGroups(call: ApiCall): Promise<Reply> {
  const isOfReceiver = receiverTest(call.c)
  const groupBy = await groupByOf(call)
  const groups = new Map<string, { readonly labels: Labels; readonly receiver: string; readonly alerts: Shown[] }>()
  let size = 0
  for (const alert of await listShown(call)) {
    const labels = groupLabels(alert.labels(), groupBy)
    const named = JSON.stringify(labels)
    for (const receiver of alert.receivers.filter(isOfReceiver)) {
      size += alert.json.length
      if (size > LARGEST) throw refusal(400, TOO_LARGE)
      const key = `${receiver}\n${named}`
      const group = groups.get(key)
      if (group) group.alerts.push(alert)
      else groups.set(key, { labels, receiver, alerts: [alert] })
    }
  }
  const withMuted = flag(call.c, 'muted')
  const wanted = [...groups.values()].filter(({ alerts }) => withMuted || alerts.some(({ isMuted }) => !isMuted))
  const sorted = wanted.sort((a, b) => compareLabels(a.labels, b.labels) || compare(a.receiver, b.receiver))
  const texts = sorted.map(({ labels, receiver, alerts }) => {
    const members = alerts.length === 1 ? alerts : inGroupOrder(alerts)
    const head = JSON.stringify({ labels, routeLabels: {}, receiver: { name: receiver } })
    return `${head.slice(0, -1)},"alerts":[${members.map(({ json }) => json).join(',')}]}`
  })
  return jsonText(`[${texts.join(',')}]`)
}

function jsonText(body: string): Reply {
  return { status: 200, headers: { 'content-type': 'application/json' }, body }
}

async function listShown({ c, deps, store, identity }: ApiCall): Promise<Shown[]> {
  const matchers = matchersIn(c, 'filter')
  const isOfReceiver = receiverTest(c)
  const [active, silenced, inhibited] = [flag(c, 'active'), flag(c, 'silenced'), flag(c, 'inhibited')]
  const now = deps.now()
  const view = await store.read(listFiringFingerprints, identity.organizationId, now)
  const [receivers, inhibitors] = [receiversOf(view.channels), inhibitorsOf(view)]
  const matches = matchers.length === 0 ? null : labelTest(matchers)
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
    return { labels, receivers: names, isMuted, json: textOf(one, { labels, names, silencedBy, inhibitedBy, now }) }
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
  },
): string {
  const { silencedBy, inhibitedBy } = more
  const state = silencedBy.length + inhibitedBy.length > 0 ? 'suppressed' : 'active'
  const endsAt = one.expiresAt ?? Math.max(one.lastSeenAt + RESOLVE_TIMEOUT, more.now)
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

/** Returns a function that lists the silences of a fingerprint. Silences from this API compare its own labels, as in Alertmanager. */
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

function groupLabels(labels: Labels, groupBy: readonly string[]): Labels {
  return Object.fromEntries(
    groupBy.flatMap((name) => (Object.hasOwn(labels, name) ? [[name, labels[name] ?? '']] : [])),
  )
}

/** Sorts the alerts of a group like Alertmanager: by job, by instance, then by all labels. */
function inGroupOrder(alerts: readonly Shown[]): readonly Shown[] {
  return alerts.toSorted((a, b) => {
    const [one, other] = [a.labels(), b.labels()]
    for (const name of ['job', 'instance']) {
      const [left, right] = [one[name], other[name]]
      if (left !== right) return left === undefined ? 1 : right === undefined ? -1 : compare(left, right)
    }
    return compareLabels(one, other)
  })
}

/** Sorts label sets like Prometheus: fewer labels first, then by the first difference. */
function compareLabels(one: Labels, other: Labels): number {
  const [left, right] = [Object.keys(one), Object.keys(other)]
  if (left.length !== right.length) return left.length - right.length
  for (const name of [...left, ...right].sort()) {
    if (!Object.hasOwn(one, name)) return -1
    if (!Object.hasOwn(other, name)) return 1
    const order = compare(one[name] ?? '', other[name] ?? '')
    if (order !== 0) return order
  }
  return 0
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
