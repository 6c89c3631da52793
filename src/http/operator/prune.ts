/** /operator/prune: lists or deletes expired records and reports progress. */
import * as v from 'valibot'
import { pruneByHand } from '../../actions/pruning/prune.ts'
import { IncmonError } from '../../domain/error.ts'
import { listOrganizations } from '../../store/organizations.ts'
import { uuidField } from '../middleware/body.ts'
import { problemOf } from '../middleware/problem.ts'
import { lines } from '../middleware/reply.ts'
import { operator } from '../route.ts'

const PATH = '/operator/prune'
/** The pause between steps, in which the server handles other requests. */
const PAUSE_MS = 5

/**
 * Returns JSON lines: `{ progress }` after each step, `{ survey }` or `{ outcome }` for each organization, then `{ done
 * }`. Pruning stops when the client closes the connection; records already deleted stay deleted.
 */
export const pruneRoute = operator(`POST ${PATH}`, {
  body: v.object({
    organizationId: v.optional(uuidField),
    dryRun: v.optional(v.boolean('expected true or false'), false),
    approved: v.optional(v.boolean('expected true or false'), false),
  }),
  handle: async ({ store, server, body }) => {
    const { organizationId, dryRun, approved } = body
    const all = await store.read(listOrganizations)
    const chosen = all.filter(({ id }) => organizationId === undefined || id === organizationId)
    if (organizationId !== undefined && chosen.length === 0) {
      throw new IncmonError('not-found', 'no such organization; GET /operator/organizations lists them')
    }
    const failed = (error: unknown) => {
      server.refusals.add({ status: 500, route: `POST ${PATH}`, error })
      return problemOf(error).detail
    }
    return lines(await store.run(pruneByHand, chosen, { dryRun, approved }), {
      between: () => server.pause(PAUSE_MS),
      failed,
    })
  },
})
