/** Formats an incident or alert for people: one fact per line, followed by tables. */

import { silencedText } from '../domain/incident/lasted.ts'
import { endedByMerge, lastResolution, noAlertsText } from '../domain/incident/timeline-entries.ts'
import { rowDetails } from '../domain/incident/timeline-rows.ts'
import { NO_SUSPECTS, SUSPECTS_IN_ORDER } from '../domain/suspect/likely-cause.ts'
import { visible } from '../domain/terminal.ts'
import { formatCount, formatScore, formatSeconds, serviceName } from '../domain/text.ts'
import { SECOND } from '../domain/units.ts'
import type { Incident, Suspect, WholeAlert, WholeIncident, WholeService } from './api/records.ts'
import { formatTable } from './output.ts'

type Shown = WholeIncident & {
  readonly service: string
  readonly organization: string
  readonly suspects: readonly Suspect[]
}

const SUSPECTS_SHOWN = 5

/** What the list says instead of the score of a suspect that is below others in spite of it, by the code of the reason. */
const UNSCORED: Readonly<Record<string, string>> = { rejected: 'rejected', late_change: 'began later' }

/** Formats an incident with its alerts, suspects and timeline. */
export function formatIncident(incident: Shown): string {
  const { number, title, service, organization, severity, status, id, suspects, timeline } = incident
  const isMerged = endedByMerge(timeline, incident.resolvedAt)
  // Who reopens an incident works on it, but can have acknowledged it before.
  const taken = timeline.findLast(({ code }) => code === 'acknowledged')
  const [takenAt, by] = [taken?.at ?? incident.acknowledgedAt, taken?.actor ?? incident.acknowledgedBy]
  const facts = factsOf({
    status,
    severity,
    service,
    organization,
    started: incident.startedAt,
    opened: incident.createdAt,
    problem: `${problemText(incident)}${isMerged ? ' until it was merged' : ''}`,
    'last reported': incident.problem === 'on' ? lastReportOf(incident.alerts) : null,
    acknowledged: incident.acknowledgedAt && `${takenAt} by ${by ?? 'a user'}`,
    resolved: resolutionOf(incident),
    postmortem: incident.hasPostmortem ? 'yes' : null,
    id,
  })
  return [
    `Incident ${number}: ${visible(title)}`,
    facts,
    incident.alerts.length === 0 ? noAlertsText(isMerged) : alertsOf(incident.alerts, incident.alertCount),
    suspectsOf(suspects),
    formatTable(timeline, 'the timeline is empty', {
      AT: 'at',
      ACTOR: 'actor',
      'WHAT HAPPENED': (row) => `${row.text}${detailsOf(row)}`,
    }),
  ].join('\n\n')
}

/** incmon resolves an incident some time after its problem, whose end the API shows as the resolution. */
function resolutionOf({ resolvedAt, timeline }: Shown): string | null {
  const last = lastResolution(timeline)
  if (resolvedAt === null || !last) return resolvedAt
  return `${last.at} by ${last.actor ?? 'incmon'}`
}

/** Returns the details that the page shows after the text of the same row. */
function detailsOf(row: Shown['timeline'][number]): string {
  const at = { at: Date.parse(row.at), until: Date.parse(row.until) }
  return rowDetails({ ...row, ...at }, (time) => new Date(time).toISOString())
}

/** Returns when the problem was last reported, at least as having ended; null if no alert fires. */
function lastReportOf(alerts: Shown['alerts']): string | null {
  const worst = alerts.filter(({ severity }) => severity === 'critical')
  const times = (worst.length > 0 ? worst : alerts).map(({ endsAt, lastSeenAt }) => endsAt ?? lastSeenAt)
  return alerts.some(({ endsAt }) => endsAt === null) ? (times.toSorted().at(-1) ?? null) : null
}

type Problem = Pick<Shown, 'problemState' | 'criticalSeconds' | 'silencedSeconds' | 'isEndInferred'>

const PROBLEMS: Readonly<Record<Problem['problemState'], string>> = {
  ...{ on: 'goes on', settling: 'no longer fires, but may come back' },
  ...{ silenced: 'goes on under a silence', off: 'is over' },
}

export function problemText({ problemState, criticalSeconds, silencedSeconds, isEndInferred }: Problem): string {
  const length = `${isEndInferred ? 'at least ' : ''}${formatSeconds(criticalSeconds)}`
  const on = criticalSeconds === 0 ? '' : `; on for ${length}`
  return `${PROBLEMS[problemState]}${on}${silencedText(silencedSeconds * SECOND)}`
}

type ShownAlert = WholeAlert & {
  readonly service: string
  readonly organization: string
  readonly incident: string | null
}

