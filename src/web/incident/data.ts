/** Builds the data for the incident page from records and suspects. */

import { firstSymptom } from '../../domain/alert/first-symptom.ts'
import type { AlertGroup } from '../../domain/alert/groups.ts'
import type { Change, PipelineChange } from '../../domain/correlation/change.ts'
import { commandFor } from '../../domain/event/reason-command.ts'
import type { GraphRecord } from '../../domain/graph/graph.ts'
import { type StatusChange, sinceStart } from '../../domain/health/strip.ts'
import { pipelineNumber } from '../../domain/incident/change-text.ts'
import { endOf } from '../../domain/incident/lasted.ts'
import { criticalMsOf, mutedMsOf } from '../../domain/incident/problem.ts'
import type { TimelineRow } from '../../domain/incident/timeline-rows.ts'
import type { Severity } from '../../domain/severity.ts'
import { formatWhen, type Reader } from '../../domain/shown-time.ts'
import { judgeSuspects } from '../../domain/suspect/judged.ts'
import { likelyCauseOf, orderSuspects } from '../../domain/suspect/likely-cause.ts'
import type { Suspect } from '../../domain/suspect/suspect.ts'
import { HOUR } from '../../domain/units.ts'
import type { BestLink } from '../../store/correlation/correlations.ts'
import type { IncidentRecord } from '../../store/incident/incidents.ts'
import type { ServiceRecord } from '../../store/service/services.ts'
import type { LanePicture } from '../drawing/lane-model.ts'
import { incidentSpan, pictureOf } from '../drawing/picture.ts'
import { countsIn, type Span } from '../drawing/scale.ts'
import { safeUrl } from '../kit/safe-url.ts'
import type { Silenced } from '../kit/silenced.tsx'
import { affectedOf } from './affected-services.ts'
import { fixOf } from './recovery.ts'
import type { FixView, GroupView, IncidentHead, IncidentView, ReasonView, SuspectView, TimelineView } from './view.ts'

/** The best link between a change and a group of similar alerts. `group` is the group's key. */
type GroupLink = BestLink & { readonly group: string | null }

