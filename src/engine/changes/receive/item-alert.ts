/** Opens or updates the alert for an item. */
import { type Alert, absorb, type Change, type LiveAlert, open, type Signal } from '../../../domain/alert/alert.ts'
import { begunAtOf, settleAll } from '../../../domain/alert/ending.ts'
import { withEvidence } from '../../../domain/alert/evidence.ts'
import { type Fingerprint, fingerprintsOf, withoutDerived } from '../../../domain/alert/fingerprints.ts'
import { isMereRepeat } from '../../../domain/alert/late-copy.ts'
import { withReceivedEvents } from '../../../domain/alert/late-events.ts'
import { isUnattributed, makesAlert } from '../../../domain/alert/signal.ts'
import { PUNCTUAL_SENDER } from '../../../domain/alert/unavailable.ts'
import { type Draft, isNotification } from '../../../domain/event/event.ts'
import { hasWeightChanged, lasts } from '../../../domain/health/health.ts'
import type { LiveService } from '../../../domain/health/live-service.ts'
import { shareEqual } from '../../../domain/memoize.ts'
import { beatsFor, isDoubted } from '../../../domain/sender/beats.ts'
import { ruleText } from '../../../domain/service/service.ts'
import { statusOf } from '../../../domain/silence/silence.ts'
import type { Context } from '../../state/context.ts'
import { settingsOf } from '../../state/state.ts'
import { changeAlert, noteDoubt } from '../alerts.ts'
import { firingMetricsOf, hasNamesake, senderBehaviorOf } from '../conditions.ts'
import { endingEventsSince, isPlanned, returnOfNode, withRollout } from '../going-away.ts'
import { followAlert } from '../incidents/followed.ts'
import { joinOpenIncident } from '../incidents/incidents.ts'
import { makeDue } from '../live-service.ts'
import type { SenderFacts } from './senders.ts'

export type Item = SenderFacts & {
  /** The cluster assigned to the token, or ''. */
  readonly cluster: string
  readonly draft: Draft
  readonly receivedAt: number
  /** Whether the same bytes were received before. If so, the service lookup is cached. */
  readonly isFromCache: boolean
  /** Whether incmon itself reports the item. Limits do not apply to such an item. */
  readonly isOwn?: boolean
}

type ReceivedSignal = {
  readonly service: LiveService
  readonly known: LiveAlert | null
  readonly signal: Signal
  /** Stores the event on the first call. Not called if the item repeats the last event. */
  readonly stored: () => NonNullable<LiveAlert['lastEvent']>
  readonly hash: number
}
export type AlertDecision = {
  readonly live: LiveAlert
  readonly change: Change
  readonly repeats: boolean
  /** Whether the alert is new and like another firing alert, so that it does not change the health of its service. */
  readonly isAlike: boolean
}

/** Opens or updates the alert for a signal. Returns null if the signal does not open an alert. */
export function decideAlert(ctx: Context, item: Item, received: ReceivedSignal): AlertDecision | null {
  if (received.known) return changeKnown(ctx, item, received, received.known)
  return makesAlert(received.signal) ? openAlert(ctx, item, received) : null
}

const NO_SILENCES: readonly number[] = []
const shareText = shareEqual((text: string) => text)
const shareRules = shareEqual(
  ({ service, severity, identity }: Signal['rules']) => `${ruleText(service)}\0${severity}\0${identity}`,
)

/** Shares equal strings between alerts to save memory. */
function sharedOf(signal: Signal): Pick<Signal, 'name' | 'summary' | 'rules'> {
  const { name, summary, rules } = signal
  return { name: shareText(name), summary: shareText(summary), rules: shareRules(rules) }
}

