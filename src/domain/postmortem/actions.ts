/** Suggests action items by rules: measures that typically prevent or shorten this kind of incident. */

import { REASONS } from '../event/reason-table.ts'
import { changeName, isDeploy } from '../incident/change-text.ts'
import type { ChangeFact } from '../incident/facts.ts'
import { isNodeService } from '../service/node.ts'
import { formatSeconds, formatTime, joinNames, secondsBetween } from '../text.ts'
import { MINUTE } from '../units.ts'
import { endOf, problemSeconds } from './critical.ts'
import type { Action, Sentence } from './document.ts'
import {
  alertRefs,
  firstSign,
  type GroupedFact,
  type GroupedFacts,
  incidentRef,
  namesOf,
  untoldSentence,
} from './groups.ts'
import { causeElsewhere, earlierReports } from './others.ts'

type Rule = {
  readonly id: string
  /** The text is constant, so that an action kept by a user does not lose its text when its rule no longer applies. */
  readonly text: string
  /** Returns the reason for suggesting this action, or null if the rule does not apply. */
  readonly because: (facts: GroupedFacts) => Sentence | null
}

const PAGED_WITHIN_MINUTES = 15
const STOPS: ReadonlySet<string> = new Set(['crash', 'memory', 'image', 'config', 'scheduling', 'volume', 'node'])
const REFUSED =
  /\b40[13]\b|unauthori[sz]ed|forbidden|access denied|authentication required|authorization failed|pull secret/i
const UNREACHED =
  /connection refused|timed? ?out|timeout|no such host|\bdial\b|x509|\btls\b|too ?many ?requests|\b50\d\b/i

const RULES: readonly Rule[] = [
  {
    id: 'memory-limits',
    text: 'Compare the memory usage with the limit. Raise the limit or fix the leak.',
    because: (facts) => ofFailure(facts, 'memory') ?? outOfMemoryBefore(facts),
  },
  {
    id: 'memory-alert',
    text: 'Add an alert that fires before the memory limit is reached.',
    because: (facts) => {
      const isWarned = facts.alerts.some(({ failure, source }) => failure === 'memory' && source !== 'cluster')
      return isWarned ? null : (ofFailure(facts, 'memory') ?? outOfMemoryBefore(facts))
    },
  },
  {
    id: 'early-warning',
    text: 'Decide who acts on this warning, and how soon: it fired long before the problem.',
    because: ({ alerts, incident: { startedAt } }) =>
      shownBy(
        alerts.filter((one) => {
          const isCondition = one.source !== 'ci' && one.failure !== 'monitoring' && one.severity !== 'critical'
          return isCondition && one.startsAt <= startedAt - PAGED_WITHIN_MINUTES * MINUTE
        }),
      ),
  },
  {
    id: 'probe-tuning',
    text: 'Tune the probe: compare its timeout and failure threshold with the latency of the endpoint under load.',
    // The probe of a container that crashes, cannot start or has another alert fails for that reason.
    because: (facts) =>
      facts.alerts.some(({ failure, source }) => (source === 'cluster' ? STOPS.has(failure ?? '') : source !== 'ci'))
        ? null
        : ofFailure(facts, 'probe'),
  },
  {
    id: 'pull-secret',
    text: 'Renew the pull secret, and add an alert that fires before the secret expires.',
    because: (facts) => ofFailure(facts, 'image', (text) => REFUSED.test(text)),
  },
  {
    id: 'image-digests',
    text: 'Deploy images by digest, and check in the pipeline that the image exists before the deploy.',
    because: (facts) => ofFailure(facts, 'image', (text) => !REFUSED.test(text) && !UNREACHED.test(text)),
  },
  {
    id: 'config-check',
    text: 'Check in the pipeline that all secrets and config maps exist before the deploy.',
    because: (facts) => ofFailure(facts, 'config'),
  },
  {
    id: 'node-spread',
    text: 'Spread the replicas over nodes (topology spread constraints, a disruption budget), so that services survive the failure of one node.',
    because: (facts) => (isWorkloadHit(facts) ? ofFailure(facts, 'node') : null),
  },
  {
    id: 'paging',
    text: `Check the on-call paging for this service: who is paged, how, and why nobody acknowledged the incident within ${PAGED_WITHIN_MINUTES} minutes.`,
    because: (facts) => (untoldSentence(facts) ? null : lateAnswer(facts)),
  },
  {
    id: 'channels',
    text: 'Set up notification channels that page somebody about this service.',
    because: (facts) => (wasQuiet(facts) ? null : untoldInTime(facts)),
  },
  {
    id: 'quiet-hours',
    text: 'Let critical incidents of this service through the quiet hours, or page somebody else during them.',
    because: (facts) => (wasQuiet(facts) ? untoldInTime(facts) : null),
  },
  {
    id: 'rollback-runbook',
    text: 'Document the rollback of this service in its runbook, and make failed deploys roll back automatically.',
    because: failedDeploy,
  },
  {
    id: 'ci-runners',
    text: 'Check the CI system (runners, quota, scheduler). No fix can be deployed while the CI system is down.',
    because: ({ changes }) => troubleOfCi(changes),
  },
  {
    id: 'heartbeat',
    text: 'Find out why the sender stopped sending. While the sender is silent, problems may go unreported.',
    because: ({ incident }) =>
      incident.cause === 'silence' ? { text: 'No heartbeat arrived.', refs: [incidentRef(incident)] } : null,
  },
  { id: 'alert-coverage', text: 'Let an alert detect this problem before people do.', because: foundByPerson },
  {
    id: 'report-ends',
    text: 'Configure the sender to report when alerts end (send_resolved: true), so that incmon does not have to infer the end.',
    because: ({ alerts }) =>
      // Prometheus itself has no such option, and a silent sender reports nothing.
      unendedText(
        alerts.filter(({ source, resolution, isDirect, unheard }) => {
          const isRelayed = source !== 'cluster' && source !== 'ci' && !isDirect
          return isRelayed && resolution === 'inferred' && unheard === undefined
        }),
      ),
  },
]

