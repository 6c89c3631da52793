/** The postmortem in an answer: every section as the contract documents it. */
import * as v from 'valibot'
import type { Postmortem } from '../domain/postmortem.ts'
import { ACTION_STATES } from '../domain/postmortem-document.ts'
import { SEVERITIES } from '../domain/severity.ts'
import { countShape, instantShape, textsShape } from './shapes.ts'

const words = v.nullable(v.string())
/** A sentence of the machine, and the records that it rests on: `alert/<uuid>`. */
const sentence = v.object({ text: v.string(), refs: v.array(v.string()) })
const sentences = v.array(sentence)
const metric = v.object({ seconds: v.nullable(countShape), definition: v.string(), sentence })

const contribution = v.object({
  kind: v.picklist(['pipeline', 'rollout']),
  ref: v.string(),
  outcome: words,
  score: v.number(),
  band: v.picklist(['strong', 'probable', 'possible']),
  verdict: v.nullable(v.literal('confirmed')),
  reasons: v.array(v.object({ code: v.string(), text: v.string() })),
  lagSeconds: v.pipe(v.number(), v.integer()),
  sentence,
})

const action = v.object({
  id: v.string(),
  text: v.string(),
  because: v.nullable(sentence),
  owner: words,
  due: words,
  state: v.picklist(ACTION_STATES),
})

const row = v.object({
  at: instantShape,
  until: instantShape,
  kind: v.string(),
  text: v.string(),
  actor: words,
  ref: v.string(),
  count: countShape,
})

const sections: Record<keyof Postmortem, v.GenericSchema> = {
  header: v.object({
    title: v.string(),
    severity: v.picklist(SEVERITIES),
    state: v.picklist(['draft', 'final']),
    revision: countShape,
    services: v.array(v.string()),
    incident: v.string(),
    generatedAt: instantShape,
  }),
  summary: v.object({ sentences, addition: words }),
  impact: v.object({
    from: instantShape,
    to: v.nullable(instantShape),
    seconds: v.nullable(countShape),
    pods: v.array(v.string()),
    nodes: v.array(v.string()),
    lowestScore: v.nullable(countShape),
    alerts: v.object({ critical: countShape, error: countShape, warning: countShape, info: countShape }),
    sentences,
    customers: words,
  }),
  detection: v.object({
    firstSignal: v.nullable(v.object({ ref: v.string(), source: v.string(), at: instantShape })),
    openedBy: v.picklist(['machine', 'person']),
    sentences,
  }),
  timeline: v.array(row),
  contributing: v.object({ from: instantShape, to: instantShape, changes: v.array(contribution), sentences }),
  rootCause: v.object({ text: words, hints: sentences }),
  resolution: v.object({ sentences }),
  metrics: v.object({ mttd: metric, mtta: metric, mttr: metric }),
  lessons: v.object({ wentWell: words, wentBadly: words, lucky: words }),
  actions: v.array(action),
  recurrence: v.object({ days30: countShape, days90: countShape, sentences }),
  evidence: v.object({
    records: v.array(v.object({ ref: v.string(), text: words, labels: textsShape, links: textsShape })),
    sentences,
  }),
}

/** Times in ISO 8601 UTC, durations in whole seconds; what is null is not in the record, or nobody wrote it. */
export const postmortemShape = v.object(sections)