function openAlert(ctx: Context, item: Item, { service, signal, stored }: ReceivedSignal): AlertDecision {
  const { labels, annotations, links } = signal
  const made = open(signal, item.receivedAt, sharedOf(signal))
  const { alert, fingerprints, dueAt } = settleWithin(ctx, service, item, made, null, signal)
  const isAlike = hasFiringNamesake(ctx, service, alert, item.receivedAt)
  const rowId = ctx.rowId('alerts')
  const about = isUnattributed(service) ? alert.name : null
  const live: LiveAlert = {
    rowId,
    id: ctx.newId(),
    organizationId: ctx.state.rowId,
    serviceId: service.rowId,
    incidentId: isAlike ? joinOpenIncident(ctx, { rowId, serviceId: service.rowId, about }, item.receivedAt) : null,
    groupId: item.groupId,
    cluster: item.cluster,
    // The fields are listed one by one because V8 would allocate a second object for a spread.
    dueAt,
    alert,
    fingerprints,
    lastEvent: stored(),
    part:
      item.draft.source === 'cluster' ? { container: item.draft.object.container, kind: item.draft.object.kind } : null,
    silencedBy: NO_SILENCES,
  }
  ctx.put.alert(live, { labels, annotations, links })
  return { live, change: 'opened', repeats: false, isAlike }
}

/**
 * Returns whether an alert with the same name is already firing at the same or a higher severity. The new alert then
 * just joins the open incident. During an alert storm, a service is therefore evaluated only once.
 */
function hasFiringNamesake(ctx: Context, { rowId }: LiveService, alert: Alert, now: number): boolean {
  if (alert.status === 'resolved' || alert.severity === 'info') return false
  // A silence may cover only one of the two alerts, so the service has to be evaluated.
  return hasNamesake(ctx.state, rowId, alert) && !hasActiveSilence(ctx, now)
}

/** Returns whether the organization has an active silence. */
function hasActiveSilence({ state }: Context, now: number): boolean {
  return [...state.silences.values()].some(({ silence }) => statusOf(silence, now) === 'active')
}

function changeKnown(
  ctx: Context,
  item: Item,
  { service, signal, stored, hash }: ReceivedSignal,
  known: LiveAlert,
): AlertDecision {
  const all = fingerprintsOf(known.alert, known.fingerprints)
  // Senders without groups see the end of a problem.
  const doubt = item.groupId === null ? null : isDoubted(signal.endsAt, item.beats, service.cluster, item.receivedAt)
  const decided = absorb(known.alert, all, signal, item.receivedAt, doubt)
  const list = withoutDerived(decided.alert, decided.fingerprints)
  const { alert, fingerprints, dueAt } = settleWithin(ctx, service, item, decided.alert, list, signal)
  const { change, isNewest } = decided
  const repeats =
    isNotification(alert) && change === 'repeated' && known.lastEvent?.hash === hash && isMereRepeat(known.alert, alert)
  const live: LiveAlert = {
    ...known,
    serviceId: service.rowId,
    groupId: item.groupId ?? known.groupId,
    // A repeat keeps the earlier due time, because saving a later time for every repeat is not worthwhile. If the sweep
    // checks the alert too early, the sweep checks it again later.
    dueAt: change === 'repeated' && alert.status === 'firing' ? Math.min(dueAt, known.dueAt) : dueAt,
    alert,
    fingerprints,
    lastEvent: repeats ? known.lastEvent : stored(),
  }
  // Grafana says in an annotation why an alert ended.
  const isTold = isNewest || (change === 'ended' && alert.source === 'dashboard')
  const texts =
    isTold && !repeats ? { labels: signal.labels, annotations: signal.annotations, links: signal.links } : null
  changeAlert(ctx, known, live, item.receivedAt, { texts })
  if (known.serviceId !== live.serviceId) followAlert(ctx, known, live, item.receivedAt)
  if (!repeats) describeFingerprint(ctx, live, signal)
  if (change === 'doubted') noteDoubt(ctx, live, item.receivedAt)
  return { live: ctx.state.alerts.get(live.rowId) ?? live, change, repeats, isAlike: false }
}

/** Stores the labels of a fingerprint if the alert has several fingerprints, because their labels differ. */
function describeFingerprint(ctx: Context, live: LiveAlert, signal: Signal): void {
  const { fingerprint, labels, links } = signal
  if (live.fingerprints === null || live.fingerprints.length === 1) return
  const generator = links.generator ?? null
  ctx.emit({ kind: 'fingerprint-described', description: { alertId: live.rowId, fingerprint, labels, generator } })
}

