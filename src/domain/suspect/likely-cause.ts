/** Writes one sentence about the likely cause of an incident and the evidence for that cause. */
import type { Emptied, Outcome } from '../correlation/change.ts'
import { formatSeconds, secondsBetween } from '../text.ts'
import type { Suspect } from './suspect.ts'

type Likelihood = 'likely' | 'possible' | 'unlikely'
export type Verdict = 'confirmed' | 'rejected' | null
type Standing = Likelihood | NonNullable<Verdict> | 'began later'

/** A suspect with a user's verdict. `startsAt`: the start of a change; null for other suspects. */
export type JudgedSuspect = Pick<Suspect, 'kind' | 'ref' | 'score' | 'since'> & {
  readonly verdict: Verdict
  readonly startsAt: number | null
  readonly outcome: Outcome | Emptied | null
  /**
   * Whether an image of the service was built from the change's commit. The pods may still have failed to pull the
   * image.
   */
  readonly builtTheImage: boolean
  /** Whether the suspect has no connection to the incident other than time. */
  readonly onlyTime: boolean
  /** Whether the suspect is the incident's own service, and not a change of it. */
  readonly isOwn: boolean
}

/** The sentence in parts, so that the suspect can be rendered as a link. */
export type LikelyCause<S extends JudgedSuspect> = {
  /** Whether the sentence names a change, and how probable it is as the cause; `none`: only the top suspect, if any. */
  readonly code: keyof typeof HEADINGS
  readonly heading: string
  readonly suspect: S | null
  readonly before: string
  readonly after: string
}

const HEADINGS = {
  confirmed: 'Confirmed cause',
  likely: 'Likely cause',
  possible: 'Possible cause',
  none: 'No likely cause found',
} as const
/** If no change is the likely cause, but another component is. */
const ELSEWHERE = 'Likely cause elsewhere'
/** If the service of the incident is a likely suspect itself, and nothing else is. */
const ITSELF = 'No likely cause found outside the service'

/** What pages and the command line say if there is no suspect. A change may have happened all the same. */
export const NO_SUSPECTS =
  'No suspects. Nothing that changed or failed around the start is connected with this incident.'

/** How pages and the command line order the suspects; see `orderSuspects`. */
export const SUSPECTS_IN_ORDER = 'a change that stands out first, then by score'

/** The minimum score for a likely suspect. */
export const LIKELY = 0.5
/** The minimum score for a possible suspect. */
export const POSSIBLE = 0.2

/** Returns whether the suspect's only connection to the incident is time, or a node on which two workloads failed. */
export function isOnlyTime(reasons: Suspect['reasons']): boolean {
  return reasons.some(({ code }) => code === 'only_time' || code === 'shared_node')
}

/**
 * Returns the likelihood in words. Scores are comparable only within a list. A suspect with no connection other than
 * time is never more than possible.
 */
export function likelihoodOf({ score, onlyTime }: Pick<JudgedSuspect, 'score' | 'onlyTime'>): Likelihood {
  if (score >= LIKELY && !onlyTime) return 'likely'
  return score >= POSSIBLE ? 'possible' : 'unlikely'
}

/**
 * Returns what lists say about a suspect: its likelihood, unless a user judged it. What began after the incident is
 * not its cause, whatever its score; a change that began after it only by the difference between two clocks is never more
 * than possible. `startedAt`: the start of the incident in ms UTC.
 */
export function standingOf(suspect: JudgedSuspect, startedAt: number | null): Standing {
  if (suspect.verdict) return suspect.verdict
  if (!(isChange(suspect) ? precedes(suspect, startedAt) : began(suspect, startedAt))) return 'began later'
  const isAfter = isChange(suspect) && startedAt !== null && (suspect.startsAt ?? startedAt) > startedAt
  return likelihoodOf({ ...suspect, onlyTime: suspect.onlyTime || isAfter })
}

