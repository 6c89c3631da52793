/** Loads what a line or a card says about an incident: its facts, its likely cause, and how it recovered. */
import { firstSymptom } from '../../domain/alert/first-symptom.ts'
import type { AlertGroup } from '../../domain/alert/groups.ts'
import type { PipelineChange } from '../../domain/correlation/change.ts'
import { rankLinks, TIME_CODES } from '../../domain/correlation/correlation.ts'
import { pipelineNumber } from '../../domain/incident/change-text.ts'
import { breaksText, endOf, severeOf } from '../../domain/incident/lasted.ts'
import { mutedSinceOf, phaseOf } from '../../domain/incident/problem.ts'
import { endedByMerge } from '../../domain/incident/timeline-entries.ts'
import { namedUpTo } from '../../domain/notification/names.ts'
import type { WhoWasTold } from '../../domain/notification/told.ts'
import { isSender } from '../../domain/sender/sender-name.ts'
import { formatWhen, type Reader } from '../../domain/shown-time.ts'
import { judgeSuspects } from '../../domain/suspect/judged.ts'
import { type LikelyCause, likelyCauseOf, orderSuspects } from '../../domain/suspect/likely-cause.ts'
import type { Suspect } from '../../domain/suspect/suspect.ts'
import type { BestLink } from '../../store/correlation/correlations.ts'
import { findIncidentBrief } from '../../store/incident/incident-view.ts'
import type { IncidentRecord } from '../../store/incident/incidents.ts'
import type { ServiceRecord } from '../../store/service/services.ts'
import { safeUrl } from '../kit/mark.tsx'
import type { Visit } from '../page.ts'
import type { IncidentFacts } from './data.ts'
import { causesOf, incidentLink } from './find.ts'
import { fixOf, mutedText, overdueOf, recoveryOf } from './recovery.ts'
import type { IncidentHead, Overdue, ReasonView, SuspectView } from './view.ts'

/** The number of conditions to name beside a title that names another one. */
const MAX_NOW = 3

export type IncidentBrief = Pick<ReturnType<typeof findIncidentBrief>, 'groups' | 'links'> & {
  readonly head: IncidentHead
  readonly cause: LikelyCause<SuspectView>
  /** The start of the first alert; null if the incident has no alert. */
  readonly firstAlertAt: number | null
  /** `Was critical for 21 min until 01:52, healthy now. …`, or who silenced it; null while the problem goes on. */
  readonly recovery: string | null
  /** Since when the firing alerts were not repeated; null if they were, or if the problem is over. */
  readonly overdue: Overdue
  readonly told: WhoWasTold | null
}

export async function incidentBrief(visit: Visit, incident: IncidentRecord): Promise<IncidentBrief> {
  const { own, viewer, now } = visit
  const [found, causes] = await Promise.all([own.read(findIncidentBrief, incident, now), causesOf(visit, incident)])
  const facts = { ...found, ...causes, incident }
  const head = headOf({ ...facts, timeline: [], ...incidentLink(incident) }, viewer)
  const recovery =
    head.mutedSince !== null
      ? `${await mutedText(visit, incident)}.`
      : await recoveryOf(visit, found.service, head, fixOf(facts, head.endedAt))
  return {
    ...{ groups: found.groups, links: found.links, told: found.told, head },
    ...{ cause: causeOf(facts), firstAlertAt: firstAlertOf(facts) },
    recovery,
    overdue: recovery === null ? await overdueOf(visit, incident.rowId) : null,
  }
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
  const moved = timeline.findLast(({ kind, at }) => isMove(kind) || (kind === 'merged' && at === incident.resolvedAt))
  const opener = timeline.find(({ kind }) => kind === 'opened')
  const at = formatWhen(incident.createdAt, reader)
  const automatic = incident.origin === 'automatic'
  const isMuted = incident.resolvedAt === null && phaseOf(incident.problem, reader.now) === 'muted'
  const { reportedAt } = incident
  const until = reportedAt ?? reader.now
  const severe = severeOf(incident, until)
  const endedAt = isMuted ? null : endOf(incident, reader.now)
  return {
    ...{ number, href, title: incident.title, severity: severe.severity, status: incident.status },
    service: {
      namespace: service?.namespace ?? '',
      name: service?.name ?? 'unknown service',
      href: service ? `/services/${service.id}` : '/',
    },
    ...{ startedAt: incident.startedAt, createdAt: incident.createdAt, resolvedAt: incident.resolvedAt },
    ...{
      acknowledgedAt,
      acknowledgedBy: incident.acknowledgedBy ?? acknowledged?.actor ?? null,
      ...{ endedAt, reportedAt },
      mutedSince: isMuted ? mutedSinceOf(incident.problem) : null,
      isGuess: reportedAt !== null || (endedAt !== null && incident.problem.isGuess),
      isMerged: endedByMerge(timeline, incident.resolvedAt),
      declared: incident.problem.hadDeclared,
      isSilence: isSender(service?.name ?? ''),
    },
    criticalMs: severe.onMs,
    breaks: breaksText(incident),
    severeMs: severe.ms,
    mutedMs: severe.mutedMs,
    ...{ movedAt: moved?.at ?? incident.createdAt, movedBy: moved?.actor ?? null, firingAlerts: incident.firingAlerts },
    firingNow: firingNow(incident),
    opened: automatic ? `Opened automatically ${at}.` : `Opened ${at} by ${opener?.actor ?? 'a user'}.`,
    ...{ alertCount: incident.alertCount, hasPostmortem: incident.hasPostmortem },
  }
}

