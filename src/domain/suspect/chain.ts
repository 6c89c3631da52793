/** Combines a pipeline with the rollouts that it caused, so that one deploy is one suspect. */
import { type Change, type Outcome, outcomeOf, type PipelineChange } from '../correlation/change.ts'
import { isChange } from './likely-cause.ts'
import { MAX_EVIDENCE } from './object.ts'
import type { Suspect } from './suspect.ts'

/** A pipeline with one of these outcomes did not change a Deployment. */
const NO_ROLLOUT: ReadonlySet<Outcome> = new Set([
  'failed before a deploy',
  'success without a deploy',
  'CI system failure',
])
/** The clocks of GitLab and the cluster can differ, and an operator such as Argo CD applies a deploy a little later. */
const TOLERANCE = 2 * 60_000

/**
 * Adds each rollout to the suspect of the pipeline that caused it. The combined suspect has the better score and the
 * evidence of both.
 */
export function joinRollouts(suspects: readonly Suspect[], changes: readonly Change[]): Suspect[] {
  const owners = pipelinesByRollout(changes)
  const byEvent = new Map(suspects.flatMap((one) => (isChange(one) ? [[keyOf(one), one] as const] : [])))
  const ownerOf = (one: Suspect) => (one.kind === 'rollout' ? byEvent.get(owners.get(keyOf(one)) ?? '') : undefined)
  const caused = Map.groupBy(suspects, ownerOf)
  return (caused.get(undefined) ?? []).map((one) => joined(one, caused.get(one) ?? []))
}

function joined(pipeline: Suspect, rollouts: readonly Suspect[]): Suspect {
  if (rollouts.length === 0) return pipeline
  const refs = [...new Set(rollouts.map(({ ref }) => ref))].sort()
  const found = new Map(
    [pipeline, ...rollouts].flatMap(({ evidence }) => evidence).map((one) => [JSON.stringify(one), one]),
  )
  return {
    ...pipeline,
    score: Math.max(...[pipeline, ...rollouts].map(({ score }) => score)),
    reasons: [
      ...pipeline.reasons,
      ...refs.map((ref) => ({ code: 'rollout', text: `the pipeline caused rollout ${ref}` })),
    ],
    evidence: [...found.values()].slice(0, MAX_EVIDENCE),
    rollouts: refs,
  }
}

/**
 * Returns the event and the service of a suspected change. The first evidence is the event about the change. A pipeline
 * that deployed several services is a suspect for each of them.
 */
function keyOf({ evidence, serviceId }: Suspect): string {
  return `${evidence[0]?.eventId} ${serviceId}`
}

/** Returns, by the key of each rollout, the key of the pipeline that caused the rollout. */
function pipelinesByRollout(changes: readonly Change[]): ReadonlyMap<string, string> {
  const pipelines = changes.filter((one) => one.kind === 'pipeline').filter(canRollOut)
  return new Map(
    changes.flatMap((change) => {
      if (change.kind !== 'rollout') return []
      const [owner] = pipelines
        .filter((one) => one.service === change.service && isDuring(change.startsAt, one))
        .sort((a, b) => b.startsAt - a.startsAt || (a.ref < b.ref ? -1 : 1))
      return owner ? [[`${change.eventId} ${change.service}`, `${owner.eventId} ${owner.service}`] as const] : []
    }),
  )
}

function canRollOut({ facts }: PipelineChange): boolean {
  return !facts.mergeRequest && !NO_ROLLOUT.has(outcomeOf(facts))
}

/** The period of a pipeline is the period of its deploy job, if that job is known. */
export function isDuring(at: number, { startsAt, endsAt }: Pick<Change, 'startsAt' | 'endsAt'>): boolean {
  return at >= startsAt - TOLERANCE && at <= endsAt + TOLERANCE
}
