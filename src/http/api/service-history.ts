/** /api/services/:id/history and …/changes: the health of a service over time, and its changes. */

import * as v from 'valibot'
import { type Change, type Outcome, outcomeOf, type PipelineChange } from '../../domain/correlation/change.ts'
import { DAY } from '../../domain/units.ts'
import { listStates } from '../../store/service/states.ts'
import { findServiceChanges } from '../../store/views.ts'
import { required } from '../middleware/problem.ts'
import { timeParameters } from '../middleware/query.ts'
import { json } from '../middleware/reply.ts'
import { type Route, rest } from '../route.ts'
import * as shape from '../shapes.ts'
import { success } from './answers.ts'

/** The states of a service over time. */
const historyShape = shape.named('ServiceHistory', {
  from: shape.instant('The start of the period; defaults to one day before its end'),
  to: shape.instant('The end of the period; defaults to now'),
  states: shape.objects(
    {
      at: shape.instant('When the state started; the state ends when the next one starts'),
      status: shape.choice(['healthy', 'degraded', 'critical'], 'The status', 'degraded'),
      score: shape.described(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)), 'The score', 60),
    },
    'The state at the start of the period, followed by each later state. The service did not exist before the first state',
  ),
})

const OUTCOMES = [
  ...['deploy failed', 'failed, jobs unknown', 'failed before a deploy', 'deployed', 'deploying'],
  ...['success, jobs unknown', 'success without a deploy', 'CI system failure', 'under way'],
] as const satisfies readonly Outcome[]

const PAGE = 'https://gitlab.example.com/shop/checkout/-/pipelines/4711'
const pipelineShape = v.object({
  kind: v.literal('pipeline'),
  ref: shape.text('The project and the number of the pipeline', 'shop/checkout#4711'),
  outcome: shape.choice(OUTCOMES, 'The effect on the running system', 'deployed'),
  branch: shape.text('The branch or tag', 'main'),
  sha: shape.nullable(v.string(), 'The commit; null if the sender did not report it', '9b1c3d5e'),
  url: shape.nullable(v.string(), 'The page of the pipeline in GitLab; null if the sender did not report it', PAGE),
  startedAt: shape.instant('When the deploy started; if nothing was deployed, when the pipeline started'),
  endedAt: shape.instant('When the pipeline ended; for a running pipeline, the latest known time'),
})
const rolloutShape = v.object({
  kind: v.literal('rollout'),
  ref: shape.text('The workload and the hash of its new ReplicaSet', 'shop/checkout@6f8d7b9c5'),
  startedAt: shape.instant('When the first pods of the rollout were started'),
  endedAt: shape.instant('The latest time at which the rollout may have replaced pods'),
})
const SPAN = { startedAt: '2026-11-20T09:33:00.000Z', endedAt: '2026-11-20T09:37:00.000Z' }
const EXAMPLES = [
  { kind: 'rollout', ref: 'shop/checkout@6f8d7b9c5', ...SPAN },
  {
    kind: 'pipeline',
    ref: 'shop/checkout#4711',
    outcome: 'deployed',
    branch: 'main',
    sha: '9b1c3d5e',
    url: PAGE,
    ...SPAN,
  },
]
/** The changes of a service. */
const changesShape = shape.named('ServiceChanges', {
  from: shape.instant('The start of the period; defaults to one day before its end'),
  to: shape.instant('The end of the period; defaults to now'),
  changes: shape.list(
    v.variant('kind', [pipelineShape, rolloutShape]),
    'The changes that started in the period, newest first; at most 50 pipelines',
    EXAMPLES,
  ),
  lastGoodDeploy: shape.nullable(
    pipelineShape,
    'The last good deploy before the end of the period. A good deploy is not linked to any alert. Null if there was no good deploy within 30 days',
  ),
})

export const serviceHistoryRoutes: readonly Route[] = [
  rest('GET /api/services/:id/history', {
    summary: 'Show the status and score of a service over time',
    scope: 'read',
    query: v.object(timeParameters),
    answers: success(historyShape, 'The states in the period, oldest first'),
    handle: async ({ deps, own, id, query }) => {
      const to = query.to ?? deps.now()
      const from = query.from ?? to - DAY
      const found = own.read(listStates, id, from)
      const states = await required(found, 'service', 'GET /api/services')
      const within = states.filter(({ at }) => at < to).map((one) => ({ ...one, at: shape.instantText(one.at) }))
      return json({ from: shape.instantText(from), to: shape.instantText(to), states: within })
    },
  }),
  rest('GET /api/services/:id/changes', {
    summary: 'List the pipelines and rollouts of a service, and its last good deploy',
    scope: 'read',
    query: v.object(timeParameters),
    answers: success(changesShape, 'The changes in the period, newest first'),
    handle: async ({ deps, own, id, query }) => {
      const to = query.to ?? deps.now()
      const from = query.from ?? to - DAY
      const found = own.read(findServiceChanges, id, { from, to })
      const { changes, lastGoodDeploy } = await required(found, 'service', 'GET /api/services')
      return json({
        ...{ from: shape.instantText(from), to: shape.instantText(to), changes: changes.map(showChange) },
        lastGoodDeploy: lastGoodDeploy && showPipeline(lastGoodDeploy),
      })
    },
  }),
]

function showChange(change: Change): v.InferInput<typeof changesShape>['changes'][number] {
  if (change.kind === 'pipeline') return showPipeline(change)
  const { kind, ref, startsAt, endsAt } = change
  return { kind, ref, startedAt: shape.instantText(startsAt), endedAt: shape.instantText(endsAt) }
}

function showPipeline({ ref, facts, startsAt, endsAt }: PipelineChange): v.InferInput<typeof pipelineShape> {
  const { branch, sha, url } = facts
  const times = { startedAt: shape.instantText(startsAt), endedAt: shape.instantText(endsAt) }
  return { kind: 'pipeline', ref, outcome: outcomeOf(facts), branch, sha, url, ...times }
}
