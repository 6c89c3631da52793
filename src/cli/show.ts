/** One incident or alert as a person reads it: facts, one a line, then tables. */

import type { Alert, WholeIncident } from './api/records.ts'
import { formatTable, visible } from './output.ts'

type Suspect = {
  readonly kind: string
  readonly ref: string
  readonly score: number
  readonly reasons: readonly { readonly text: string }[]
}
type Shown = WholeIncident & {
  readonly service: string
  readonly organization: string
  readonly suspects: readonly Suspect[]
}

const SUSPECTS_SHOWN = 5

/** Returns an incident with its alerts, its most probable causes and its timeline. */
export function showWhole(incident: Shown): string {
  const { title, service, organization, severity, status, id, alerts, suspects, timeline } = incident
  const facts = factsOf([
    ['status', status],
    ['severity', severity],
    ['service', service],
    ['organization', organization],
    ['started', incident.startedAt],
    ['opened', incident.createdAt],
    ['acknowledged', incident.acknowledgedAt],
    ['resolved', incident.resolvedAt],
    ['postmortem', incident.hasPostmortem ? 'yes' : null],
    ['id', id],
  ])
  return [visible(title), facts, alertsOf(alerts), suspectsOf(suspects), timelineOf(timeline)].join('\n\n')
}

/** Returns an alert with its labels. */
export function showAlertWhole(alert: Alert & { readonly service: string; readonly organization: string }): string {
  const { name, summary, severity, status, resolution, service, organization, source, id, labels } = alert
  const facts = factsOf([
    ['status', resolution === null ? status : `${status} (${resolution})`],
    ['severity', severity],
    ['service', service],
    ['organization', organization],
    ['source', source],
    ['started', alert.startsAt],
    ['last seen', alert.lastSeenAt],
    ['ended', alert.endsAt],
    ['seen', String(alert.occurrences)],
    ['incident', alert.incidentId],
    ['id', id],
  ])
  const named = Object.entries(labels)
  const columns = [
    ['LABEL', ([label]: (typeof named)[number]) => label],
    ['VALUE', ([, value]: (typeof named)[number]) => value],
  ] as const
  const title = summary === name ? visible(name) : `${visible(name)}: ${visible(summary)}`
  return [title, facts, formatTable(named, columns, 'no labels')].join('\n\n')
}

/** Facts without a value are left out. */
function factsOf(facts: readonly (readonly [name: string, value: string | null])[]): string {
  const known = facts.filter(([, value]) => value !== null && value !== '')
  const width = Math.max(...known.map(([name]) => name.length))
  return known.map(([name, value]) => `${name.padEnd(width)}  ${visible(value ?? '')}`).join('\n')
}

function alertsOf(alerts: readonly Alert[]): string {
  const columns = [
    ['STARTED', ({ startsAt }: Alert) => startsAt],
    ['STATUS', ({ status }: Alert) => status],
    ['SEVERITY', ({ severity }: Alert) => severity],
    ['ALERT', ({ name }: Alert) => name],
    ['SUMMARY', ({ name, summary }: Alert) => (summary === name ? null : summary)],
    ['ID', ({ id }: Alert) => id],
  ] as const
  return formatTable(alerts, columns, 'no alerts')
}

function suspectsOf(suspects: readonly Suspect[]): string {
  const columns = [
    ['PROBABLE CAUSE', ({ kind, ref }: Suspect) => `${kind} ${ref}`],
    ['SCORE', ({ score }: Suspect) => score.toFixed(2)],
    ['REASONS', ({ reasons }: Suspect) => reasons.map(({ text }) => text).join('; ')],
  ] as const
  return formatTable(suspects.slice(0, SUSPECTS_SHOWN), columns, 'no probable cause was found')
}

function timelineOf(timeline: WholeIncident['timeline']): string {
  const columns = [
    ['AT', ({ at }: (typeof timeline)[number]) => at],
    ['ACTOR', ({ actor }: (typeof timeline)[number]) => actor],
    ['WHAT HAPPENED', ({ text, count }: (typeof timeline)[number]) => (count > 1 ? `${text} (${count} times)` : text)],
  ] as const
  return formatTable(timeline, columns, 'nothing in the timeline')
}
