/** Describes a change in words: the pipeline or rollout, its outcome, and its commit. */

import { capitalized, formatPeriod, formatTime, joinNames, quoted } from '../text.ts'
import type { ChangeFact } from './facts.ts'

/** Returns a name such as `pipeline shop/cart#31` or `rollout shop/cart@5d4f8c7b9`. */
export function changeName({ kind, ref }: Pick<ChangeFact, 'kind' | 'ref'>): string {
  return `${kind} ${ref}`
}

/** Returns text such as `pipeline shop/cart#31 on main (3f2a9c1d, note)`, or just the name and note for a rollout. */
export function changePlace(change: ChangeFact, note = ''): string {
  const { branch, sha } = change
  const notes = [sha?.slice(0, 8) ?? '', note].filter((text) => text !== '').join(', ')
  return `${changeName(change)}${branch === null ? '' : ` on ${branch}`}${notes === '' ? '' : ` (${notes})`}`
}

/** Returns a pipeline's outcome, such as `deploy failed`. For a rollout: `new pod template`. */
export function outcomeText({ kind, outcome, isRollback, emptied, template }: ChangeFact): string {
  if (kind === 'pipeline') return outcome ?? 'outcome unknown'
  if (emptied !== undefined) return emptied
  const what = isRollback ? 'back to an earlier pod template' : 'new pod template'
  return template === undefined ? what : `${what}, ${template}`
}

/** Returns text such as `pipeline shop/cart#31 on main (3f2a9c1d): deploy failed`. */
function changeText(change: ChangeFact): string {
  return `${changePlace(change)}: ${outcomeText(change)}`
}

/**
 * Formats the commit and the failed jobs: `commit “Ask for the tax number” by Ada; failed job: deploy
 * (script_failure)`. Returns '' if there is no commit and no failed job.
 */
function changeDetails({ commit, failedJobs }: ChangeFact): string {
  const written =
    commit === null ? [] : [`commit ${quoted(commit.title)}${commit.author === null ? '' : ` by ${commit.author}`}`]
  const jobs = failedJobs.map(({ name, reason }) => `${name}${reason === null ? '' : ` (${reason})`}`)
  const failed = jobs.length === 0 ? [] : [`failed ${jobs.length === 1 ? 'job' : 'jobs'}: ${joinNames(jobs)}`]
  return [...written, ...failed].join('; ')
}

/** Formats a change with its details. */
export function wholeChangeText(change: ChangeFact): string {
  const details = changeDetails(change)
  return details === '' ? changeText(change) : `${changeText(change)}; ${details}`
}

/**
 * Describes the start of a deploy: `deploy of pipeline shop/cart#31 on main (3f2a9c1d) began; commit “…” by Ada; it
 * failed (deploy: script_failure)`. The time of the end can follow. Says nothing of an end that is not recorded.
 */
export function deployText(change: ChangeFact): string {
  const { outcome, failedJobs, commit } = change
  const jobs = failedJobs.map(({ name, reason }) => `${name}${reason === null ? '' : `: ${reason}`}`)
  const why = jobs.length === 0 ? '' : ` (${joinNames(jobs)})`
  const written = commit === null ? [] : [changeDetails({ ...change, failedJobs: [] })]
  const result = outcome === 'deploying' ? [] : [outcome === 'deployed' ? 'it succeeded' : `it failed${why}`]
  return [`deploy of ${changePlace(change)} began`, ...written, ...result].join('; ')
}

/**
 * Formats a change as sentences: `pipeline shop/cart#31 on main (3f2a9c1d), whose deploy ran from 2026-03-14 02:08:31 to
 * 02:13:40 UTC and failed. Commit “…” by Ada.` Starts with a lower-case letter so that other words can precede it.
 * `rollouts`: the names of rollouts to mention with the change.
 */
export function changeSentences(change: ChangeFact, rollouts: readonly string[] = []): string {
  const details = changeDetails(change)
  const rest = details === '' ? '' : ` ${capitalized(details)}.`
  const others = rollouts.length === 0 ? '' : `, with ${joinNames(rollouts)}`
  const { kind, outcome, startsAt, endsAt } = change
  const began = `began at ${formatTime(startsAt)}`
  const ran = kind === 'pipeline' && endsAt > startsAt ? `ran from ${formatPeriod(startsAt, endsAt)}` : began
  if (!isDeploy(change)) return `${changePlace(change, outcomeText(change))}, which ${ran}${others}.${rest}`
  const result = outcome === 'deployed' ? 'succeeded' : 'failed'
  if (outcome === 'deploying')
    return `${changePlace(change)}, whose deploy ${began}${others}; no end of it is recorded.${rest}`
  return `${changePlace(change)}, whose deploy ${ran} and ${result}${others}.${rest}`
}

/** Returns whether a pipeline has deployed, or tried to. It then has the start of its deploy job, and its end if known. */
export function isDeploy({ outcome }: Pick<ChangeFact, 'outcome'>): boolean {
  return outcome === 'deployed' || outcome === 'deploying' || outcome === 'deploy failed'
}

/** Returns `#4702` for `shop/checkout#4702`. */
export function pipelineNumber(ref: string): string {
  return ref.slice(ref.indexOf('#'))
}
