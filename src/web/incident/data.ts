/** Builds the data for the incident page from records and suspects. */
import type { AlertGroup } from '../../domain/alert/groups.ts'
import type { Change, PipelineChange } from '../../domain/correlation/change.ts'
import { commandFor } from '../../domain/event/reason-command.ts'
import type { GraphRecord } from '../../domain/graph/graph.ts'
import { type StatusChange, sinceStart, withCurrent } from '../../domain/health/strip.ts'
import { pipelineNumber } from '../../domain/incident/change-text.ts'
import { endOf } from '../../domain/incident/lasted.ts'
import type { TimelineRow } from '../../domain/incident/timeline-rows.ts'
import type { WhoWasTold } from '../../domain/notification/told.ts'
import type { Severity } from '../../domain/severity.ts'
import type { Reader } from '../../domain/shown-time.ts'
import { isOnlyTime, likelyCauseOf } from '../../domain/suspect/likely-cause.ts'
import type { Suspect } from '../../domain/suspect/suspect.ts'
import { HOUR } from '../../domain/units.ts'
import type { BestLink } from '../../store/correlation/correlations.ts'
import type { IncidentRecord } from '../../store/incident/incidents.ts'
import type { ServiceRecord } from '../../store/service/services.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import { incidentSpan, peopleOf, pictureOf } from '../drawing/picture.ts'
import { countsIn, type Span } from '../drawing/scale.ts'
import type { Silenced } from '../kit/silenced.tsx'
import { firstAlertOf, headOf, pipelineUrl, suspectsOf } from './brief.ts'
import { fixOf } from './recovery.ts'
import type { AffectedView, FixView, GroupView, IncidentView, TimelineView } from './view.ts'

export type IncidentFacts = {
  readonly incident: IncidentRecord
  /** The incident's number and URL. */
  readonly number: string
  readonly href: string
  readonly service: Pick<ServiceRecord, 'id' | 'cluster' | 'namespace' | 'name' | 'status' | 'score'> | undefined
  /** The services of the alerts, by id. */
  readonly names: ReadonlyMap<string, Pick<ServiceRecord, 'namespace' | 'name'>>
  readonly groups: readonly (AlertGroup & {
    readonly silenced: Silenced | null
    readonly sentAs?: Severity
    /** The pods that the alerts’ events name. */
    readonly pods?: readonly string[]
  })[]
  readonly links: readonly BestLink[]
  readonly lastGoodDeploy: PipelineChange | null
  readonly suspects: readonly Suspect[]
  readonly changes: readonly Change[]
  /** The changes that probably ended the problem. */
  readonly fixes: readonly Change[]
  readonly timeline: readonly TimelineRow[]
  readonly score: readonly StatusChange[] | null
  readonly graph: GraphRecord | null
  readonly told: WhoWasTold | null
}

const RANGES = [
  ['2h', '2 h', 2 * HOUR],
  ['24h', '24 h', 24 * HOUR],
] as const

/** Returns the data that depends only on the incident's record. `range` and `order` come from the query string. */
export function incidentViewOf(
  facts: IncidentFacts,
  reader: Reader,
  { range, order }: { readonly range: string; readonly order: string },
): Omit<
  IncidentView,
  'hasChannel' | 'items' | 'previous' | 'group' | 'overdue' | 'workload' | 'typed' | 'mutes' | 'allSuspects'
> {
  const { incident, href, timeline } = facts
  const suspects = suspectsOf(facts)
  const cause = likelyCauseOf(suspects, firstAlertOf(facts), incident.startedAt)
  const suspectAt = cause.suspect?.startsAt ?? null
  const head = headOf(facts, reader)
  const whole = incidentSpan(head, suspectAt, reader.now)
  const length = RANGES.find(([word]) => word === range)?.[2]
  const span = length === undefined ? whole : { from: whole.to - length, to: whole.to }
  const newestFirst = order === '' ? incident.resolvedAt === null : order !== 'oldest'
  const groups = facts.groups.map((group) => {
    const of = group.serviceId === incident.serviceId ? null : facts.names.get(group.serviceId)
    return { ...groupViewOf(group, span, group.silenced), ...(of ? { of } : {}) }
  })
  const fix = fixOf(facts, head.endedAt)
  return {
    ...{ cause, groups, newestFirst, fix, suspects, incident: head },
    affected: affectedOf(facts, cause.suspect?.ref ?? null),
    lastGoodDeploy: facts.lastGoodDeploy && deployView(facts.lastGoodDeploy),
    picture: incidentPicture(facts, groups, fix, { span, reader, suspectAt }, head.endedAt),
    ranges: [
      { text: 'Incident', href, current: length === undefined },
      ...RANGES.map(([word, text]) => ({ text, href: `${href}?range=${word}`, current: word === range })),
    ],
    // The picture and the suspects show the links.
    timeline: timeline
      .filter(({ kind }) => kind !== 'correlation')
      .slice(-MAX_ENTRIES)
      .map(timelineViewOf),
    turnHref: `${href}?order=${newestFirst ? 'oldest' : 'newest'}#timeline`,
    alertsHref: `/alerts?incident=${facts.number}`,
    ...{ graph: facts.graph, told: facts.told },
  }
}

