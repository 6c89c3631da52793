/** The schema of a postmortem in a response. */
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
  textsShape,
} from './shapes.ts'

const words = v.nullable(v.string())
/** A generated sentence and the records that it refers to, for example `alert/<uuid>`. */
const sentence = v.object({
  text: described(v.string(), 'The sentence', 'First signal: OOMKilled from the source cluster.'),
  refs: described(v.array(v.string()), 'The records that it rests on', [`alert/${EXAMPLE_ID}`]),
})
const sentences = described(v.array(sentence), 'What the machine says of it')
const saying = described(sentence, 'What the machine says of it')

const metric = (name: string) =>
  described(
    v.object({
      seconds: described(v.nullable(countShape), 'Null where it is not defined', 412),
      definition: described(v.string(), 'What is measured', 'from the first evidence to the opening'),
      sentence: saying,
    }),
    name,
  )

const contribution = v.object({
  kind: described(v.picklist(['pipeline', 'rollout']), 'What it is'),
  ref: described(v.string(), 'Which one', 'shop/checkout#4711'),
  outcome: described(words, 'What came of it', 'failed'),
  score: described(v.number(), 'How likely it belongs to the trouble', 0.76),
  band: described(v.picklist(['strong', 'probable', 'possible']), 'The score in a word'),
  verdict: described(v.nullable(v.literal('confirmed')), 'What a person said of it', null),
  reasons: reasonsShape,
  lagSeconds: described(v.pipe(v.number(), v.integer()), 'From the change to the condition', 190),
  sentence: saying,
})

const action = v.object({
  id: described(v.string(), 'Its name in this document', 'raise-memory-limit'),
  text: described(v.string(), 'What is to be done', 'Raise the memory limit of the container checkout.'),
  because: described(v.nullable(sentence), 'Why the machine proposes it; null where a person added it'),
  owner: described(words, 'Who does it', null),
  due: described(words, 'Until when: a date', '2026-11-27'),
  state: described(v.picklist(ACTION_STATES), 'How far it is'),
})

const row = v.object({
  at: described(instantShape, 'When it happened'),
  until: described(instantShape, 'The last time, where it repeated'),
  kind: described(v.string(), 'What sort of thing it is', 'alert'),
  text: described(v.string(), 'One line for a person', 'critical CrashLoopBackOff'),
  actor: described(words, "The token's name, or 'the command line'; null for incmon itself", null),
  ref: described(v.string(), 'Its record', `alert/${EXAMPLE_ID}`),
  count: described(countShape, 'How often', 1),
})

const evidence = v.object({
  ref: described(v.string(), 'The record', `alert/${EXAMPLE_ID}`),
  text: described(words, 'What it is; null where only its name is known', 'CrashLoopBackOff on shop/checkout'),
  labels: described(textsShape, 'As the sender wrote them', { namespace: 'shop' }),
  links: described(textsShape, 'Addresses at the sender, by what they lead to', {}),
})

const header = v.object({
  title: described(v.string(), 'Of the incident', 'checkout: CrashLoopBackOff'),
  severity: severityShape,
  state: described(v.picklist(['draft', 'final']), 'Whether people are done with it'),
  revision: described(countShape, 'Rises with every resolution', 1),
  services: described(v.array(v.string()), 'The services in trouble', ['shop/checkout']),
  incident: described(v.string(), 'The incident', `incident/${EXAMPLE_ID}`),
  generatedAt: described(instantShape, 'When the machine wrote it'),
})

const impact = v.object({
  from: described(instantShape, 'When the trouble began'),
  to: described(v.nullable(instantShape), 'When it was over'),
  seconds: described(v.nullable(countShape), 'How long it lasted', 3063),
  pods: described(v.array(v.string()), 'The pods in trouble', ['checkout-6f8d7b9c5-x2kqp']),
  nodes: described(v.array(v.string()), 'The nodes that they ran on', ['worker-2']),
  lowestScore: described(v.nullable(countShape), 'Of the service, while it lasted', 20),
  alerts: described(bySeverityShape, 'How many alerts'),
  sentences,
  customers: described(words, 'What people write of those affected', null),
})

const firstSignal = v.object({
  ref: described(v.string(), 'The record', `alert/${EXAMPLE_ID}`),
  source: described(v.string(), 'Who told of it', 'cluster'),
  at: described(instantShape, 'When'),
})

const sections: Record<keyof Postmortem, v.GenericSchema> = {
  header: described(header, 'What it is about'),
  summary: described(v.object({ sentences, addition: described(words, 'What people add', null) }), 'In short'),
  impact: described(impact, 'What was affected, and how long'),
  detection: described(
    v.object({
      firstSignal: described(v.nullable(firstSignal), 'The first evidence'),
      openedBy: described(v.picklist(['machine', 'person']), 'Who opened the incident'),
      sentences,
    }),
    'How it was noticed',
  ),
  timeline: described(v.array(row), 'What happened, in order'),
  contributing: described(
    v.object({
      from: described(instantShape, 'Changes were looked for from here on'),
      to: described(instantShape, 'And until here'),
      changes: described(v.array(contribution), 'The most likely first'),
      sentences,
    }),
    'Changes that go with it',
  ),
  rootCause: described(
    v.object({
      text: described(words, 'What people write', null),
      hints: described(v.array(sentence), 'Where to look'),
    }),
    'Why it happened',
  ),
  resolution: described(v.object({ sentences }), 'How it ended'),
  metrics: described(
    v.object({
      mttd: metric('Time to detect'),
      mtta: metric('Time to acknowledge'),
      mttr: metric('Time to resolve'),
    }),
    'How fast it went',
  ),
  lessons: described(
    v.object({
      wentWell: described(words, 'What went well', null),
      wentBadly: described(words, 'What went badly', null),
      lucky: described(words, 'What was luck', null),
    }),
    'What people write',
  ),
  actions: described(v.array(action), 'What is to be done'),
  recurrence: described(
    v.object({
      days30: described(countShape, 'Incidents with the same condition in the 30 days before', 0),
      days90: described(countShape, 'In the 90 days before', 1),
      sentences,
    }),
    'Whether it was there before',
  ),
  evidence: described(
    v.object({ records: described(v.array(evidence), 'Every record that is named above'), sentences }),
    'What all of it rests on',
  ),
}

/** Times are ISO 8601 UTC, durations whole seconds. A value is null if it is not in the record or nobody wrote it. */
export const postmortemShape = v.object(sections)