/** Returns the likelihood of a link in words. A link is never connected by time only. */
export function likelihoodOfLink(score: number): Likelihood {
  return likelihoodOf({ score, onlyTime: false })
}

/**
 * Returns the suspects in the order in which all lists show them: by verdict and score, but the change that the headline
 * names is above all suspects that are no changes. `startedAt`: the start of the incident in ms UTC.
 */
export function orderSuspects<S extends JudgedSuspect>(suspects: readonly S[], startedAt: number): readonly S[] {
  // A service whose own symptom shows late may be the origin, but a late change is not.
  const isLate = (one: S) => isChange(one) && standingOf(one, startedAt) === 'began later'
  const rankOf = (one: S) => (one.verdict === 'rejected' ? 2 : isLate(one) ? 1 : 0)
  const sorted = byVerdict(suspects).toSorted((a, b) => rankOf(a) - rankOf(b))
  const change = headlineChange(suspects, startedAt)
  if (!change) return sorted
  const first = [...sorted.slice(0, sorted.indexOf(change)).filter(isChange), change]
  return [...first, ...sorted.filter((one) => !first.includes(one))]
}

/** Sorts suspects: confirmed first, rejected last, and by score in between. */
function byVerdict<S extends Pick<JudgedSuspect, 'verdict' | 'score'>>(suspects: readonly S[]): readonly S[] {
  const order = ({ verdict }: S) => (verdict === 'confirmed' ? 0 : verdict === 'rejected' ? 2 : 1)
  return suspects
    .map((suspect, index) => ({ suspect, index }))
    .sort((a, b) => order(a.suspect) - order(b.suspect) || b.suspect.score - a.suspect.score || a.index - b.index)
    .map(({ suspect }) => suspect)
}

/**
 * Returns the changes that may be the cause, most likely first: confirmed changes, and possible changes that started
 * before the incident. `startedAt`: ms UTC.
 */
export function likelyChanges<S extends JudgedSuspect>(suspects: readonly S[], startedAt: number | null): readonly S[] {
  const isPossible = (one: S) => one.verdict === null && one.score >= POSSIBLE && precedes(one, startedAt)
  return byVerdict(suspects).filter((one) => isChange(one) && (one.verdict === 'confirmed' || isPossible(one)))
}

/** What only time connects is never a cause, unless a user confirmed it. */
function related<S extends JudgedSuspect>(suspects: readonly S[]): readonly S[] {
  return suspects.filter(({ verdict, onlyTime }) => verdict === 'confirmed' || (!verdict && !onlyTime))
}

/**
 * Returns the likely cause of an incident, as shown on pages and in messages. The sentence says how long before
 * `firstAlertAt` the change started. Times in ms UTC; null if unknown.
 */
export function likelyCauseOf<S extends JudgedSuspect>(
  suspects: readonly S[],
  firstAlertAt: number | null,
  startedAt: number | null = firstAlertAt,
): LikelyCause<S> {
  const change = headlineChange(suspects, startedAt)
  if (change) {
    const standing = standingOf(change, startedAt)
    const code = standing === 'confirmed' || standing === 'likely' ? standing : 'possible'
    const link = linkText(change, firstAlertAt)
    return sentence(code, change, `${nounOf(change)} `, link === '' ? '.' : ` ${link}.`)
  }
  const top = topComponent(suspects, startedAt)
  const own = suspects.find((one) => one.isOwn && standingOf(one, startedAt) === 'likely')
  if (!top && own) {
    const before = `No change or other service stands out: the evidence points to the ${own.kind === 'node' ? 'node' : 'service'} itself.`
    return { ...sentence<S>('none', null, before, ''), heading: ITSELF }
  }
  const none = suspects.every(({ verdict }) => verdict === 'rejected')
    ? 'There is no suspect.'
    : 'No suspect stands out.'
  const before = top ? `Top suspect: ${placeOf(top)}` : none
  const told = sentence('none', top, before, top ? '.' : '')
  return top && top.score >= LIKELY ? { ...told, heading: ELSEWHERE } : told
}

