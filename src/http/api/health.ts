/** /healthz, /readyz and /metrics: liveness, readiness and Prometheus metrics. */
import * as v from 'valibot'
import { type Check, checkStore } from '../../actions/readiness.ts'
import { BUDGETS } from '../../domain/budgets.ts'
import type { Usage } from '../../engine/changes/room.ts'
import { organizationText } from '../../server/metrics.ts'
import { findFigures } from '../../store/views.ts'
import { problem } from '../middleware/problem.ts'
import { json, text } from '../middleware/reply.ts'
import { type Route, rest } from '../route.ts'
import * as shape from '../shapes.ts'
import { refusals, success } from './answers.ts'

const okShape = shape.named('Liveness', { status: v.literal('ok') })
/** The result of one /readyz check. `detail` says what is wrong and what to do. */
export const checkShape = v.object({
  name: shape.text('What is checked', 'disk'),
  state: shape.choice(['ok', 'failing'], 'The result of the check', 'ok'),
  detail: shape.optional(v.string(), 'What is wrong, and what to do'),
})
const readyShape = shape.named('Readiness', {
  status: shape.described(v.literal('ok'), 'Always ok', 'ok'),
  checks: shape.list(checkShape, 'All checks with their results'),
})

const TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export const healthRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/healthz',
    summary: 'Check that the process is running',
    answers: success(okShape, 'The process is running'),
    handle: () => json({ status: 'ok' }),
  },
  {
    method: 'GET',
    path: '/readyz',
    summary: 'Check that the server can store events',
    answers: {
      ...success(readyShape, 'All checks passed'),
      ...refusals({ 503: 'At least one check fails; checks lists all of them' }),
    },
    handle: async (_, { store, server }) => {
      const checks = [...(await store.run(checkStore)), ...server.checks()]
      const failing = checks.filter(({ detail }) => detail !== null)
      if (failing.length === 0) return json({ status: 'ok', checks: checks.map(showCheck) })
      const detail = failing.map((check) => check.detail).join('; ')
      return problem(503, detail, [], { checks: checks.map(showCheck) })
    },
  },
  rest('GET /metrics', {
    summary: 'Show the metrics for Prometheus',
    scope: 'read',
    answers: { 200: { description: 'Text format 0.0.4', body: null, text: 'text/plain' } },
    handle: async ({ deps, own, server, identity }) => {
      const { organizationId } = identity
      const { sizes, openIncidents, senders, ...sent } = await own.read(findFigures, deps.now())
      const ofProcess = await server.metrics.text({ ...sizes, waiting: deps.engine.pending() })
      const usage = [
        ...(await deps.engine.usage(organizationId)),
        useOf('organization-connections', server.notifier.sending(organizationId)),
        useOf('channel-messages', sent.messages),
      ]
      return text(`${ofProcess}${await organizationText(openIncidents, senders, sent.channels, usage)}`, TYPE)
    },
  }),
]

function showCheck({ name, detail }: Check): v.InferInput<typeof checkShape> {
  return detail === null ? { name, state: 'ok' } : { name, state: 'failing', detail }
}

function useOf(limit: keyof typeof BUDGETS, used: number): Usage {
  return { limit, used, value: BUDGETS[limit].value }
}
