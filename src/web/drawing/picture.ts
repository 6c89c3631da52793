/** Builds the lane picture of an incident from its alerts, the alerts' links, and the changes around the incident. */

import type { AlertGroup, GroupedAlert } from '../../domain/alert/groups.ts'
import { type Change, type Outcome, outcomeOf } from '../../domain/correlation/change.ts'
import { isDeploy, outcomeText, pipelineNumber } from '../../domain/incident/change-text.ts'
import { changeFact } from '../../domain/incident/facts.ts'
import { silenceEnd } from '../../domain/incident/timeline-entries.ts'
import type { TimelineRow } from '../../domain/incident/timeline-rows.ts'
import { countOf, timesOf } from '../../domain/text.ts'
import { DAY, MINUTE } from '../../domain/units.ts'
import type { CorrelationRecord } from '../../store/correlation/correlations.ts'
import type { LaneLink, LanePicture } from './lane-model.ts'
import { LANES, type LaneBar } from './lanes.ts'
import type { Span } from './scale.ts'

const MARGIN = 10 * MINUTE

/** The outcome of a pipeline as text, with the level of its bar. */
export const OUTCOME_TEXTS: Readonly<Record<Outcome, readonly [string, LaneBar['level']]>> = {
  deployed: ['deployed', 'change'],
  deploying: ['deploying', 'change'],
  'deploy failed': ['deploy failed', 'change'],
  'failed, jobs unknown': ['failed', 'change'],
  'success, jobs unknown': ['succeeded', 'change'],
  'failed before a deploy': ['tests failed', 'neutral'],
  'success without a deploy': ['no deploy', 'neutral'],
  'CI system failure': ['CI trouble', 'neutral'],
  'under way': ['running', 'neutral'],
}

type PictureFacts = Omit<LanePicture, 'lanes' | 'bars' | 'links' | 'lead'> & {
  /** The service whose changes are shown without the service name. */
  readonly serviceId: string
  readonly groups: readonly AlertGroup<GroupedAlert>[]
  readonly changes: readonly Change[]
  /** `group` is the key of the alert's group. `group` is set only if the group does not list all of its alerts. */
  readonly links: readonly (CorrelationRecord & { readonly group?: string })[]
  /** `what`: `acknowledged`, the new status, `note` or `silence`. `until`: the end of a silence; null if it goes on. */
  readonly people: readonly {
    readonly at: number
    readonly what: string
    readonly text: string
    readonly actor: string
    readonly until?: number | null
  }[]
  /** The start of the most likely change; null if the most likely suspect is not a change. */
  readonly suspectAt: number | null
}

/**
 * Returns the span of an incident, at most a day. The span starts 10 minutes before the first alert or the most likely
 * change. The span ends 10 minutes after the incident was resolved, or at the present if its problem is still on.
 */
export function incidentSpan(
  { startedAt, endedAt, resolvedAt }: Readonly<Record<'endedAt' | 'resolvedAt', number | null>> & { startedAt: number },
  suspectAt: number | null,
  now: number,
): Span {
  const to = endedAt === null || resolvedAt === null ? now : Math.min(now, resolvedAt + MARGIN)
  const from = Math.min(startedAt, suspectAt ?? startedAt) - MARGIN
  return { from: Math.max(from, to - DAY), to: Math.max(to, from + MARGIN) }
}

/** Returns the picture. Empty lanes are omitted, except the lanes that most incidents have. */
export function pictureOf(facts: PictureFacts): LanePicture {
  const { serviceId, groups, changes, links: _, people: acts, suspectAt, ...kept } = facts
  const { span, firstAlertAt } = kept
  const bars = [
    ...changes.map((change) => changeBar(change, serviceId)),
    ...groups.flatMap(groupBar),
    ...acts.map(personBar),
  ]
  const people = bars.some(({ lane, startsAt }) => lane === 'people' && startsAt >= span.from && startsAt <= span.to)
  const lead = suspectAt === null || firstAlertAt === null || firstAlertAt <= suspectAt ? null : suspectAt
  return {
    ...kept,
    bars,
    lanes: LANES.filter((lane) => lane !== 'people' || people),
    links: linksOf(facts),
    lead: lead === null || firstAlertAt === null ? null : { from: lead, to: firstAlertAt },
  }
}

