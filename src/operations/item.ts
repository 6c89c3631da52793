/** One accepted item: its service, its event, and the alert that it opens, repeats or ends. Inside a transaction. */
import { type Alert, absorb, belongsTo, type Change, isMereRepeat, open, type Signal } from '../domain/alert/alert.ts'
import { settle } from '../domain/alert/ending.ts'
import type { Fingerprint } from '../domain/alert/fingerprints.ts'
import type { Judgement } from '../domain/alert/judgement.ts'
import { type Heard, withHeard } from '../domain/alert/late-events.ts'
import { isUnattributed, judge, makesAlert } from '../domain/alert/signal.ts'
import type { Draft } from '../domain/event/event.ts'
import { weighsAnew } from '../domain/health/health.ts'
import {
  type ActiveAlert,
  findActiveAlert,
  hasSibling,
  type LastEvent,
  listFiringEventAlerts,
  rememberLastEvent,
} from '../store/active-alerts.ts'
import { storeFingerprints } from '../store/active-fingerprints.ts'
import { insertAlert, moveAlert } from '../store/alert-rows.ts'
import { hasFiringMetrics } from '../store/conditions.ts'
import { listLinksOfAlert } from '../store/correlation-rows.ts'
import { awaitedName, insertEvent, listHeardSince } from '../store/event-rows.ts'
import { findPayloadHash, payloadHash } from '../store/payloads.ts'
import { findHabits } from '../store/sender-habits.ts'
import { type ServiceRow, touchService } from '../store/service-rows.ts'
import { saveAlert } from './alerts.ts'
import { joinProject, learnImage, type Place, placeOf, settleIn } from './attribution.ts'
import { correlateCondition, correlateImage, correlateScaling, learnPipeline } from './correlate.ts'
import { explainItem, type ItemDecision } from './decision.ts'
import type { Deps } from './deps.ts'
import { joinOpenIncident } from './incident-steps.ts'
import { hasActiveSilence } from './silences.ts'

export type Item = {
  readonly organizationId: number
  readonly cluster: string
  readonly index: number
  readonly draft: Draft
  readonly receivedAt: number
  /** Alertmanager's and Grafana's: its group, and the silence after which its alerts are believed over. */
  readonly groupId: number | null
  readonly silence: number | null
  readonly dryRun: boolean
  readonly isRecalled: boolean
}

export type Taken = {
  readonly eventId: string
  /** It said what its alert's last event says already, and nothing else. */
  readonly isRepeat: boolean
  /** The services whose health it may have changed. */
  readonly serviceIds: readonly number[]
  /** Of a dry run alone. */
  readonly decision: ItemDecision | null
}

export function takeItem(deps: Deps, item: Item): Taken {
  const { organizationId, draft, receivedAt } = item
  const { place, judged } = understand(deps, item)
  const known = judged.signal ? findCondition(deps, item, judged.signal) : null
  const isWanted =
    place.attribution.creates === 'event' || (judged.signal !== null && (known ?? makesAlert(judged.signal)))
  const service = isWanted ? settleIn(deps, organizationId, place, receivedAt) : serviceOf(place, judged)
  if (service) joinProject(deps, organizationId, item.cluster, draft, service)
  const result = service && judged.signal ? apply(deps, item, { service, known, signal: judged.signal }) : null
  const repeated = known && result && repeatedBy(deps, item, judged, known, result)
  const stored = repeated ?? storeEvent(deps, item, { place, judged, service, active: result?.active ?? null })
  const ended = service ? follow(deps, item, { service, place, judged, result, stored }) : false
  const isAffected = ended || item.dryRun || (result !== null && weighs(deps, known, result))
  const serviceIds = isAffected ? [service?.id, known?.serviceId].filter((id) => id !== undefined) : []
  const decision = item.dryRun ? explain(deps, item, { place, judged, result }) : null
  return { eventId: stored.uuid, isRepeat: repeated !== null, serviceIds, decision }
}

type Understood = { readonly place: Place; readonly judged: Judgement }

/** What the item says and of whom; asked once for an intake that comes again and again. */
function understand(deps: Deps, { organizationId, cluster, draft, isRecalled }: Item): Understood {
  const find = () => {
    const place = placeOf(deps, organizationId, cluster, draft)
    return { place, judged: judge(draft, place.key, place.attribution) }
  }
  return isRecalled ? deps.db.memory.answer('places', draft, find) : find()
}

