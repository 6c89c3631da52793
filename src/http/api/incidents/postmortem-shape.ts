/** The schema of a postmortem as the API returns it. */
import * as v from 'valibot'
import { ACTION_STATES, type Postmortem } from '../../../domain/postmortem/document.ts'
import * as shape from '../../shapes.ts'
import { timelineEntryShape } from './incident-shape.ts'

const words = v.nullable(v.string())
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
  outcome: shape.described(words, 'The outcome of the change', 'failed'),
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
  owner: shape.described(words, 'The person responsible', null),
  due: shape.described(words, 'The due date', '2026-11-27'),
  state: shape.choice(ACTION_STATES, 'The state of the action'),
})

const evidence = v.object({
  ref: shape.text('The record', `alert/${shape.EXAMPLE_ID}`),
  text: shape.described(words, 'A description, or null', 'CrashLoopBackOff on shop/checkout'),
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
  customers: shape.described(words, 'The impact on customers, written by users', null),
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
      addition: shape.described(words, 'What people add', null),
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
    { text: shape.described(words, 'Written by people', null), hints: shape.list(sentence, 'Where to look') },
    'Why the problem happened',
  ),
  resolution: shape.object({ sentences }, 'How the problem ended'),
  metrics: shape.object(
    { ttd: metric('Time to detect'), tta: metric('Time to acknowledge'), ttr: metric('Time to resolve') },
    'Times to detect, acknowledge and resolve',
  ),
  lessons: shape.object(
    {
      wentWell: shape.described(words, 'What went well', null),
      wentBadly: shape.described(words, 'What went badly', null),
      lucky: shape.described(words, 'Where the responders were lucky', null),
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
export const postmortemShape = shape.named('Postmortem', sections)
