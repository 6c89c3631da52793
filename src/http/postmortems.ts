/** /api/incidents/:id/postmortem: the document of a resolved incident, as JSON or as Markdown. */
import { accepts } from 'hono/accepts'
import * as v from 'valibot'
import { IncmonError } from '../domain/error.ts'
import { markdown, merge, type Postmortem } from '../domain/postmortem.ts'
import { ACTION_STATES } from '../domain/postmortem-document.ts'
import { editPostmortem, whyNoPostmortem } from '../operations/postmortems.ts'
import { findPostmortem } from '../store/postmortems.ts'
import { requireIncident } from './incidents.ts'
import { postmortemShape } from './postmortem-shape.ts'
import { wordParameter } from './query.ts'
import { type Call, type Route, rest } from './route.ts'
import { refusals, success } from './shapes.ts'

const PATH = '/api/incidents/:id/postmortem'
const LONGEST_TEXT = 65_536
const TYPES: Parameters<typeof accepts>[1] = {
  header: 'Accept',
  supports: ['application/json', 'text/markdown'],
  default: 'application/json',
}

const words = v.optional(
  v.nullable(v.pipe(v.string(), v.maxLength(LONGEST_TEXT, `too long; at most ${LONGEST_TEXT} characters`))),
)
const editsShape = v.object({
  state: v.optional(wordParameter(['draft', 'final'])),
  summary: words,
  impact: v.optional(v.object({ customers: words })),
  rootCause: words,
  lessons: v.optional(v.object({ wentWell: words, wentBadly: words, lucky: words })),
  actions: v.optional(
    v.pipe(
      v.array(
        v.object({
          id: v.pipe(v.string(), v.maxLength(100)),
          text: words,
          owner: words,
          due: words,
          state: v.optional(wordParameter(ACTION_STATES)),
        }),
      ),
      v.maxLength(100, 'too many; at most 100 actions'),
    ),
  ),
})

export const postmortemRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: PATH,
    summary: 'The postmortem of a resolved incident; Markdown with Accept: text/markdown',
    scope: 'read',
    answers: {
      200: { description: 'The newest revision, with what people wrote', body: postmortemShape, text: 'text/markdown' },
    },
    handle: answerPostmortem,
  }),
  rest({
    method: 'PATCH',
    path: PATH,
    summary: 'Write the human sections and actions, or set the state',
    scope: 'write',
    body: editsShape,
    answers: { ...success(postmortemShape, 'The postmortem as it is now'), ...refusals(409) },
    handle: (call) => {
      requirePostmortem(call)
      editPostmortem(call.deps, call.identity.organizationId, call.id, call.body)
      return answerPostmortem(call)
    },
  }),
]

function answerPostmortem(call: Call<unknown, unknown>): Response {
  const { c } = call
  const postmortem = requirePostmortem(call)
  c.header('Vary', 'Accept')
  if (accepts(c, TYPES) === TYPES.default) return c.json(postmortem)
  return c.body(markdown(postmortem), 200, { 'Content-Type': 'text/markdown; charset=utf-8' })
}

function requirePostmortem(call: Call<unknown, unknown>): Postmortem {
  const { resolvedAt } = requireIncident(call)
  const found = findPostmortem(call.deps.db, call.identity.organizationId, call.id)
  if (!found) throw new IncmonError('not-found', whyNoPostmortem(call.identity.plan, resolvedAt))
  return merge(found.document, found.edits, found.state)
}