/** Returns the change that the headline names: no merely possible one if another component is the likely cause. */
function headlineChange<S extends JudgedSuspect>(suspects: readonly S[], startedAt: number | null): S | undefined {
  const [change] = likelyChanges(related(suspects), startedAt)
  const isPossible = change !== undefined && standingOf(change, startedAt) === 'possible'
  return isPossible && (topComponent(suspects, startedAt)?.score ?? 0) >= LIKELY ? undefined : change
}

function sentence<S extends JudgedSuspect>(
  code: keyof typeof HEADINGS,
  suspect: S | null,
  before: string,
  after: string,
): LikelyCause<S> {
  return { code, heading: HEADINGS[code], suspect, before, after }
}

/**
 * Returns the most likely suspect that is no change, is not the service of the incident, is not unlikely, is connected
 * by more than time, and whose trouble did not begin after the incident.
 */
export function topComponent<S extends JudgedSuspect>(suspects: readonly S[], startedAt: number | null): S | null {
  const isTop = (one: S) => !isChange(one) && !one.isOwn && one.score >= POSSIBLE && began(one, startedAt)
  return byVerdict(related(suspects)).find(isTop) ?? null
}

/** Returns text such as `started 3 min before the first alert`; '' if a time is unknown. `what`: what was at `at`. */
export function leadText({ startsAt }: Pick<JudgedSuspect, 'startsAt'>, at: number | null, what = 'the first alert') {
  if (startsAt === null || at === null) return ''
  const lead = secondsBetween(startsAt, at)
  if (lead === 0) return `started together with ${what}`
  return `started ${formatSeconds(Math.abs(lead))} ${lead < 0 ? 'after' : 'before'} ${what}`
}

/** The reference of a node, a namespace or a registry says what it is. */
export function placeOf({ kind, ref }: Pick<JudgedSuspect, 'kind' | 'ref'>): string {
  return kind === 'node' || /^(?:namespace|registry)\//.test(ref) ? '' : 'the workload '
}

function nounOf({ kind, outcome }: JudgedSuspect): string {
  if (outcome === 'scaled to zero') return 'Scale-down to zero'
  if (outcome === 'endpoints removed') return 'Removal of endpoints'
  if (kind === 'rollout') return 'Rollout'
  if (outcome === 'deploy failed') return 'Failed deploy'
  if (outcome === 'failed, jobs unknown' || outcome === 'failed before a deploy') return 'Failed pipeline'
  return outcome === 'deployed' || outcome === 'deploying' ? 'Deploy' : 'Pipeline'
}

/** Returns what connects a change with the incident, such as `started 3 min before the first alert`; see `leadText`. */
export function linkText(change: JudgedSuspect, at: number | null, what?: string): string {
  const image = change.builtTheImage ? 'an image of the service was built from its commit' : ''
  return [leadText(change, at, what), image].filter((part) => part !== '').join(', and ')
}

/** The largest expected difference between two senders' clocks, in ms. */
export const CLOCKS_DIFFER = 2 * 60_000

/** A problem that began after the incident is not its headline. */
function began({ since }: Pick<JudgedSuspect, 'since'>, startedAt: number | null): boolean {
  return since === undefined || startedAt === null || since <= startedAt + CLOCKS_DIFFER
}

/** A change that started after the incident cannot be its cause. */
function precedes({ startsAt }: JudgedSuspect, startedAt: number | null): boolean {
  return startsAt === null || startedAt === null || startsAt <= startedAt + CLOCKS_DIFFER
}

/** Returns whether a suspect is a change, such as a deploy. */
export function isChange({ kind }: Pick<JudgedSuspect, 'kind'>): boolean {
  return kind === 'pipeline' || kind === 'rollout'
}
