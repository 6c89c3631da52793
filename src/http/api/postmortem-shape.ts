/** The schema of a postmortem as the API returns it. */
import * as v from 'valibot'
import { ACTION_STATES } from '../../domain/postmortem/document.ts'
import type { Postmortem } from '../../domain/postmortem/postmortem.ts'
import {
  bySeverityShape,
  countShape,
  described,
  EXAMPLE_ID,
  instantShape,
  reasonsShape,
  severityShape,
  sourceShape,
  textsShape,
} from './shapes.ts'

const words = v.nullable(v.string())
/** A generated sentence and the records it refers to, for example `alert/<uuid>`. */
const sentence = v.object({
  text: described(v.string(), 'The sentence', 'First signal: OOMKilled from the source cluster.'),
  refs: described(v.array(v.string()), 'The records that are the evidence', [`alert/${EXAMPLE_ID}`]),
})
const sentences = described(v.array(sentence), 'Generated sentences')
const saying = described(sentence, 'Generated sentences')

const metric = (name: string) =>
  described(
    v.object({
      seconds: described(v.nullable(countShape), 'The value in seconds; null if it cannot be calculated', 412),
      definition: described(v.string(), 'The definition of the figure', 'from the first evidence to the opening'),
      sentence: saying,
    }),
    name,
  )

const contribution = v.object({
  kind: described(v.picklist(['pipeline', 'rollout']), 'The kind of change'),
  ref: described(v.string(), 'A reference to the change', 'shop/checkout#4711'),
  outcome: described(words, 'The outcome of the change', 'failed'),
  score: described(v.number(), 'How likely it is that the change caused the problem', 0.76),
  band: described(v.picklist(['strong', 'probable', 'possible']), 'The range of the score'),
  verdict: described(v.nullable(v.literal('confirmed')), 'The verdict given by a user', null),
  reasons: reasonsShape,
  lagSeconds: described(
    v.pipe(v.number(), v.integer()),
    'The seconds from the start of the change to the condition',
    190,
  ),
  sentence: saying,
})

const action = v.object({
  id: described(v.string(), 'A key within this document', 'raise-memory-limit'),
  text: described(v.string(), 'What to do', 'Raise the memory limit of the container checkout.'),
  because: described(v.nullable(sentence), 'The reason for a generated proposal; null if a user added the action'),
  owner: described(words, 'The person responsible', null),
  due: described(words, 'The due date', '2026-11-27'),
  state: described(v.picklist(ACTION_STATES), 'The state of the action'),
})

const row = v.object({
  at: described(instantShape, 'When it happened'),
  until: described(instantShape, 'When the alert was last seen, the pipeline ended, or the entry was last repeated'),
  kind: described(v.string(), 'The kind of entry', 'alert'),
  text: described(v.string(), 'A description in one line', 'critical CrashLoopBackOff'),
  actor: described(
    words,
    'The name of the token, or the login name of the person who ran the command; null for senders and incmon',
    null,
  ),
  source: described(
    v.nullable(sourceShape),
    'The source that reported the entry; null for actions by incmon or a user',
  ),
  ref: described(v.string(), 'Its record', `alert/${EXAMPLE_ID}`),
  count: described(countShape, 'The number of similar alerts or repeats in the row', 1),
  seen: described(countShape, 'The number of events that reported the alerts or repeats', 1),
})

const evidence = v.object({
  ref: described(v.string(), 'The record', `alert/${EXAMPLE_ID}`),
  text: described(words, 'A description, or null', 'CrashLoopBackOff on shop/checkout'),
  labels: described(textsShape, 'The labels, as received from the sender', { namespace: 'shop' }),
  links: described(textsShape, 'Links to the sender, by purpose', {}),
})

const header = v.object({
  title: described(v.string(), 'The title of the incident', 'checkout: CrashLoopBackOff'),
  severity: severityShape,
  state: described(v.picklist(['draft', 'final']), 'final after somebody has marked the postmortem as complete'),
  revision: described(countShape, 'Increases each time the incident is resolved', 1),
  services: described(v.array(v.string()), 'The affected services', ['shop/checkout']),
  incident: described(v.string(), 'The incident', `incident/${EXAMPLE_ID}`),
  generatedAt: described(instantShape, 'When the postmortem was generated'),
})

const impact = v.object({
  from: described(instantShape, 'When the problem began'),
  to: described(v.nullable(instantShape), 'When the problem ended'),
  seconds: described(v.nullable(countShape), 'How long the problem lasted, in seconds', 3063),
  pods: described(v.array(v.string()), 'The affected pods', ['checkout-6f8d7b9c5-x2kqp']),
  nodes: described(v.array(v.string()), 'The nodes of the affected pods', ['worker-2']),
  lowestScore: described(v.nullable(countShape), 'The lowest score of the service during the problem', 20),
  alerts: described(bySeverityShape, 'The number of alerts by severity'),
  sentences,
  customers: described(words, 'The impact on customers, written by users', null),
})

const firstSignal = v.object({
  ref: described(v.string(), 'The record', `alert/${EXAMPLE_ID}`),
  source: described(v.string(), 'The source that reported the signal', 'cluster'),
  at: described(instantShape, 'When'),
})

const sections: Record<keyof Postmortem, v.GenericSchema> = {
  header: described(header, 'Title, severity, state and services'),
  summary: described(v.object({ sentences, addition: described(words, 'What people add', null) }), 'A short summary'),
  impact: described(impact, 'The impact and its duration'),
  detection: described(
    v.object({
      firstSignal: described(v.nullable(firstSignal), 'The first evidence'),
      openedBy: described(v.picklist(['machine', 'person']), 'Who opened the incident'),
      sentences,
    }),
    'How the problem was detected',
  ),
  timeline: described(v.array(row), 'The timeline, oldest first'),
  contributing: described(
    v.object({
      from: described(instantShape, 'The start of the period that was searched for changes'),
      to: described(instantShape, 'The end of the period that was searched for changes'),
      changes: described(v.array(contribution), 'Most likely first'),
      sentences,
    }),
    'Changes that may be the cause',
  ),
  rootCause: described(
    v.object({
      text: described(words, 'Written by people', null),
      hints: described(v.array(sentence), 'Where to look'),
    }),
    'Why the problem happened',
  ),
  resolution: described(v.object({ sentences }), 'How the problem ended'),
  metrics: described(
    v.object({ ttd: metric('Time to detect'), tta: metric('Time to acknowledge'), ttr: metric('Time to resolve') }),
    'Times to detect, acknowledge and resolve',
  ),
  lessons: described(
    v.object({
      wentWell: described(words, 'What went well', null),
      wentBadly: described(words, 'What went badly', null),
      lucky: described(words, 'Where the responders were lucky', null),
    }),
    'Written by people',
  ),
  actions: described(v.array(action), 'What to do'),
  recurrence: described(
    v.object({
      days30: described(countShape, 'Incidents with the same condition in the previous 30 days', 0),
      days90: described(countShape, 'Incidents with the same condition in the previous 90 days', 1),
      sentences,
    }),
    'Earlier incidents with the same condition',
  ),
  evidence: described(
    v.object({ records: described(v.array(evidence), 'All records that the postmortem refers to'), sentences }),
    'The evidence',
  ),
}

/** Times are in ISO 8601 UTC, durations in whole seconds. A value is null if it is unknown or not yet written. */
export const postmortemShape = v.object(sections)