/** The event that said the same: what a sender repeats unchanged is stored once, and counted by its alert. */
function repeatedBy(
  deps: Deps,
  { draft }: Item,
  judged: Judgement,
  { lastEvent, alert }: ActiveAlert,
  { active, change }: Applied,
): LastEvent | null {
  const isNotification = alert.source === 'metrics' || alert.source === 'dashboard'
  if (!isNotification || change !== 'repeated' || !lastEvent || !isMereRepeat(alert, active.alert)) return null
  // What was judged is the same for an intake that comes again and again.
  const payload = deps.db.memory.answer('places', judged, () => payloadHash(draft.payload))
  const before = lastEvent.payload ?? findPayloadHash(deps.db, lastEvent.id)
  if (before !== payload) return null
  if (lastEvent.payload === null) rememberLastEvent(deps.db, active.id, { ...lastEvent, payload })
  return lastEvent
}

function explain(
  deps: Deps,
  item: Item,
  { place, judged, result }: { place: Place; judged: Judgement; result: Applied | null },
): ItemDecision {
  const links = result ? listLinksOfAlert(deps.db, result.active.id) : []
  const told = result && { alert: result.active.alert, change: result.change }
  return explainItem({ index: item.index, place, event: judged.event }, told, links)
}

/** A heartbeat or a test is no history of a service, though it names none and so would belong to `unattributed`. */
function serviceOf({ service }: Place, { event }: Judgement): ServiceRow | null {
  return event.kind === 'heartbeat' || event.kind === 'test' ? null : service
}

type Followed = {
  readonly service: ServiceRow
  readonly place: Place
  readonly judged: Judgement
  readonly result: Applied | null
  readonly stored: { readonly uuid: string; readonly id: number }
}

/**
 * Whether the service must be evaluated. One more alert of a condition that is there already, as ill or worse, changes
 * nothing but the open incident, which it joins: a storm of one rule is evaluated once.
 */
function weighs(deps: Deps, known: ActiveAlert | null, { active }: Applied): boolean {
  if (known) return known.serviceId !== active.serviceId || weighsAnew(known.alert, active.alert)
  if (active.alert.severity === 'info') return false
  if (active.alert.status === 'resolved') return true
  // A sibling may be silenced where this one is not, and the other way round.
  if (hasActiveSilence(deps, active.organizationId, deps.now())) return true
  const isThere = hasSibling(deps.db, active)
  if (isThere) joinOpenIncident(deps, active)
  return !isThere
}

/** What follows for the service from an event that is stored: ends of its conditions (whether there were any), and links. */
function follow(deps: Deps, { draft, organizationId, receivedAt }: Item, found: Followed): boolean {
  const { service, place, judged, result, stored } = found
  const isNews = judged.signal?.status === 'firing' || result?.change === 'opened'
  touchService(deps.db, service.id, receivedAt, isNews ? draft.at : null)
  const heard = { ...judged.event, at: draft.at }
  const ended = judged.tellsOfEnds && tellConditions(deps, service, heard, receivedAt)
  if (learnImage(deps, organizationId, service, draft)) correlateImage(deps, service, draft.at)
  if (judged.event.kind === 'change') correlateScaling(deps, service, stored.uuid, draft.at)
  if (draft.source === 'ci' && draft.kind !== 'other') {
    learnPipeline(deps, service, { draft, rule: place.attribution.rule, eventKey: stored.id })
  } else if (result && isEvidence(result, judged.event.kind)) {
    correlateCondition(deps, service, result.active.id, draft.at)
  }
  return ended
}

/** A repeated notification says nothing new of when; an event does. */
function isEvidence({ active, change }: Applied, kind: Judgement['event']['kind']): boolean {
  const isNew = active.alert.source === 'cluster' || change !== 'repeated'
  return kind === 'firing' && isNew && active.alert.severity !== 'info'
}

/** The active alert that the signal belongs to; null where it begins another, or none. */
function findCondition(deps: Deps, item: Item, signal: Signal): ActiveAlert | null {
  const { organizationId, receivedAt } = item
  const { source, fingerprint, logicalKey } = signal
  const identity = { organizationId, source, cluster: item.cluster, fingerprint, logicalKey }
  return findActiveAlert(deps.db, identity, ({ alert }) => belongsTo(alert, signal, receivedAt))
}