/** Names what goes on if the title, which names what was first, does not; null if it does. */
function firingNow({ title, problem: { firing, about } }: IncidentFacts['incident']): string | null {
  const isNamed = about !== null || firing.length === 0 || firing.some((name) => title.includes(name))
  return isNamed ? null : `Now: ${namedUpTo(firing, MAX_NOW)}.`
}

function isMove(kind: string): boolean {
  return kind === 'status' || kind === 'reopened'
}

type Starts = readonly Pick<AlertGroup, 'source' | 'firstStartsAt'>[]

/** Returns the start of the first alert, or null if the incident has no alert. */
export function firstAlertOf({ groups }: { readonly groups: Starts }): number | null {
  const starts = groups.map(({ source, firstStartsAt }) => ({ source, startsAt: firstStartsAt }))
  return firstSymptom(starts)?.startsAt ?? null
}

type Suspected = Pick<IncidentFacts, 'incident' | 'suspects' | 'changes'> & { readonly links: readonly BestLink[] }

/** Returns the likely cause of an incident. */
function causeOf(facts: Suspected & { readonly groups: Starts }): LikelyCause<SuspectView> {
  return likelyCauseOf(suspectsOf(facts), firstAlertOf(facts), facts.incident.startedAt)
}

/** Returns the suspects with their links and verdicts. The most likely suspect comes first. */
export function suspectsOf({ incident, suspects, links, changes }: Suspected): readonly SuspectView[] {
  return orderSuspects(
    judgeSuspects(suspects, changes, links, incident.serviceId).map((suspect): SuspectView => {
      const { change, links: own, kind, ref, score, verdict, startsAt, outcome } = suspect
      const [best] = rankLinks(own)
      return {
        ...{ kind, ref, score, verdict, startsAt, outcome, judgeable: own.length > 0 },
        verdictBy: own.find((link) => link.verdict === verdict)?.verdictBy ?? null,
        ...{ builtTheImage: suspect.builtTheImage, onlyTime: suspect.onlyTime },
        rollouts: suspect.rollouts ?? [],
        // The page shows the rollouts and the service next to the name.
        reasons: suspect.reasons.filter(({ code }) => code !== 'rollout' && code !== 'same_service').map(reasonOf),
        // The sentence says when the change began.
        support: (best?.reasons ?? suspect.reasons.filter(({ code }) => code === 'incident')).flatMap(
          ({ code, text }) => (TIME_CODES.has(code) ? [] : text),
        ),
        isOwn: suspect.isOwn,
        href: suspect.serviceId === null ? null : `/services/${suspect.serviceId}`,
        external: change?.kind === 'pipeline' ? gitlabLink(change) : null,
      }
    }),
    incident.startedAt,
  )
}

/** Returns what the page shows of a reason: `CrashLoopBackOff began 3 min after the change started`. */
function reasonOf({ text, condition = '', short = text }: Suspect['reasons'][number]): ReasonView {
  return { condition, text: short }
}

function gitlabLink({ ref, facts }: PipelineChange): SuspectView['external'] {
  const href = pipelineUrl(facts)
  return href === null ? null : { text: `Open ${pipelineNumber(ref)} in GitLab`, href }
}

/** Returns the pipeline's URL in GitLab, or null if it is unknown or not an http or https URL. */
export function pipelineUrl({ url }: PipelineChange['facts']): string | null {
  return url ? safeUrl(url) : null
}