export type IncidentFacts = {
  readonly incident: IncidentRecord
  /** The incident's number and URL. */
  readonly number: string
  readonly href: string
  readonly service: Pick<ServiceRecord, 'id' | 'cluster' | 'namespace' | 'name' | 'status'> | undefined
  /** The services of the alerts, by id. */
  readonly names: ReadonlyMap<string, Pick<ServiceRecord, 'namespace' | 'name'>>
  readonly groups: readonly (AlertGroup & { readonly silenced: Silenced | null; readonly sentAs?: Severity })[]
  readonly links: readonly GroupLink[]
  readonly lastGoodDeploy: PipelineChange | null
  readonly suspects: readonly Suspect[]
  readonly changes: readonly Change[]
  /** The changes that probably ended the problem. */
  readonly fixes: readonly Change[]
  readonly timeline: readonly TimelineRow[]
  readonly score: readonly StatusChange[] | null
  readonly graph: GraphRecord | null
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
  'csrf' | 'canWrite' | 'hasChannel' | 'items' | 'previous' | 'group' | 'unheard' | 'workload' | 'typed' | 'mutes'
> {
  const { incident, href, timeline } = facts
  const suspects = suspectsOf(facts)
  const cause = likelyCauseOf(suspects, firstAlertOf(facts), incident.startedAt)
  const whole = incidentSpan(incident, cause.suspect?.startsAt ?? null, reader.now)
  const length = RANGES.find(([word]) => word === range)?.[2]
  const span = length === undefined ? whole : { from: whole.to - length, to: whole.to }
  const newestFirst = order === '' ? incident.resolvedAt === null : order !== 'oldest'
  const groups = facts.groups.map((group) => groupViewOf(group, span, group.silenced))
  const fix = fixOf(facts, endOf(incident, reader.now))
  return {
    ...{ reader, suspects, cause, groups, newestFirst, fix },
    affected: affectedOf(facts, cause.suspect?.ref ?? null),
    incident: headOf(facts, reader),
    lastGoodDeploy: facts.lastGoodDeploy && deployView(facts.lastGoodDeploy),
    picture: incidentPicture(facts, groups, fix, { span, reader, suspectAt: cause.suspect?.startsAt ?? null }),
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
    graph: facts.graph,
  }
}

function incidentPicture(
  facts: IncidentFacts,
  groups: readonly GroupView[],
  fix: FixView | null,
  { span, reader, suspectAt }: { readonly span: Span; readonly reader: Reader; readonly suspectAt: number | null },
): LanePicture {
  const { incident, links, suspects, timeline } = facts
  const suspected = new Set(suspects.flatMap(({ ref, rollouts = [] }) => [ref, ...rollouts]))
  return pictureOf({
    ...{ ...reader, serviceId: incident.serviceId, span, groups, links, suspectAt },
    score: facts.score && sinceStart(facts.score, incident),
    changes: facts.changes.filter(({ ref, service }) => service === incident.serviceId || suspected.has(ref)),
    people: timeline.flatMap(({ at, code, text, actor, kind }) =>
      actor !== null && (kind === 'note' || kind === 'status') ? [{ at, what: code ?? 'note', text, actor }] : [],
    ),
    firstAlertAt: facts.groups.length === 0 ? null : firstAlertOf(facts),
    acknowledgedAt: incident.acknowledgedAt,
    resolvedAt: incident.resolvedAt,
    recoveredAt: endOf(incident, reader.now),
    fix: fix?.id ?? null,
    moreHref: `/alerts?incident=${facts.number}`,
  })
}

/** Returns the facts about an incident that appear in every list. */
export function headOf(
  facts: Pick<IncidentFacts, 'incident' | 'number' | 'href' | 'timeline'> & {
    readonly service: Pick<ServiceRecord, 'id' | 'namespace' | 'name'> | undefined
  },
  reader: Reader,
): IncidentHead {
  const { incident, number, href, service, timeline } = facts
  const { acknowledgedAt } = incident
  const acknowledged = timeline.find(({ at, kind, actor }) => isMove(kind) && actor !== null && at === acknowledgedAt)
  const moved = timeline.findLast(({ kind }) => isMove(kind))
  const opener = timeline.find(({ kind }) => kind === 'opened')
  const at = formatWhen(incident.createdAt, reader)
  const automatic = incident.origin === 'automatic'
  return {
    ...{ number, href, title: incident.title, severity: incident.severity, status: incident.status },
    service: {
      namespace: service?.namespace ?? '',
      name: service?.name ?? 'unknown service',
      href: service ? `/services/${service.id}` : '/',
    },
    ...{ startedAt: incident.startedAt, createdAt: incident.createdAt, resolvedAt: incident.resolvedAt },
    ...{
      acknowledgedAt,
      acknowledgedBy: incident.acknowledgedBy ?? acknowledged?.actor ?? null,
      endedAt: endOf(incident, reader.now),
    },
    criticalMs: criticalMsOf(incident.problem, reader.now),
    mutedMs: mutedMsOf(incident.problem, reader.now),
    ...{ movedAt: moved?.at ?? incident.createdAt, movedBy: moved?.actor ?? null, firingAlerts: incident.firingAlerts },
    opened: automatic ? `Opened automatically ${at}.` : `Opened ${at} by ${opener?.actor ?? 'a user'}.`,
    ...{ alertCount: incident.alertCount, hasPostmortem: incident.hasPostmortem },
  }
}

function isMove(kind: string): boolean {
  return kind === 'status' || kind === 'reopened'
}

/** Returns the start of the first alert or, if there are no alerts, the start of the incident. */
export function firstAlertOf({ groups, incident }: Pick<IncidentFacts, 'groups' | 'incident'>): number {
  const starts = groups.map(({ source, firstStartsAt }) => ({ source, startsAt: firstStartsAt }))
  return firstSymptom(starts)?.startsAt ?? incident.startedAt
}

/** Returns the suspects with their links and verdicts. The most likely suspect comes first. */
function suspectsOf({ incident, suspects, links, changes }: IncidentFacts): readonly SuspectView[] {
  return orderSuspects(
    judgeSuspects(suspects, changes, links).map((suspect): SuspectView => {
      const { change, links: own, kind, ref, score, verdict, startsAt, outcome } = suspect
      const [best] = own
      return {
        ...{ kind, ref, score, verdict, startsAt, outcome, judgeable: own.length > 0 },
        verdictBy: own.find((link) => link.verdict === verdict)?.verdictBy ?? null,
        ...{ builtTheImage: suspect.builtTheImage, onlyTime: suspect.onlyTime },
        rollouts: suspect.rollouts ?? [],
        // The page shows the rollouts next to the pipeline.
        reasons: suspect.reasons.filter(({ code }) => code !== 'rollout').map(reasonOf),
        support: best?.reasons.map(({ text }) => text) ?? [],
        isOwn: kind === 'object' && suspect.serviceId === incident.serviceId,
        href: suspect.serviceId === null ? null : `/services/${suspect.serviceId}`,
        external: change?.kind === 'pipeline' ? gitlabLink(change) : null,
      }
    }),
  )
}

/** Returns what the page shows of a reason: `CrashLoopBackOff began 3 min after the change started`. */
function reasonOf({ text, condition = '', short = text }: Suspect['reasons'][number]): ReasonView {
  return { condition, text: short }
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

function gitlabLink({ ref, facts }: PipelineChange): SuspectView['external'] {
  const href = pipelineUrl(facts)
  return href === null ? null : { text: `Open ${pipelineNumber(ref)} in GitLab`, href }
}

/** Returns the pipeline's URL in GitLab, or null if it is unknown or not an http or https URL. */
export function pipelineUrl({ url }: PipelineChange['facts']): string | null {
  return url ? safeUrl(url) : null
}

const MAX_ENTRIES = 200

function timelineViewOf(row: TimelineRow): TimelineView {
  const [noun = '', id = ''] = row.ref.split('/')
  return { ...row, href: noun === 'alert' ? `/alerts/${id}` : null }
}
