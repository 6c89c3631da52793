/** Combines suspects with users' verdicts. The API, pages, messages and postmortems use the resulting ranking. */
import { type Change, outcomeOf } from '../correlation/change.ts'
import { isChange, isOnlyTime, type JudgedSuspect, type Verdict } from './likely-cause.ts'
import type { Suspect } from './suspect.ts'

/** A link between a change and an alert in the incident. */
type SuspectLink = {
  readonly change: Pick<Change, 'kind' | 'ref'>
  readonly score: number
  readonly verdict: Verdict
  readonly reasons: Suspect['reasons']
}

/** `links`: the links of the suspected change and of the rollouts that it caused; empty if the suspect is not a change. */
export type Judged<Link extends SuspectLink> = Suspect &
  JudgedSuspect & { readonly change: Change | null; readonly links: readonly Link[] }

/**
 * Adds users' verdicts to the suspects, keeping their order. A confirmed change that is not a suspect is added, because
 * the user's verdict takes precedence. `serviceId`: the UUID of the incident's service.
 */
export function judgeSuspects<Link extends SuspectLink>(
  suspects: readonly Suspect[],
  changes: readonly Change[],
  links: readonly Link[],
  serviceId: string,
): Judged<Link>[] {
  const known = new Set(suspects.flatMap(keysOf))
  const confirmed = links.filter(({ verdict, change }) => verdict === 'confirmed' && !known.has(keyOf(change)))
  const added = [...Map.groupBy(confirmed, ({ change }) => keyOf(change)).values()].flatMap(([link]) => link ?? [])
  const all = [...suspects, ...added.map((link) => suspectOf(link, changes))]
  const linksOf = (one: Suspect) => keysOf(one).flatMap((key) => links.filter(({ change }) => keyOf(change) === key))
  const rejected = all.filter((one) => isChange(one) && verdictOf(linksOf(one)) === 'rejected').flatMap(keysOf)
  return all.map((suspect) => {
    // The links of the change itself come before the links of its rollouts.
    const own = linksOf(suspect)
    const change = changes.find((one) => keyOf(one) === keyOf(suspect)) ?? null
    return {
      ...{ ...suspect, reasons: suspect.reasons.map((reason) => judgedReason(reason, rejected)) },
      ...{ change, links: own, startsAt: change?.startsAt ?? null },
      outcome: change?.kind === 'pipeline' ? outcomeOf(change.facts) : (change?.emptied ?? null),
      verdict: verdictOf(own),
      onlyTime: isOnlyTime(suspect.reasons),
      isOwn: !isChange(suspect) && suspect.serviceId === serviceId,
      builtTheImage: own.some(({ reasons }) => reasons.some(({ code }) => code === 'image_tag_is_sha')),
    }
  })
}

/** What a user rejected as the cause explains nothing, although the score was computed before. */
function judgedReason(reason: Suspect['reasons'][number], rejected: readonly string[]): Suspect['reasons'][number] {
  const { change } = reason
  if (change === undefined || !rejected.includes(change)) return reason
  return { ...reason, text: `${change} does not explain this problem: a user rejected it as the cause` }
}

/** A change with a confirmed link is confirmed, even if another of its links was rejected. */
function verdictOf(links: readonly SuspectLink[]): Verdict {
  if (links.some(({ verdict }) => verdict === 'confirmed')) return 'confirmed'
  return links.some(({ verdict }) => verdict === 'rejected') ? 'rejected' : null
}

function suspectOf({ change, score, reasons }: SuspectLink, changes: readonly Change[]): Suspect {
  const known = changes.find((one) => keyOf(one) === keyOf(change))
  const evidence = known ? [{ eventId: known.eventId }] : []
  return { kind: change.kind, ref: change.ref, serviceId: known?.service ?? null, score, reasons, evidence }
}

/** Returns the keys of a suspect and of the rollouts that it caused. */
function keysOf({ kind, ref, rollouts = [] }: Suspect): string[] {
  return [{ kind, ref }, ...rollouts.map((rollout) => ({ kind: 'rollout' as const, ref: rollout }))].map(keyOf)
}

function keyOf({ kind, ref }: Pick<Suspect, 'kind' | 'ref'>): string {
  return `${kind} ${ref}`
}
