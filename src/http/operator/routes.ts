/** Operator-only operations: organizations, setup links, pruning, and lookup of records by a partial id. */
import * as v from 'valibot'
import { changeOrganization, createOrganization } from '../../actions/organizations.ts'
import { pruneByHand } from '../../actions/pruning/prune.ts'
import { createSetupLink } from '../../actions/sessions.ts'
import { programVersion } from '../../assets.ts'
import { IncmonError } from '../../domain/error.ts'
import { PLANS, type Plan } from '../../domain/organization.ts'
import { importSilences } from '../../engine/changes/silences/silences.ts'
import { readSilences } from '../../intake/silences.ts'
import { findIdMatches } from '../../store/id-matches.ts'
import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import { operatorIdentity } from '../middleware/auth.ts'
import { textField, uuidField } from '../middleware/body.ts'
import { notFound, problemOf } from '../middleware/problem.ts'
import { wordParameter } from '../middleware/query.ts'
import { json } from '../middleware/reply.ts'
import { operator } from '../route.ts'
import { instantText } from '../shapes.ts'

const PRUNE_PATH = '/operator/prune'
/** The pause between steps, in which the server handles other requests. */
const PAUSE_MS = 5

/**
 * Returns JSON lines: `{ progress }` after each step, `{ survey }` or `{ outcome }` for each organization, then `{ done
 * }`, or `{ error }` if the pruning fails. Pruning stops when the client closes the connection; records already deleted
 * stay deleted.
 */
const pruneRoute = operator(`POST ${PRUNE_PATH}`, {
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
    const work = await store.run(pruneByHand, chosen, { dryRun, approved })
    const encoder = new TextEncoder()
    const line = (value: unknown) => encoder.encode(`${JSON.stringify(value)}\n`)
    async function* lines() {
      try {
        for (const value of work) {
          yield line(value)
          await server.pause(PAUSE_MS)
        }
        yield line({ done: true })
      } catch (error) {
        server.refusals.add({ status: 500, route: `POST ${PRUNE_PATH}`, error })
        yield line({ error: problemOf(error).detail })
      }
    }
    const stream = ReadableStream.from<Uint8Array>(lines()) as ReadableStream<Uint8Array>
    return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, body: stream }
  },
})

const PATH = '/operator/organizations'
const MAX_NAME = 100
const FREE: Plan = 'Free'

/** Operator routes. These routes exist only on the Unix socket and within the program. */
export const operatorRoutes = [
  operator(`GET ${PATH}`, {
    handle: async ({ store }) => json((await store.read(listOrganizations)).map(showOrganization)),
  }),
  operator(`POST ${PATH}`, {
    body: v.object({ name: textField(MAX_NAME), plan: v.optional(wordParameter(PLANS), FREE) }),
    handle: async ({ store, body }) => json(showOrganization(await store.run(createOrganization, body)), 201),
  }),
  operator(`PATCH ${PATH}/:id`, {
    body: v.object({ name: v.optional(textField(MAX_NAME)), plan: v.optional(wordParameter(PLANS)) }),
    handle: async ({ store, id, body }) => {
      const found = (await store.read(listOrganizations)).find((one) => one.id === id)
      if (!found) throw notFound('organization', 'GET /operator/organizations')
      return json(showOrganization(await store.run(changeOrganization, found.rowId, body)))
    },
  }),
  // A command compares this version with its own version.
  operator('GET /operator/server', {
    handle: ({ store, server }) =>
      json({
        ...{ program: 'incmon', version: programVersion(), database: store.file, listening: server.listening() },
        refusedSenders: server.wrongTokens.senders(),
      }),
  }),
  operator('POST /operator/setup-links', {
    handle: async ({ c, store }) => {
      const { organizationId } = await operatorIdentity(c, store)
      return json(await store.run(createSetupLink, organizationId), 201)
    },
  }),
  // Imports silences from the output of `amtool silence query -o json`. Importing a silence again changes nothing.
  operator('POST /operator/silences', {
    body: v.object({ silences: v.array(v.unknown(), 'expected a list of silences') }),
    handle: async ({ c, deps, store, body }) => {
      const { organizationId } = await operatorIdentity(c, store)
      const silences = read(body.silences).map((silence) => ({ ...silence, schedule: null }))
      return json(await deps.engine.run(organizationId, (ctx, now) => importSilences(ctx, silences, now)))
    },
  }),
  // Each of these routes looks up records and returns `[{ id, number, organization: { id, name } }]`.
  ...(['incidents', 'alerts', 'silences'] as const).map((table) =>
    operator(`GET /operator/${table}/:id`, {
      handle: async ({ store, id }) => json(await store.read(findIdMatches, table, id)),
    }),
  ),
  pruneRoute,
]

export function showOrganization({ id, name, plan, settings, createdAt }: OrganizationRecord) {
  return { id, name, plan, settings, createdAt: instantText(createdAt) }
}

function read(silences: unknown): ReturnType<typeof readSilences> {
  try {
    return readSilences(silences)
  } catch (error) {
    if (error instanceof SyntaxError) throw new IncmonError('invalid', `body: silences: ${error.message}`)
    throw error
  }
}