type Condition = { readonly service: ServiceRow; readonly known: ActiveAlert | null; readonly signal: Signal }
type Applied = { readonly active: ActiveAlert; readonly change: Change }

function apply(deps: Deps, item: Item, { service, known, signal }: Condition): Applied | null {
  if (!known && !makesAlert(signal)) return null
  const decided = known
    ? absorb(known.alert, known.fingerprints, signal, item.receivedAt)
    : { alert: open(signal, item.receivedAt), fingerprints: [firstFingerprint(signal)], change: 'opened' as const }
  const { alert, dueAt } = settleWithin(deps, service.id, item, decided.alert, signal)
  const { fingerprints, change } = decided
  const { organizationId, cluster, groupId } = item
  if (!known) {
    const made = { uuid: deps.newId(), organizationId, serviceId: service.id, groupId, dueAt, alert, fingerprints }
    const active = insertAlert(deps.db, made, cluster)
    deps.announce({ kind: 'alert', id: active.uuid, organizationId })
    return { active, change }
  }
  const home = known.serviceId === service.id ? known : moveAlert(deps.db, known, service.id)
  // The sweeper may look too early, and then looks again: a later time is not worth a write at every repeat.
  const due = change === 'repeated' ? Math.min(dueAt, known.dueAt) : dueAt
  const active = { ...home, groupId: groupId ?? known.groupId, dueAt: due, alert, fingerprints }
  storeFingerprints(deps.db, active, cluster, known.fingerprints)
  saveAlert(deps, known, active)
  return { active, change }
}

function firstFingerprint({ fingerprint, startsAt, status }: Signal): Fingerprint {
  return { fingerprint, startedAt: startsAt, ended: status === 'resolved' }
}

/** The alert with what had already been heard of its end, if this signal came late. */
function settleWithin(deps: Deps, serviceId: number, item: Item, alert: Alert, signal: Signal) {
  const told = signal.source === 'cluster' || signal.source === 'ci'
  const heard = told && signal.status === 'firing' ? listHeardSince(deps.db, serviceId, signal.at) : []
  const metricsFiring = signal.source === 'cluster' && hasFiringMetrics(deps.db, serviceId, alert.startsAt)
  const habits = findHabits(deps.db, item.organizationId)
  const around = { silence: item.silence, metricsFiring, ...habits }
  return settle(withHeard(alert, heard), around, item.receivedAt)
}

/** An event that speaks of ends or of help, told to every firing cluster condition of its service; whether one changed. */
function tellConditions(deps: Deps, service: ServiceRow, event: Heard, now: number): boolean {
  let changed = false
  for (const active of listFiringEventAlerts(deps.db, service.id)) {
    const told = withHeard(active.alert, [event])
    if (told === active.alert) continue
    const metricsFiring = hasFiringMetrics(deps.db, service.id, told.startsAt)
    const habits = findHabits(deps.db, service.organizationId)
    const { alert, dueAt } = settle(told, { silence: null, metricsFiring, ...habits }, now)
    saveAlert(deps, active, { ...active, alert, dueAt })
    changed = true
  }
  return changed
}

function storeEvent(
  deps: Deps,
  item: Item,
  found: Understood & { readonly service: ServiceRow | null; readonly active: ActiveAlert | null },
): Followed['stored'] {
  const { organizationId, draft, receivedAt } = item
  const { place, service, judged, active } = found
  const uuid = deps.newId()
  const evidence = judged.evidenceOf === null ? null : findEvidence(deps, item, judged.evidenceOf)
  const id = insertEvent(deps.db, {
    ...judged.event,
    uuid,
    organizationId,
    serviceId: service?.id ?? null,
    alertId: active?.id ?? evidence,
    source: draft.source,
    count: draft.source === 'cluster' ? draft.count : 1,
    // Nothing is ever found out about what names nothing.
    awaited: service || isUnattributed(place.key) ? null : awaitedName(place.key),
    at: draft.at,
    receivedAt,
    body: draft.payload,
  })
  if (active) rememberLastEvent(deps.db, active.id, { id, uuid, payload: null })
  deps.announce({ kind: 'event', id: uuid, organizationId })
  return { uuid, id }
}

function findEvidence(deps: Deps, { organizationId, cluster }: Item, fingerprint: string): number | null {
  const identity = { organizationId, source: 'ci', cluster, fingerprint, logicalKey: fingerprint } as const
  return findActiveAlert(deps.db, identity, () => true)?.id ?? null
}