function changeBar(change: Change, serviceId: string): LaneBar {
  const { ref, startsAt, endsAt, service } = change
  const common = { id: changeId(change.kind, ref), startsAt, href: `/services/${service}`, events: [] }
  if (change.kind === 'rollout') {
    const title = `Rollout ${ref}: ${outcomeText(changeFact(change))}`
    const place = { ...common, lane: 'rollouts', endsAt: startsAt } as const
    return { ...place, level: 'change', shape: 'diamond', label: change.hash, title }
  }
  const outcome = outcomeOf(change.facts)
  const [word, level] = OUTCOME_TEXTS[outcome]
  const noun = isDeploy({ outcome }) ? 'Deploy of pipeline' : 'Pipeline'
  const title = `${noun} ${ref} on ${change.facts.branch}: ${outcome}`
  const running = outcome === 'under way' || outcome === 'deploying'
  const label = `${service === serviceId ? pipelineNumber(ref) : shortRef(ref)} ${word}`
  return { ...common, lane: 'ci', endsAt: running ? null : endsAt, level, shape: 'bar', label, title }
}

/** Shortens `shop/checkout#4711` to `checkout#4711`. */
function shortRef(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

/** Returns a group's bar, or nothing for failed pipelines, which are drawn as pipelines instead. */
function groupBar(group: AlertGroup): LaneBar[] {
  const { key, source, severity, name, members, count, endsAt, summary, gaps } = group
  if (source === 'ci') return []
  const label = `${name}${timesOf(count)}`
  const [first] = members
  const broken = gaps.length === 0 ? '' : `, with ${countOf(gaps.length, 'gap')}`
  const listHref = group.isMixed ? `/alerts?service=${group.serviceId}` : `/alerts?q=${encodeURIComponent(name)}`
  return [
    {
      ...{ id: key, lane: source === 'cluster' ? 'cluster' : 'alerts', startsAt: group.firstStartsAt, endsAt },
      ...{ level: severity, shape: 'bar', label, title: `${label}, ${severity}${broken}: ${summary}` },
      href: first && count === 1 ? `/alerts/${first.id}` : listHref,
      events: ticksOf(group.starts),
      gaps,
    },
  ]
}

/** The maximum number of ticks per bar. Additional ticks would overlap. */
const MAX_TICKS = 120

/** Picks evenly spaced times. Divides the span into equal parts, and keeps at most one time in each part. */
function ticksOf(times: readonly number[]): readonly number[] {
  if (times.length <= MAX_TICKS) return times
  const [first, last] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))]
  const part = Math.max(1, (last - first) / MAX_TICKS)
  return [...new Map(times.map((time) => [Math.floor((time - first) / part), time])).values()]
}

/**
 * Returns what the timeline tells of people: acknowledgements, statuses, notes, and silences, each until it no longer
 * applied or until the problem was over.
 */
export function peopleOf(timeline: readonly TimelineRow[], endedAt: number | null): PictureFacts['people'] {
  const acts = timeline.flatMap(({ at, code, text, actor, kind }) =>
    actor !== null && (kind === 'note' || kind === 'status')
      ? [{ at, what: code === 'open' ? 'acknowledgement taken back' : (code ?? 'note'), text, actor }]
      : [],
  )
  const silences = timeline
    .filter(({ code }) => code === 'silenced')
    .map((row) => ({
      ...{ at: row.at, until: silenceEnd(timeline, row) ?? endedAt, what: 'silence', text: row.text },
      actor: row.actor ?? 'incmon',
    }))
  return [...acts, ...silences]
}

function personBar({ at, until = at, what, text, actor }: PictureFacts['people'][number], index: number): LaneBar {
  const common = { id: `person:${index}`, lane: 'people', startsAt: at, endsAt: until, href: null, events: [] } as const
  const label = `${actor}: ${what}`
  return {
    ...common,
    level: 'person',
    shape: what === 'silence' ? 'bar' : 'diamond',
    label,
    title: `${actor}: ${text}`,
  }
}

function changeId(kind: Change['kind'], ref: string): string {
  return `${kind} ${ref}`
}

/** Returns the best link between each change and each group of similar alerts. */
function linksOf({ links, groups }: PictureFacts): readonly LaneLink[] {
  const keys = new Map(groups.flatMap((group) => group.members.map(({ id }) => [id, group.key] as const)))
  const known = new Set(groups.map(({ key }) => key))
  const best = new Map<string, LaneLink>()
  for (const { change, evidence, score, band, verdict, group } of links) {
    const condition = known.has(group ?? '') ? group : keys.get(evidence.alertId)
    if (!condition) continue
    const link = { change: changeId(change.kind, change.ref), condition, score, band, verdict }
    const key = JSON.stringify([link.change, condition])
    if ((best.get(key)?.score ?? -1) < score) best.set(key, link)
  }
  return [...best.values()]
}
