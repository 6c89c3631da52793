/** Queues notifications about incidents in the outbox, in the same transaction as the change. */
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { GATHERING, phaseOf } from '../../domain/incident/problem.ts'
import { cacheByKey } from '../../domain/memoize.ts'
import { recipientsOf } from '../../domain/notification/channel.ts'
import { type MessageKind, OVER, ruledSeverityOf } from '../../domain/notification/kind.ts'
import { type RuledAlert, readsAlerts, readsLabels, ruleSteps } from '../../domain/notification/rule.ts'
import type { Steps } from '../../domain/silence/matcher.ts'
import { MINUTE } from '../../domain/units.ts'
import type { Effect } from '../../engine/state/effect.ts'
import { findLiveIncidents } from '../incident/live-incidents.ts'
import { hasNamed, insertUntold, listToldChannels, listToldFacts, type UntoldEntry } from '../incident/told.ts'
import { type ChannelRecord, listRecipients } from '../notification/channels.ts'
import { findAlarmAt, insertNotifications, type OutboxEntry } from '../notification/outbox.ts'
import { alertsAbout, listAlike, listMergedServices, listRuledAlerts } from '../notification/ruled-alerts.ts'
import { listOtherNames, loadServiceName } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'

type Joined = Extract<Effect, { readonly kind: 'alerts-joined' }>
type NotificationDue = Extract<Effect, { readonly kind: 'notification-due' }>

const BACK: ReadonlySet<MessageKind> = new Set(['again', 'flapping'])
const CHANGES: ReadonlySet<MessageKind> = new Set(['acknowledged', 'severity'])

/**
 * Queues a batch's notifications for each channel. Reads the database only once if the organization has no channels.
 */
export function writeNotifications(db: Db, all: readonly NotificationDue[], newId: () => string): void {
  const channelsOf = recipientsByOrganization(db)
  const known = all.filter(({ change }) => change !== 'opened' && change !== 'sender-silent')
  const told = toldByIncident(db, [...new Map(known.map(({ incident }) => [incident.rowId, incident])).values()])
  const entries: OutboxEntry[] = []
  const untold: UntoldEntry[] = []
  const alertsOf = ruledAlerts(db)
  const stepsOf = stepsByOrganization()
  for (const due of all) {
    const { organizationId, rowId } = due.incident
    const known = channelsOf(organizationId)
    const involved: Told = told.get(rowId) ?? new Map()
    told.set(rowId, involved)
    // If nobody was told about a problem, nobody is told about its recovery.
    if (known.length === 0 || (due.change === 'recovered' && involved.size === 0)) continue
    const alerts = known.some(({ settings }) => readsAlerts(settings)) ? alertsOf(due) : []
    const planned = plan(db, known, due, involved, { untold, newId, alerts, steps: stepsOf(organizationId) })
    for (const { channelId, kind } of planned) if (kind !== 'acknowledged') involved.set(channelId, OVER.has(kind))
    entries.push(...planned)
  }
  insertNotifications(db, withoutTakenBack(entries))
  insertUntold(db, untold)
}

/**
 * Tells the channels whose rules match an incident that goes on since these alerts have joined it, and those that were not
 * told of what fires in it again. What the rules read of an incident that opens can be incomplete: the alerts of pods join
 * the incident of their node later.
 */