function incidentPicture(
  facts: IncidentFacts,
  groups: readonly GroupView[],
  fix: FixView | null,
  { span, reader, suspectAt }: { readonly span: Span; readonly reader: Reader; readonly suspectAt: number | null },
  endedAt: number | null,
): LanePicture {
  const { incident, links, suspects, timeline, service } = facts
  const states = facts.score && service ? withCurrent(facts.score, service, reader.now) : facts.score
  // The picture, the list of suspects and the postmortem show one score for a change.
  const suspected = new Map(
    suspects.flatMap(({ ref, rollouts = [], score }) => [ref, ...rollouts].map((one) => [one, score])),
  )
  const scored = links.map((link) => ({ ...link, score: suspected.get(link.change.ref) ?? link.score }))
  return pictureOf({
    ...{ ...reader, serviceId: incident.serviceId, span, groups, links: scored, suspectAt },
    score: states && sinceStart(states, incident),
    changes: facts.changes.filter(({ ref, service }) => service === incident.serviceId || suspected.has(ref)),
    people: peopleOf(timeline, endOf(incident, reader.now)),
    firstAlertAt: firstAlertOf(facts),
    acknowledgedAt: incident.acknowledgedAt,
    resolvedAt: incident.resolvedAt,
    recoveredAt: endedAt,
    fix: fix?.id ?? null,
    moreHref: `/alerts?incident=${facts.number}`,
  })
}

/** Returns a group with its small bars, its hint, and the URL of its alerts. */
export function groupViewOf(
  group: AlertGroup & { readonly sentAs?: Severity },
  span: Span,
  silenced: Silenced | null,
): GroupView {
  const [newest] = group.members
  const labels = newest?.labels ?? {}
  const isNode = labels.kind === 'Node'
  // The summary names the pod of the newest event. The labels are from the first event.
  const [, newestPod] = /\bpod ([a-z0-9][a-z0-9.-]*)_/.exec(newest?.summary ?? '') ?? []
  const spot = {
    namespace: labels.namespace ?? null,
    pod: newestPod ?? labels.pod ?? (labels.kind === 'Pod' ? (labels.name ?? null) : null),
    node: labels.node ?? (isNode ? (labels.name ?? null) : null),
  }
  return {
    ...group,
    silenced,
    members: group.members.map((alert) => ({ ...alert, href: `/alerts/${alert.id}` })),
    counts: group.count > 1 ? countsIn(group.starts, span) : [],
    hint: group.source === 'cluster' ? commandFor(group.name, spot) : null,
    href:
      group.count === 1 && newest
        ? `/alerts/${newest.id}`
        : `/alerts?service=${group.serviceId}&${group.isMixed ? `severity=${group.severity}` : `q=${encodeURIComponent(group.name)}`}`,
  }
}

/** Returns a deploy with its name, such as `#4702 (c3f81e90)`, and its URL in GitLab. */
export function deployView({ ref, facts, endsAt }: PipelineChange) {
  const sha = facts.sha === null ? '' : ` (${facts.sha.slice(0, 8)})`
  return { text: `${pipelineNumber(ref)}${sha}`, href: pipelineUrl(facts), at: endsAt }
}

const MAX_ENTRIES = 200

function timelineViewOf(row: TimelineRow): TimelineView {
  const [noun = '', id = ''] = row.ref.split('/')
  const href = noun === 'alert' ? `/alerts/${id}` : row.kind === 'merged' ? `/incidents/${id}` : null
  return { ...row, href }
}

