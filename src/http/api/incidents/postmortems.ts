/** /api/incidents/:id/postmortem: the postmortem of a resolved incident, as JSON or Markdown. */
import { accepts } from 'hono/accepts'
import * as v from 'valibot'
import { editPostmortem, requireWritten, whyNoPostmortem } from '../../../actions/postmortems.ts'
import { IncmonError } from '../../../domain/error.ts'
import { ACTION_STATES, type Postmortem } from '../../../domain/postmortem/document.ts'
import { merge } from '../../../domain/postmortem/edits.ts'
import { markdown } from '../../../domain/postmortem/markdown.ts'
import { findGraph } from '../../../store/incident/graphs.ts'
import { findPostmortem } from '../../../store/incident/postmortems.ts'
import { wordParameter } from '../../middleware/query.ts'
import { json, type Reply, text } from '../../middleware/reply.ts'
import { type Call, type Route, rest } from '../../route.ts'
import * as shape from '../../shapes.ts'
import { refusals, success } from '../answers.ts'
import { requireIncident } from './incidents.ts'
import { postmortemShape } from './postmortem-shape.ts'

const PATH = '/api/incidents/:id/postmortem'
const MAX_TEXT = 65_536
const VARIES = { vary: 'Accept' }
const REFUSALS = {
  404: 'The organization of the token has no incident with this id, or the incident has no postmortem',
  503: 'The postmortem is not written yet',
}
const TYPES: Parameters<typeof accepts>[1] = {
  header: 'Accept',
  supports: ['application/json', 'text/markdown'],
  default: 'application/json',
}

const textField = v.nullable(v.pipe(v.string(), v.maxLength(MAX_TEXT, `too long; at most ${MAX_TEXT} characters`)))
const words = (description: string) => shape.optional(textField, description)
const editsShape = v.object({
  state: shape.optional(wordParameter(['draft', 'final']), 'final marks the postmortem as complete'),
  summary: words('Text to add to the generated summary'),
  impact: shape.optional(
    v.object({ customers: words('Who was affected and how') }),
    'Text to add to the generated impact section',
  ),
  rootCause: words('The cause'),
  lessons: shape.optional(
    v.object({
      wentWell: words('What went well'),
      wentBadly: words('What went badly'),
      lucky: words('Where the responders were lucky'),
    }),
    'Lessons',
  ),
  actions: shape.optional(
    v.pipe(
      v.array(
        v.object({
          id: shape.described(v.pipe(v.string(), v.maxLength(100)), 'The key of an existing action, or a new key'),
          text: words('What to do'),
          owner: words('The person responsible'),
          due: words('The due date, for example 2026-11-27'),
          state: shape.optional(wordParameter(ACTION_STATES), 'The state of the action'),
        }),
      ),
      v.maxLength(100, 'too many; at most 100 actions'),
    ),
    'Actions; omitted existing actions stay unchanged',
  ),
})

const EDITS = {
  rootCause: 'The limit of 256 MiB was too low for the new cache.',
  lessons: { wentWell: 'Rolled back at once.' },
}

export const postmortemRoutes: readonly Route[] = [
  rest(`GET ${PATH}`, {
    summary: 'Show the postmortem of a resolved incident',
    description: 'JSON, or Markdown with Accept: text/markdown.',
    scope: 'read',
    answers: {
      200: {
        description: 'The latest revision, including the text that users wrote',
        body: postmortemShape,
        text: 'text/markdown',
      },
      ...refusals(REFUSALS),
    },
    handle: answerPostmortem,
  }),
  rest(`PATCH ${PATH}`, {
    summary: 'Edit the sections that users write, the actions or the state',
    description: 'Omitted fields stay unchanged, and null clears a section. Generated sections cannot be edited.',
    scope: 'write',
    body: shape.described(editsShape, 'The sections that users write', EDITS),
    answers: {
      ...success(postmortemShape, 'The changed postmortem'),
      ...refusals({
        ...REFUSALS,
        409: 'The postmortem is final, or somebody else has changed the same part of it',
      }),
    },
    handle: async (call) => {
      await requirePostmortem(call)
      await call.own.run(editPostmortem, call.id, call.body)
      return answerPostmortem(call)
    },
  }),
]

async function answerPostmortem(call: Call): Promise<Reply> {
  const postmortem = await requirePostmortem(call)
  if (accepts(call.c, TYPES) === TYPES.default) return json(postmortem, 200, VARIES)
  const { startedAt } = await requireIncident(call)
  const found = await call.own.read(findGraph, call.id)
  return text(markdown(postmortem, found && { found, startedAt }), 'text/markdown; charset=utf-8', VARIES)
}

async function requirePostmortem(call: Call): Promise<Postmortem> {
  const { resolvedAt } = await requireIncident(call)
  await call.own.run(requireWritten, call.id)
  const found = await call.own.read(findPostmortem, call.id)
  if (!found) throw new IncmonError('not-found', whyNoPostmortem(call.identity.plan, resolvedAt))
  return merge(found.document, found.edits, found.state)
}
