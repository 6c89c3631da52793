/** /healthz and /readyz: whether the process lives, and whether it can take a write. */
import * as v from 'valibot'
import { requireReady } from '../operations/readiness.ts'
import type { Route } from './route.ts'
import { success } from './shapes.ts'

const okShape = v.object({ status: v.literal('ok') })
const forEveryone = { method: 'GET', auth: null, query: null, body: null } as const

export const healthRoutes: readonly Route[] = [
  {
    ...forEveryone,
    path: '/healthz',
    summary: 'Whether the process lives',
    answers: success(okShape, 'It does'),
    handle: (c) => c.json({ status: 'ok' }),
  },
  {
    ...forEveryone,
    path: '/readyz',
    summary: 'Whether the store takes writes and its migrations are current',
    answers: success(okShape, 'Both'),
    handle: (c, { deps }) => {
      requireReady(deps)
      return c.json({ status: 'ok' })
    },
  },
]
