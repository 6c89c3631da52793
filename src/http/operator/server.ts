/** /operator/server: returns the version and the addresses of the running program. Commands compare the version with theirs. */
import { programVersion } from '../../assets.ts'
import { json } from '../middleware/reply.ts'
import { operator } from '../route.ts'

export const serverRoute = operator({
  method: 'GET',
  path: '/operator/server',
  handle: ({ store, server }) =>
    json({ program: 'incmon', version: programVersion(), database: store.file, listening: server.listening() }),
})
