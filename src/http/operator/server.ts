/** /operator/server: which program answers, so that a command of another version says so instead of guessing. */
import { programVersion } from '../../assets.ts'
import { json } from '../middleware/reply.ts'
import { operator } from '../route.ts'

export const serverRoute = operator({
  method: 'GET',
  path: '/operator/server',
  handle: ({ deps }) => json({ program: 'incmon', version: programVersion(), database: deps.db.file }),
})
