/** /operator/incidents/:id and similar: finds a record by its number or by the start of its id. */
import { findIdMatches } from '../../store/id-matches.ts'
import { json } from '../middleware/reply.ts'
import { operator } from '../route.ts'

/** Each route returns `[{ id, number, organization: { id, name } }]`. */
export const idRoutes = (['incidents', 'alerts', 'silences'] as const).map((table) =>
  operator({
    method: 'GET',
    path: `/operator/${table}/:id`,
    handle: async ({ store, id }) => json(await store.read(findIdMatches, table, id)),
  }),
)
