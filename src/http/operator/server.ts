/** /operator/server: returns the version of the running program. Commands compare it with their own. */
import { programVersion } from '../../assets.ts'
import { json } from '../middleware/reply.ts'
import { operator } from '../route.ts'

export const serverRoute = operator({
  method: 'GET',
  path: '/operator/server',
  handle: ({ store }) => json({ program: 'incmon', version: programVersion(), database: store.file }),
})
