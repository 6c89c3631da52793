/** /operator/silences: imports the silences of an Alertmanager. */
import * as v from 'valibot'
import { importSilences } from '../../domain/decide/silences.ts'
import { IncmonError } from '../../domain/error.ts'
import { readSilences } from '../../intake/silences.ts'
import { operatorIdentity } from '../middleware/operator.ts'
import { json } from '../middleware/reply.ts'
import { operator } from '../route.ts'

/** Imports silences in the format of `amtool silence query -o json`. A second import of a silence changes nothing. */
export const silenceImportRoute = operator({
  method: 'POST',
  path: '/operator/silences',
  body: v.object({ silences: v.array(v.unknown(), 'expected a list of silences') }),
  handle: async ({ c, deps, store, body }) => {
    const { organizationId } = await operatorIdentity(c, store)
    const silences = read(body.silences).map((silence) => ({ ...silence, schedule: null }))
    return json(await deps.engine.run(organizationId, (ctx, now) => importSilences(ctx, silences, now)))
  },
})

function read(silences: unknown): ReturnType<typeof readSilences> {
  try {
    return readSilences(silences)
  } catch (error) {
    if (error instanceof SyntaxError) throw new IncmonError('invalid', `body: silences: ${error.message}`)
    throw error
  }
}