/** Settles an alert. If the signal arrived late, stored events may already have ended its condition. */
function settleWithin(
  ctx: Context,
  service: LiveService,
  item: Item,
  alert: Alert,
  fingerprints: readonly Fingerprint[] | null,
  signal: Signal,
) {
  const isEvent = signal.source === 'cluster' || signal.source === 'ci'
  const endings =
    isEvent && signal.status === 'firing' ? endingEventsSince(ctx, { service, key: service }, signal.at) : []
  const isCluster = signal.source === 'cluster'
  const metricsFiring = isCluster && firingMetricsOf(ctx.state, service.rowId)(alert.startsAt)
  const sender = isCluster ? senderBehaviorOf(ctx.state, item) : PUNCTUAL_SENDER
  const { delivery, receivedAt } = item
  const delays = { awaited: ctx.state.awaited.get('period'), beats: beatsFor(item.beats, service.cluster) }
  const context = { delivery, metricsFiring, ...sender, ...delays }
  const returned = isCluster ? returnOfNode(ctx, { service, key: service }, signal) : null
  const told = withReturn(withReceivedEvents(withRollout(ctx, service, alert, signal), endings), returned, signal)
  return settleAll(isPlanned(ctx, service, signal) ? withHelp(told, signal) : told, fingerprints, context, receivedAt)
}

function withReturn(alert: Alert, at: number | null, { sighting }: Signal): Alert {
  if (at === null || !sighting) return alert
  return { ...alert, evidence: withEvidence(alert.evidence, 'recovered', [at, sighting.object]) }
}

function withHelp(alert: Alert, { at, sighting }: Signal): Alert {
  return { ...alert, evidence: withEvidence(alert.evidence, 'helped', [at, sighting?.object ?? '']) }
}

/**
 * How long the evaluation of a service can wait after an alert ended while similar alerts still fire. Similar alerts are
 * one condition, so the health hardly changes, and the end of a storm costs one evaluation instead of thousands.
 */
const ALIKE_END_DELAY = 5_000

/** Returns whether the service must be evaluated at once. */
export function affects(ctx: Context, known: LiveAlert | null, { live, isAlike }: AlertDecision, now: number): boolean {
  if (known && known.serviceId === live.serviceId && endsAlike(ctx, known, live, now)) {
    makeDue(ctx, live.serviceId, now + ALIKE_END_DELAY)
    return false
  }
  if (known)
    return known.serviceId !== live.serviceId || hasWeightChanged(known.alert, live.alert) || hasNewStart(known, live)
  if (live.alert.severity === 'info') return false
  if (!isAlike) return true
  // A long-lasting warning lowers the score more than a new one does. The sweep evaluates the service once for the
  // whole storm.
  if (live.alert.severity === 'warning' && lasts(live.alert)) makeDue(ctx, live.serviceId, now)
  // What a user left on does not stand for what begins.
  const { suppressed = false } = ctx.state.services.get(live.serviceId) ?? {}
  return suppressed && live.alert.severity === 'critical' && settingsOf(ctx.state)['auto-incidents'] === 'critical'
}

/** Returns whether a firing alert has a new start, because its sender skipped the end. */
function hasNewStart(known: LiveAlert, live: LiveAlert): boolean {
  if (known.fingerprints === live.fingerprints) return false
  return begunAtOf(live.alert, live.fingerprints) > begunAtOf(known.alert, known.fingerprints)
}

/**
 * Returns whether a notification ended an alert while an alert with the same name still fires at the same or a higher
 * severity. A silence may cover only one of the two alerts, so an active silence always requires an evaluation.
 */
function endsAlike(ctx: Context, known: LiveAlert, { serviceId, alert }: LiveAlert, now: number): boolean {
  const ended = known.alert.status === 'firing' && alert.status === 'resolved'
  return isNotification(alert) && ended && hasNamesake(ctx.state, serviceId, alert) && !hasActiveSilence(ctx, now)
}