/** Says that nobody was told while nobody answered, or that nobody can be. */
function untoldInTime(facts: GroupedFacts): Sentence | null {
  return facts.told?.hasChannel === false || lateAnswer(facts) ? untoldSentence(facts) : null
}

function wasQuiet({ told }: GroupedFacts): boolean {
  return told?.hasChannel === true && (told.quiet ?? []).length > 0
}

const BY_ID: ReadonlyMap<string, Rule> = new Map(RULES.map((rule) => [rule.id, rule]))

/** Returns the suggested actions in the order of the rules. */
export function actionsOf(facts: GroupedFacts): readonly Action[] {
  return RULES.flatMap((rule) => {
    const because = rule.because(facts)
    return because ? [{ ...newAction(rule.id, rule.text, 'proposed'), because }] : []
  })
}

/** Returns the action with this id, without its reason. Returns null if there is no such action. */
export function knownAction(id: string): Action | null {
  const rule = BY_ID.get(id)
  return rule ? newAction(id, rule.text, 'proposed') : null
}

export function newAction(id: string, text: string, state: Action['state']): Action {
  return { id, text, because: null, owner: null, due: null, state }
}

/** A node on which nothing failed needs no spreading of replicas. */
function isWorkloadHit({ incident, onNode, alerts }: GroupedFacts): boolean {
  const hasPod = alerts.some(({ objects }) => objects.some((object) => object.startsWith('Pod/')))
  return onNode.length > 0 || hasPod || !isNodeService(incident.service)
}

/** The name of an alert that Kubernetes did not report can contain that of its service. */
function ofFailure({ alerts }: GroupedFacts, failure: string, is = (_: string) => true): Sentence | null {
  return shownBy(
    alerts.filter((one) => {
      const isKnown = one.source === 'cluster' || failure === 'node'
      return isKnown && one.failure === failure && is(`${one.summary} ${one.firstText ?? ''}`)
    }),
  )
}

