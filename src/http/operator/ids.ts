/** /operator/incidents/:id and the like: which record a person means by a number or by the start of an id. */
import { findIdMatches } from '../../store/id-matches.ts'
import { json } from '../middleware/reply.ts'
import { operator } from '../route.ts'

/** Each answers `[{ id, number, organization: { id, name } }]`. */
export const idRoutes = (['incidents', 'alerts', 'silences'] as const).map((table) =>
  operator({
    method: 'GET',
    path: `/operator/${table}/:id`,
    handle: async ({ store, id }) => json(await store.read(findIdMatches, table, id)),
  }),
)
