/** /healthz and /readyz: is the process running, and can it store events? */
import * as v from 'valibot'
import { type Check, checkStore } from '../../operations/readiness.ts'
import { problem } from '../middleware/problem.ts'
import { json } from '../middleware/reply.ts'
import type { Route } from '../route.ts'
import { described, success } from './shapes.ts'

const okShape = v.object({ status: v.literal('ok') })
/** One check of /readyz. `detail` says what is wrong and what to do. */
export const checkShape = v.object({
  name: described(v.string(), 'What is checked', 'disk'),
  state: described(v.picklist(['ok', 'failing']), 'Whether it holds', 'ok'),
  detail: v.optional(described(v.string(), 'What is wrong, and what to do', '7 MiB are free; make room')),
})
const readyShape = v.object({
  status: described(v.literal('ok'), 'Always ok', 'ok'),
  checks: described(v.array(checkShape), 'Every check with its state'),
})
const forEveryone = { method: 'GET', auth: null, query: null, body: null } as const

export const healthRoutes: readonly Route[] = [
  {
    ...forEveryone,
    path: '/healthz',
    summary: 'Whether the process lives',
    answers: success(okShape, 'It does'),
    handle: () => json({ status: 'ok' }),
  },
  {
    ...forEveryone,
    path: '/readyz',
    summary: 'Whether the server can take a write, check by check',
    answers: success(readyShape, 'Every check holds'),
    handle: (_, { deps, surroundings }) => {
      const checks = [...checkStore(deps), ...surroundings.checks()]
      const failing = checks.filter(({ detail }) => detail !== null)
      if (failing.length === 0) return json({ status: 'ok', checks: checks.map(showCheck) })
      const detail = failing.map((check) => check.detail).join('; ')
      return problem(503, detail, [], { checks: checks.map(showCheck) })
    },
  },
]

function showCheck({ name, detail }: Check): v.InferInput<typeof checkShape> {
  return detail === null ? { name, state: 'ok' } : { name, state: 'failing', detail }
}