/** Formats an alert with its incident, its rules and its labels. */
export function formatAlert(alert: ShownAlert): string {
  const { name, summary, severity, status, resolution, service, organization, source, id, labels, rules } = alert
  const facts = factsOf({
    status: resolution === null ? status : `${status} (${resolution})`,
    severity,
    service,
    organization,
    source,
    started: alert.startsAt,
    'last seen': alert.lastSeenAt,
    ended: alert.endsAt,
    events: String(alert.occurrences),
    incident: alert.incident ?? 'none',
    silenced: alert.silencedBy.length > 0 ? `by ${alert.silencedBy.join(', ')}` : null,
    'service by': rules.service,
    'severity by': rules.severity,
    'identity by': rules.identity,
    id,
  })
  const named = Object.entries(labels).map(([label, value]) => ({ label, value }))
  const title = summary === name ? visible(name) : `${visible(name)}: ${visible(summary)}`
  return [title, facts, formatTable(named, 'no labels', { LABEL: 'label', VALUE: 'value' })].join('\n\n')
}

/** Formats a service with the reasons for its score, its open incidents and its newest alerts. */
export function formatService(service: WholeService & { readonly organization: string }): string {
  const { status, score, cluster, organization, health, openIncidents, recentAlerts, lastAlertAt, id } = service
  const facts = factsOf({
    status: service.archived ? `${status} (archived)` : status,
    score: `${score} of 100`,
    cluster,
    organization,
    'last alert': lastAlertAt,
    id,
  })
  const reasons = formatTable(health, 'nothing lowers the score', {
    POINTS: ({ penalty }) => `-${penalty}`,
    REASON: 'reason',
    ALERT: 'alertId',
  })
  const parts = [facts, ...podsOf(service.kubernetes), reasons, incidentsOf(openIncidents), alertsOf(recentAlerts)]
  return [visible(serviceName(service)), ...parts].join('\n\n')
}

/** What the watched cluster says now. */
function podsOf(now: WholeService['kubernetes']): string[] {
  if (now === null) return []
  const { kind, available, wanted, stuck, images, pods } = now
  const shown = images.map(
    ({ container, image, before }) => `${container} ${image}${before ? ` (before: ${before})` : ''}`,
  )
  const count = `${formatCount(available)} of ${formatCount(wanted)} available`
  const table = {
    POD: 'name',
    STATE: 'state',
    RESTARTS: 'restarts',
    'NOT READY SINCE': 'notReadySince',
    NODE: 'node',
  } as const
  return [factsOf({ [kind]: count, rollout: stuck, images: shown.join(', ') }), formatTable(pods, 'no pods', table)]
}

function incidentsOf(incidents: readonly Incident[]): string {
  return formatTable(incidents, 'no open incidents', {
    INCIDENT: 'number',
    STATUS: 'status',
    SEVERITY: 'severity',
    OPENED: 'createdAt',
    TITLE: 'title',
  })
}

/** Formats one fact per line. Facts without a value are omitted. */
function factsOf(facts: Readonly<Record<string, string | null>>): string {
  const present = Object.entries(facts).filter(([, value]) => value !== null && value !== '')
  const width = Math.max(...present.map(([name]) => name.length))
  return present.map(([name, value]) => `${name.padEnd(width)}  ${visible(value ?? '')}`).join('\n')
}

function alertsOf(alerts: Shown['alerts'], count = alerts.length): string {
  const table = formatTable(alerts, 'no alerts', {
    STARTED: 'startsAt',
    STATUS: 'status',
    SEVERITY: 'severity',
    ALERT: 'name',
    SUMMARY: [({ name, summary }) => (summary === name ? null : summary), 60],
    ID: 'id',
  })
  return count > alerts.length ? `${table}\nand ${formatCount(count - alerts.length)} older` : table
}

/** Formats one suspect per line. The reasons follow on separate lines, because they are too long for a table. */
function suspectsOf(suspects: readonly Suspect[]): string {
  if (suspects.length === 0) return NO_SUSPECTS
  const lines = suspects.slice(0, SUSPECTS_SHOWN).flatMap(({ kind, ref, score, reasons }) => {
    // Neither is in the order of the scores.
    const place = reasons.find(({ code }) => code in UNSCORED)?.code ?? ''
    const cause = `${UNSCORED[place] ?? formatScore(score)}  ${visible(`${kind} ${ref}`)}`
    return [cause, ...reasons.map(({ text }) => `      - ${visible(text)}`)]
  })
  return [`SUSPECTS, ${SUSPECTS_IN_ORDER}`, ...lines].join('\n')
}
