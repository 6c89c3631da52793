/**
 * Says that the problem of an incident is over, what probably ended it, and what happens next, or since when what fires
 * was not reported.
 */
import { withRecovering } from '../../actions/firing.ts'
import { type Change, isDeploying, outcomeOf } from '../../domain/correlation/change.ts'
import { changeName, isDeploy } from '../../domain/incident/change-text.ts'
import { silencedText } from '../../domain/incident/lasted.ts'
import { criticalOf } from '../../domain/incident/periods.ts'
import { overdueWord } from '../../domain/notification/alert-texts.ts'
import { formatMoment } from '../../domain/shown-time.ts'
import { ROLLS_FOR } from '../../domain/suspect/suspect.ts'
import { formatSeconds, secondsBetween } from '../../domain/text.ts'
import { findLastReport } from '../../store/history/last-report.ts'
import type { IncidentRecord } from '../../store/incident/incidents.ts'
import { findOrganization } from '../../store/organizations.ts'
import type { ServiceRecord } from '../../store/service/services.ts'
import { findMutingSilence } from '../../store/silences.ts'
import { isolated } from '../kit/bidi.ts'
import type { Visit } from '../page.ts'
import type { IncidentFacts } from './data.ts'
import { type FixView, type IncidentHead, type Overdue, pastText } from './view.ts'

/**
 * Returns the last deploy after which all alerts of the incident's service ended; null if there is none, or if the problem
 * came back after it.
 */
export function fixOf(
  { fixes, incident, suspects }: Pick<IncidentFacts, 'fixes' | 'incident' | 'suspects'>,
  endedAt: number | null,
): FixView | null {
  const suspected = new Set(suspects.map(({ ref }) => ref))
  const own = fixes.filter(({ service, ref }) => service === incident.serviceId && !suspected.has(ref))
  const change = own.find(({ kind }) => kind === 'pipeline') ?? own[0]
  if (endedAt === null || !change || change.startsAt > endedAt) return null
  const worksFrom = Math.max(change.endsAt, change.startsAt + ROLLS_FOR)
  if ((criticalOf(incident.problem).at(-1)?.from ?? 0) > worksFrom) return null
  // The end of a rollout is not known.
  const isOver = change.kind === 'pipeline' && !isDeploying(change.facts) && change.endsAt <= endedAt
  const [at, verb] = isOver ? [change.endsAt, 'finished'] : [change.startsAt, 'started']
  const seconds = secondsBetween(at, endedAt)
  const when = `${verb} ${seconds === 0 ? 'when' : `${formatSeconds(seconds)} before`} the problem ended`
  return { id: changeName(change), noun: nounOf(change), ref: change.ref, when }
}

function nounOf(change: Change): string {
  return change.kind === 'rollout' ? 'rollout' : isDeploy({ outcome: outcomeOf(change.facts) }) ? 'deploy' : 'pipeline'
}

/** Returns `Was critical for 21 min until 03:20, recovering now. …`; null while the problem goes on. */
export async function recoveryOf(
  visit: Visit,
  service: ServiceRecord | undefined,
  head: IncidentHead,
  fix: FixView | null,
): Promise<string | null> {
  const { endedAt, isGuess } = head
  if (endedAt === null) return null
  const organization = await visit.own.read(findOrganization)
  const resolves = organization !== undefined && organization.settings['auto-resolve'] !== 'off'
  const [shown] = service ? await visit.own.run(withRecovering, [service]) : []
  const now = shown ? `, ${shown.status} now` : ''
  return [
    `${pastText({ ...head, mutedMs: 0 })}${isGuess ? ', last reported' : ' until'} ${formatMoment(endedAt, visit.viewer)}${silencedText(head.mutedMs)}${now}.`,
    ...(fix ? [`Probable fix: ${fix.noun} ${fix.ref}, ${fix.when}.`] : []),
    ...(resolves ? ['Resolves automatically unless the problem comes back.'] : []),
  ].join(' ')
}

/** Returns `Silenced by Ann until 21:28; still firing`. */
export async function mutedText({ own, viewer }: Visit, { rowId }: IncidentRecord): Promise<string> {
  const silence = await own.read(findMutingSilence, rowId)
  const by = silence ? ` by ${isolated(silence.by)} until ${formatMoment(silence.until, viewer)}` : ''
  return `Silenced${by}; still firing`
}

/** @param of the UUID of an alert, or the row id of an incident */
export async function overdueOf({ own, now }: Visit, of: string | number): Promise<Overdue> {
  const last = await own.read(findLastReport, of)
  const word = last ? overdueWord(last, now) : null
  return last && word ? { word, at: last.receivedAt } : null
}