export function tellNewcomers(db: Db, joined: readonly Joined[], newId: () => string): void {
  const channelsOf = recipientsByOrganization(db)
  const isRead = ({ organizationId, isReturn, isMoved }: Joined) =>
    channelsOf(organizationId).some(
      ({ enabled, settings }) => enabled && (isReturn || isMoved || readsAlerts(settings)),
    )
  const read = joined.filter(isRead)
  if (read.length === 0) return
  const times = new Map(read.map(({ incidentId, at }) => [incidentId, at]))
  const moved = new Set(read.flatMap(({ incidentId, isMoved }) => (isMoved ? [incidentId] : [])))
  const returned = new Set(read.flatMap(({ incidentId, isReturn }) => (isReturn ? [incidentId] : [])))
  const incidents = findLiveIncidents(db, [...times.keys()])
  const told = toldByIncident(db, incidents)
  const untold: UntoldEntry[] = []
  const stepsOf = stepsByOrganization()
  const entries = incidents.flatMap((incident) => {
    const { organizationId, rowId, status, serviceId, problem } = incident
    const at = times.get(rowId) ?? 0
    const phase = phaseOf(problem, at)
    if (status === 'resolved' || phase === 'off' || phase === 'muted') return []
    const enabled = channelsOf(organizationId).filter((channel) => channel.enabled)
    const known = Map.groupBy(enabled, (channel) => told.get(rowId)?.has(channel.rowId) ?? false)
    const unaware = (known.get(false) ?? []).filter(({ settings }) => moved.has(rowId) || readsAlerts(settings))
    const aware = (known.get(true) ?? []).filter((channel) => returned.has(rowId) || readsLabels(channel.settings))
    if (unaware.length + aware.length === 0) return []
    const service = loadServiceName(db, serviceId)
    const alerts = listRuledAlerts(db, rowId)
    const more = { untold, newId, steps: stepsOf(organizationId) }
    const due = { ...NO_NEWS, incident, service, conditions: problem.firing, at, toldAt: at }
    // The incident may have had a condition of which a channel that reads labels was not told.
    const own = alerts.filter(
      (one) => one.endsAt === null && one.severity === 'critical' && one.serviceId === serviceId,
    )
    const later = aware.flatMap((channel) => {
      const facts = listToldFacts(db, channel.rowId, { rowId, id: incident.id, merged: problem.merged })
      const about = own.filter(({ alertname: name }) => problem.firing.includes(name) && !hasNamed(facts, name))
      if (about.length === 0) return []
      const conditions = [...new Set(about.map(({ alertname }) => alertname))]
      const toldAt = Math.max(at, incident.createdAt + GATHERING)
      const worse = { ...due, change: 'worse' as const, conditions, toldAt }
      return plan(db, [channel], worse, new Map([[channel.rowId, false]]), { ...more, alerts: about })
    })
    return [...plan(db, unaware, due, new Map(), { ...more, alerts }), ...later]
  })
  insertNotifications(db, entries)
  const held = untold.filter(({ reason }) => reason === 'quiet-hours')
  insertUntold(db, held)
}

/** So long after the last alarm about an incident, people hear of a further alert of a condition that they know. */
const ALIKE_AFTER = 5 * MINUTE

/** Tells who knows of an incident of a further alert of its conditions that is about something else, such as another shard. */
export function tellAlike(db: Db, joined: readonly Joined[], newId: () => string): void {
  const channelsOf = recipientsByOrganization(db)
  const stepsOf = stepsByOrganization()
  const fresh = Map.groupBy(
    joined.filter(({ alertIds, organizationId }) => alertIds.length > 0 && channelsOf(organizationId).length > 0),
    ({ incidentId }) => incidentId,
  )
  if (fresh.size === 0) return
  const atOf = ({ rowId, createdAt }: LiveIncident) => fresh.get(rowId)?.[0]?.at ?? createdAt
  const goesOn = (incident: LiveIncident) =>
    incident.status !== 'resolved' &&
    atOf(incident) !== incident.problem.alarmedAt &&
    phaseOf(incident.problem, atOf(incident)) === 'on'
  const incidents = findLiveIncidents(db, [...fresh.keys()]).filter(goesOn)
  const toldBy = toldByIncident(db, incidents)
  for (const incident of incidents) {
    const { rowId, organizationId, serviceId, createdAt } = incident
    const at = atOf(incident)
    const alertIds = (fresh.get(rowId) ?? []).flatMap((one) => one.alertIds)
    const told = toldBy.get(rowId) ?? new Map()
    const aware = channelsOf(organizationId).filter((channel) => told.get(channel.rowId) === false)
    // Most incidents have no such alert. Looking for one reads the labels of many.
    const alike = aware.length === 0 ? [] : listAlike(db, incident, alertIds)
    if (alike.length === 0) continue
    const lastAt = findAlarmAt(db, rowId) ?? createdAt
    const toldAt = lastAt > at ? lastAt : Math.max(at, lastAt + ALIKE_AFTER)
    const service = loadServiceName(db, serviceId)
    const steps = stepsOf(organizationId)
    const entries = aware.flatMap((channel) => {
      const facts = listToldFacts(db, channel.rowId, { rowId, id: incident.id, merged: incident.problem.merged })
      // Who was not told of the condition itself hears of it by its rules.
      const toldIds = new Set(facts.flatMap(({ others }) => others))
      const fresh = alike.filter(({ id, condition }) => !toldIds.has(id) && hasNamed(facts, condition))
      if (fresh.length === 0) return []
      const [conditions, others] = [[...new Set(fresh.map(({ condition }) => condition))], fresh.map(({ id }) => id)]
      const news = { ...NO_NEWS, change: 'worse' as const, incident, service, conditions, others, at, toldAt }
      return plan(db, [channel], news, told, { untold: [], newId, alerts: fresh, steps })
    })
    insertNotifications(db, entries)
  }
}

