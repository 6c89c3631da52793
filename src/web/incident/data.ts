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
import { likelyCauseOf } from '../../domain/suspect/likely-cause.ts'
import type { Suspect } from '../../domain/suspect/suspect.ts'
import { HOUR } from '../../domain/units.ts'
import type { BestLink } from '../../store/correlation/correlations.ts'
import type { IncidentRecord } from '../../store/incident/incidents.ts'
import type { ServiceRecord } from '../../store/service/services.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import { incidentSpan, peopleOf, pictureOf } from '../drawing/picture.ts'
import { countsIn, type Span } from '../drawing/scale.ts'
import type { Silenced } from '../kit/silenced.tsx'
import { affectedOf } from './affected.ts'
import { firstAlertOf, headOf, pipelineUrl, suspectsOf } from './brief.ts'
import { fixOf } from './recovery.ts'
import type { FixView, GroupView, IncidentView, TimelineView } from './view.ts'

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
