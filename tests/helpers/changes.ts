/** Changes for domain tests: a deploy pipeline and a rollout, at noon by default. */
import type { PipelineChange, PipelineFacts, RolloutChange } from '../../src/domain/correlation/change.ts'
import { intervalOf } from '../../src/domain/correlation/change.ts'
import type { Job } from '../../src/domain/event/event.ts'

export const NOON = Date.UTC(2026, 2, 14, 12)
export const MINUTE = 60_000

export function job(more: Partial<Job> = {}): Job {
  return {
    id: null,
    name: 'deploy',
    stage: 'deploy',
    status: 'success',
    allowFailure: false,
    failureReason: null,
    startedAt: NOON,
    finishedAt: NOON + 5 * MINUTE,
    environment: null,
    ...more,
  }
}

export function facts(more: Partial<PipelineFacts> = {}): PipelineFacts {
  return {
    project: 'shop/cart',
    branch: 'main',
    sha: '9b1c3d5e7f90123456789abcdef0123456789abc',
    status: 'success',
    statusAt: NOON + 6 * MINUTE,
    createdAt: NOON - 10 * MINUTE,
    finishedAt: NOON + 6 * MINUTE,
    mergeRequest: false,
    commit: null,
    url: null,
    jobs: [job()],
    rule: 'namespace',
    ...more,
  }
}

/** Returns a pipeline whose time span follows from its facts. */
export function pipeline(more: Partial<PipelineFacts> = {}): PipelineChange {
  const known = facts(more)
  return {
    kind: 'pipeline',
    ref: `${known.project}#31`,
    service: 'cart',
    eventId: 'p',
    facts: known,
    ...intervalOf(known, { namespace: 'shop', name: 'cart' }),
  }
}

export function rollout(at: number, hash = '5d4f8c7b9'): RolloutChange {
  return {
    kind: 'rollout',
    ref: `shop/cart@${hash}`,
    service: 'cart',
    eventId: `r-${hash}`,
    startsAt: at,
    endsAt: at + 10 * MINUTE,
    hash,
    isRollback: false,
  }
}