const NO_NEWS = {
  change: 'opened' as const,
  ...{ severityBefore: null, wasWrong: false, isTakenBack: false, mergedInto: null, actor: null, digestAt: null },
}

/** Drops all-clears: who hears that a problem is back does not need that of a moment before. */
function withoutTakenBack(entries: readonly OutboxEntry[]): readonly OutboxEntry[] {
  const keyOf = ({ incidentId, channelId }: OutboxEntry) => `${incidentId} ${channelId}`
  const lastBack = new Map(entries.flatMap((one, index) => (BACK.has(one.kind) ? [[keyOf(one), index]] : [])))
  return entries.filter((one, index) => one.kind !== 'recovered' || (lastBack.get(keyOf(one)) ?? -1) < index)
}

/** The channels that were told about an incident, and whether the last thing was that it is over. */
type Told = Map<number, boolean>

/** Returns the channels that were told about each incident before this batch. Reads the database once. */
function toldByIncident(db: Db, incidents: readonly LiveIncident[]): Map<number, Told> {
  const told = new Map<number, Told>()
  for (const { incidentId, channelId, isOver } of listToldChannels(db, incidents)) {
    if (incidentId === null) continue
    told.set(incidentId, (told.get(incidentId) ?? new Map()).set(channelId, isOver === 1))
  }
  return told
}

function recipientsByOrganization(db: Db): (organizationId: number) => readonly ChannelRecord[] {
  return cacheByKey(
    (organizationId: number) => organizationId,
    (organizationId) => listRecipients(db, organizationId),
  )
}

function ruledAlerts(db: Db): (due: NotificationDue) => readonly RuledAlert[] {
  const alertsOf = cacheByKey(
    (rowId: number) => rowId,
    (rowId) => listRuledAlerts(db, rowId),
  )
  return ({ change: kind, conditions: names, incident: { rowId, serviceId: ownServiceId } }) =>
    alertsAbout(db, { kind, names, ownServiceId }, alertsOf(rowId))
}

type Plan = {
  readonly untold: UntoldEntry[]
  readonly newId: () => string
  readonly alerts: readonly RuledAlert[]
  readonly steps: Steps
}

function stepsByOrganization(): (organizationId: number) => Steps {
  return cacheByKey((organizationId: number) => organizationId, ruleSteps)
}

type News = Omit<NotificationDue, 'kind' | 'service'> & {
  readonly service: Pick<NotificationDue['service'], 'id' | 'name' | 'namespace' | 'cluster'>
}

/** Returns the entries of one notification. Adds to `untold` who does not get it. */
function plan(
  db: Db,
  channels: readonly ChannelRecord[],
  due: News,
  told: Told,
  { untold, newId, alerts, steps }: Plan,
): OutboxEntry[] {
  const { change, incident, service, severityBefore, conditions, wasWrong } = due
  const { isTakenBack, mergedInto, actor, at, digestAt } = due
  const { organizationId, rowId: incidentId } = incident
  const severity = ruledSeverityOf(change, incident)
  const { id: serviceId, name, namespace, cluster } = service
  const merged = listMergedServices(db, { incident, kind: change, names: conditions })
  const isNamed = channels.some(({ settings }) => readsLabels(settings))
  const aliases = isNamed ? listOtherNames(db, incident.serviceId) : []
  const place = { serviceId, service: name, aliases, namespace, cluster }
  const ruled = { kind: change, severity, ...place, alerts, merged, steps }
  const isOn = phaseOf(incident.problem, at) === 'on'
  const recipients = channels.flatMap((channel) => {
    // Who heard that it is over, and not that it is back, knows nothing of what goes on.
    const knows = told.has(channel.rowId) && !(told.get(channel.rowId) && CHANGES.has(change) && isOn)
    return recipientsOf([channel], ruled, knows, at, digestAt ?? due.toldAt)
  })
  return recipients.flatMap((one) => {
    const { rowId: channelId, kind, dueAt, untold: reason, only } = one
    if (reason !== null) untold.push({ incidentId, channelId, kind, at, reason })
    if (dueAt === null) return []
    const merged = { mergedInto: mergedInto?.title ?? null, mergedId: mergedInto?.id ?? null }
    const { others = [] } = due
    const isBack = kind === 'reopened' && isTakenBack
    const facts = { names: conditions, wasWrong, isTakenBack: isBack, ...merged, only, others }
    const isDigest = digestAt !== null && kind !== 'opened'
    // Who raised the severity of an incident did not declare it.
    const by = kind === change ? actor : null
    const message = { organizationId, channelId, incidentId, kind, actor: by, severityBefore, facts, isDigest }
    return [{ ...message, id: newId(), createdAt: at, dueAt }]
  })
}