// Finds the services that an incident affects: services with alerts in the incident, and connected services.

const MAX_PODS = 3

/**
 * Returns the affected services, earliest first. Services with alerts in the incident are affected, except those whose
 * only alerts are about pipelines. A connected service is affected if its own problem began after the incident and it is
 * not the likely cause. `causeRef`: the likely cause.
 */
function affectedOf(facts: IncidentFacts, causeRef: string | null): readonly AffectedView[] {
  const alerting = withAlerts(facts)
  const own = alerting.length === 0 ? declared(facts) : alerting
  const known = new Set(own.map(({ href }) => href))
  const others = [...connected(facts, causeRef), ...callers(facts)].filter(({ href }) => !known.has(href))
  return [...own, ...others].sort((a, b) => a.since - b.since || (a.name < b.name ? -1 : 1))
}

/** An incident that a person declared has no alerts at first, but it is about a service. */
function declared({ incident, service }: IncidentFacts): AffectedView[] {
  if (!service) return []
  const { namespace, name } = service
  const until = incident.resolvedAt
  const place = { namespace, name, href: `/services/${service.id}` }
  return [{ ...place, severity: incident.severity, since: incident.startedAt, until, detail: 'named by the incident' }]
}

function withAlerts({ groups, names }: IncidentFacts): AffectedView[] {
  const conditions = groups.filter(({ source }) => source !== 'ci')
  return [...Map.groupBy(conditions, ({ serviceId }) => serviceId)].map(([id, of]) => {
    const { namespace = '', name = 'unknown service' } = names.get(id) ?? {}
    const members = of.flatMap((group) => group.members)
    const named = members.flatMap(({ labels }) => podOf(labels) ?? [])
    const pods = [...new Set([...named, ...of.flatMap((group) => group.pods ?? [])])].sort()
    return {
      ...{ namespace, name, href: `/services/${id}`, severity: of[0]?.severity ?? null },
      since: Math.min(...of.map(({ firstStartsAt }) => firstStartsAt)),
      until: of.some(({ firing }) => firing > 0)
        ? null
        : Math.max(...of.map(({ endsAt, lastStartsAt }) => endsAt ?? lastStartsAt)),
      detail: podsText(pods),
    }
  })
}

function podOf({ pod, kind, name }: Readonly<Record<string, string>>): string | undefined {
  return pod ?? (kind === 'Pod' ? name : undefined)
}

function podsText(pods: readonly string[]): string {
  if (pods.length === 0) return ''
  const shown = pods.slice(0, MAX_PODS).join(', ')
  return `${pods.length === 1 ? 'Pod' : 'Pods'}: ${shown}${pods.length > MAX_PODS ? ', …' : ''}`
}

/** The alerts of other services can have ended before or after an incident that is over. */
function ongoing({ resolvedAt }: IncidentFacts['incident']): Pick<AffectedView, 'severity' | 'until'> {
  return { severity: null, until: resolvedAt === null ? null : undefined }
}

function connected({ incident, suspects }: IncidentFacts, causeRef: string | null): AffectedView[] {
  return suspects.flatMap(({ kind, ref, serviceId, since = 0, reasons }) => {
    const isLater = kind === 'object' && serviceId !== null && since >= incident.startedAt
    if (!isLater || isOnlyTime(reasons) || ref === causeRef || serviceId === incident.serviceId) return []
    const [namespace = '', name = ref] = ref.includes('/') ? ref.split(/\/(.*)/s) : ['', ref]
    const detail = reasons.at(-1)?.text ?? ''
    return [{ namespace, name, href: `/services/${serviceId}`, since, ...ongoing(incident), detail }]
  })
}

/** Returns the services whose alerts name the incident's service as the one that fails, and that began after it. */
function callers({ incident, suspects }: IncidentFacts): AffectedView[] {
  const own = suspects.find(({ kind, serviceId }) => kind === 'object' && serviceId === incident.serviceId)
  const later = (own?.callers ?? []).filter(({ since }) => since >= incident.startedAt)
  return [...Map.groupBy(later, ({ id }) => id)].flatMap(([id, [first, ...others]]) => {
    if (!first) return []
    const { namespace, name } = first
    const since = Math.min(first.since, ...others.map((one) => one.since))
    const detail = 'named the incident’s service in an alert'
    return [{ namespace, name, href: `/services/${id}`, since, ...ongoing(incident), detail }]
  })
}