/** Another incident can have the report that a container of the same service was killed. */
function outOfMemoryBefore(facts: GroupedFacts): Sentence | null {
  const killed = earlierReports(facts).filter(({ name }) => REASONS.get(name)?.failure === 'memory')
  if (killed.length === 0) return null
  const text = `${joinNames(killed.map(({ name }) => name))} was reported before the first alert of the incident.`
  return { text, refs: killed.map(({ alertId }) => `alert/${alertId}`) }
}

function shownBy(alerts: readonly GroupedFact[]): Sentence | null {
  if (alerts.length === 0) return null
  return { text: `The alerts of the incident include ${namesOf(alerts)}.`, refs: alertRefs(alerts) }
}

function unendedText(alerts: readonly GroupedFact[]): Sentence | null {
  return alerts.length === 0 ? null : { text: `No end of ${namesOf(alerts)} was reported.`, refs: alertRefs(alerts) }
}

/** Applies if somebody acknowledged the incident after more than 15 minutes, or nobody did and the problem lasted longer. */
function lateAnswer(facts: GroupedFacts): Sentence | null {
  const { origin, createdAt, acknowledgedAt, resolvedAt, uuid } = facts.incident
  const end = acknowledgedAt ?? Math.min(...[endOf(facts), resolvedAt].flatMap((at) => at ?? []))
  const [late, lasted] = [PAGED_WITHIN_MINUTES * MINUTE, problemSeconds(facts)]
  if (origin === 'manual' || !Number.isFinite(end) || end <= createdAt + late) return null
  // Whoever works on the incident that has the cause works on this one, too.
  if (acknowledgedAt === null && causeElsewhere(facts)) return null
  // Who wrote a note, silenced the problem or resolved the incident had answered.
  if (facts.entries.some(({ at, actor }) => actor !== null && at > createdAt && at <= createdAt + late)) return null
  // Silences do not count.
  if (acknowledgedAt === null && lasted !== null && lasted * 1000 <= late) return null
  const text =
    acknowledgedAt === null
      ? 'Nobody acknowledged the incident.'
      : `The incident was acknowledged ${formatSeconds(secondsBetween(createdAt, acknowledgedAt))} after it was opened.`
  return { text, refs: [incidentRef({ uuid })] }
}

function failedDeploy({ changes, correlations, searched }: GroupedFacts): Sentence | null {
  const rejected = correlations.filter(({ verdict }) => verdict === 'rejected').map(({ change }) => change.ref)
  const failed = changes.filter(({ outcome, ref }) => outcome === 'deploy failed' && !rejected.includes(ref))
  const last = failed.at(-1)
  const isLater = (change: ChangeFact) =>
    change.startsAt > (last?.startsAt ?? 0) && (change.kind === 'rollout' || isDeploy(change))
  if (!last || changes.some(isLater)) return null
  const refs = failed.map(({ eventId }) => `event/${eventId}`)
  const until = formatTime(searched.to)
  return { text: `The deploy of ${last.ref} failed, and no later deploy or rollout began before ${until}.`, refs }
}

function troubleOfCi(changes: readonly ChangeFact[]): Sentence | null {
  const hit = changes.filter(({ outcome }) => outcome === 'CI system failure')
  if (hit.length === 0) return null
  const refs = hit.map(({ eventId }) => `event/${eventId}`)
  return { text: `The CI system failed in ${joinNames(hit.map(changeName))}.`, refs }
}

function foundByPerson(facts: GroupedFacts): Sentence | null {
  const { incident, alerts } = facts
  if (incident.origin !== 'manual' || alerts.some(({ startsAt }) => startsAt <= incident.createdAt)) return null
  const none = alerts.length === 0 ? 'and no alert was recorded' : 'and no alert about the service was recorded'
  const what = firstSign(facts) ? 'before the first alert' : none
  const text = `The incident was opened manually at ${formatTime(incident.createdAt)}, ${what}.`
  return { text, refs: [incidentRef(incident)] }
}
