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
import { timelineEntryShape } from './incident-shape.ts'
import { requireIncident } from './incidents.ts'

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

const storedText = v.nullable(v.string())
/** A generated sentence and the records it refers to, for example `alert/<uuid>`. */
const sentence = v.object({
  text: shape.text('The sentence', 'First signal: CrashLoopBackOff from Kubernetes at 2026-11-20 09:33:00 UTC.'),
  refs: shape.list(v.string(), 'The records that are the evidence', [`alert/${shape.EXAMPLE_ID}`]),
})
const sentences = shape.list(sentence, 'Generated sentences')
const saying = shape.described(sentence, 'Generated sentences')

const metric = (name: string) =>
  shape.object(
    {
      seconds: shape.nullable(shape.count(), 'The value in seconds; null if it cannot be calculated', 412),
      definition: shape.text('The definition of the figure', 'from the first evidence to the opening'),
      sentence: saying,
    },
    name,
  )

const contribution = v.object({
  kind: shape.choice(['pipeline', 'rollout'], 'The kind of change'),
  ref: shape.text('A reference to the change', 'shop/checkout#4711'),
  outcome: shape.described(storedText, 'The outcome of the change', 'failed'),
  score: shape.described(v.number(), 'How likely it is that the change caused the problem', 0.76),
  band: shape.choice(['strong', 'probable', 'possible'], 'The range of the score'),
  verdict: shape.nullable(v.literal('confirmed'), 'The verdict given by a user', null),
  reasons: shape.reasons,
  lagSeconds: shape.described(
    v.pipe(v.number(), v.integer()),
    'The number of seconds from the start of the change to the condition',
    190,
  ),
  sentence: saying,
})

const action = v.object({
  id: shape.text('A key within this document', 'raise-memory-limit'),
  text: shape.text('What to do', 'Raise the memory limit of the container checkout.'),
  because: shape.nullable(sentence, 'The reason for a generated proposal; null if a user added the action'),
  owner: shape.described(storedText, 'The person responsible', null),
  due: shape.described(storedText, 'The due date', '2026-11-27'),
  state: shape.choice(ACTION_STATES, 'The state of the action'),
})

const evidence = v.object({
  ref: shape.text('The record', `alert/${shape.EXAMPLE_ID}`),
  text: shape.described(storedText, 'A description, or null', 'CrashLoopBackOff on shop/checkout'),
  labels: shape.texts('The labels, as received from the sender', { namespace: 'shop' }),
  links: shape.texts("Links to the sender's pages and to the runbook, by purpose", {}),
})

const keyFact = v.object({
  label: shape.choice(
    ['Critical for', 'Lasted', 'No heartbeat for', 'Detected after', 'Cause', 'Fix'],
    'The name of the fact',
  ),
  ...sentence.entries,
})

const header = v.object({
  title: shape.text('The title of the incident', 'checkout: CrashLoopBackOff'),
  severity: shape.severity,
  state: shape.choice(['draft', 'final'], 'final after somebody has marked the postmortem as complete'),
  revision: shape.count('Increases each time the incident is resolved', 1),
  services: shape.list(v.string(), 'The affected services', ['shop/checkout']),
  incident: shape.text('The incident', `incident/${shape.EXAMPLE_ID}`),
  number: v.optional(shape.count('The number of the incident; absent from documents of earlier versions', 41)),
  generatedAt: shape.instant('When the postmortem was generated'),
})

const impact = v.object({
  from: shape.instant('When the problem began'),
  to: shape.nullable(shape.instant(), 'When the problem ended, if its end was reported'),
  seconds: shape.nullable(
    shape.count(),
    'How long the service was critical, in seconds, without the periods in which it was not, until its last report if no end was reported; how long the incident lasted, if it never was critical',
    3063,
  ),
  pods: shape.list(v.string(), 'The affected pods', ['checkout-6f8d7b9c5-x2kqp']),
  nodes: shape.list(v.string(), 'The nodes of the affected pods', ['worker-2']),
  lowestScore: shape.nullable(shape.count(), 'The lowest score of the service during the problem', 20),
  alerts: shape.described(shape.bySeverity, 'The number of alerts by severity'),
  sentences,
  customers: shape.described(storedText, 'The impact on customers, written by users', null),
})

const firstSignal = v.object({
  ref: shape.text('The record', `alert/${shape.EXAMPLE_ID}`),
  source: shape.text('The webhook that received the signal', 'cluster'),
  at: shape.instant('When'),
})

const sections: Record<keyof Postmortem, v.GenericSchema> = {
  header: shape.described(header, 'Title, severity, state and services'),
  summary: shape.object(
    {
      sentences,
      facts: v.optional(
        shape.list(keyFact, 'The facts at the top of the page; absent in documents of earlier versions'),
      ),
      addition: shape.described(storedText, 'What people add', null),
    },
    'A short summary',
  ),
  impact: shape.described(impact, 'The impact and its duration'),
  detection: shape.object(
    {
      firstSignal: shape.nullable(firstSignal, 'The first evidence'),
      openedBy: shape.choice(['machine', 'person'], 'Who opened the incident'),
      sentences,
    },
    'How the problem was detected',
  ),
  timeline: shape.list(timelineEntryShape, 'The timeline, oldest first'),
  contributing: shape.object(
    {
      from: shape.instant('The start of the period that was searched for changes'),
      to: shape.instant('The end of the period that was searched for changes'),
      changes: shape.list(contribution, 'Most likely first'),
      sentences,
    },
    'Changes that may be the cause',
  ),
  rootCause: shape.object(
    { text: shape.described(storedText, 'Written by people', null), hints: shape.list(sentence, 'Where to look') },
    'Why the problem happened',
  ),
  resolution: shape.object({ sentences }, 'How the problem ended'),
  metrics: shape.object(
    { ttd: metric('Time to detect'), tta: metric('Time to acknowledge'), ttr: metric('Time to resolve') },
    'Times to detect, acknowledge and resolve',
  ),
  lessons: shape.object(
    {
      wentWell: shape.described(storedText, 'What went well', null),
      wentBadly: shape.described(storedText, 'What went badly', null),
      lucky: shape.described(storedText, 'Where the responders were lucky', null),
    },
    'Written by people',
  ),
  actions: shape.list(action, 'What to do'),
  recurrence: shape.object(
    {
      days30: shape.count('Incidents with the same condition in the previous 30 days', 0),
      days90: shape.count('Incidents with the same condition in the previous 90 days', 1),
      sentences,
    },
    'Earlier incidents with the same condition',
  ),
  evidence: shape.object(
    { records: shape.list(evidence, 'All records that the postmortem refers to'), sentences },
    'The evidence',
  ),
}

/**
 * Times are in ISO 8601 UTC, and durations are in whole seconds. A value is null if it is unknown or not yet written.
 */
const postmortemShape = shape.named('Postmortem', sections)

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
