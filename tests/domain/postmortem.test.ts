/** Postmortems: the document is built from the record, and the same facts produce the same bytes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { PostmortemFacts } from '../../src/domain/incident/facts.ts'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { generate } from '../../src/domain/postmortem/postmortem.ts'
import { assertGolden, documentOf, factsOf, GOLDENS, markdownOf } from './postmortem-goldens.ts'

test('there are six golden scenarios', () => assert.equal(GOLDENS.length, 6))

for (const golden of GOLDENS) {
  test(`postmortem of ${golden.name} is byte for byte the golden one`, () => {
    assertGolden(`${golden.name}.document.json`, `${JSON.stringify(documentOf(golden), null, 2)}\n`)
    assertGolden(`${golden.name}.md`, markdownOf(golden))
  })

  test(`postmortem of ${golden.name}: the order of the facts does not matter`, () => {
    const expected = JSON.stringify(generate(golden.facts))
    const property = fc.property(fc.infiniteStream(fc.nat()), (stream) => {
      assert.equal(JSON.stringify(generate(shuffled(golden.facts, stream))), expected)
    })
    fc.assert(property, { numRuns: 20 })
  })

  test(`postmortem of ${golden.name}: every sentence refers to evidence that is listed`, () => {
    const document = generate(golden.facts)
    const listed = new Set(document.evidence.records.map(({ ref }) => ref))
    for (const refs of refsIn(document)) {
      assert.ok(refs.length > 0)
      for (const ref of refs) assert.ok(listed.has(ref), ref)
    }
  })
}

/** Returns every `refs` list in the document. */
function refsIn(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (key === 'refs' ? [inner as string[]] : refsIn(inner)))
}

function shuffled(facts: PostmortemFacts, stream: Iterator<number>): PostmortemFacts {
  const draw = () => stream.next().value as number
  const mix = <T>(items: readonly T[]) =>
    items
      .map((item) => [draw(), item] as const)
      .sort(([a], [b]) => a - b)
      .map(([, item]) => item)
  const arrays = Object.entries(facts).map(([key, value]) => [key, Array.isArray(value) ? mix(value) : value])
  const mixed: PostmortemFacts = Object.fromEntries(arrays)
  const alerts = mixed.alerts.map((alert) => ({ ...alert, objects: mix(alert.objects) }))
  return { ...mixed, alerts, suspects: facts.suspects }
}

const IMAGE = factsOf('bad-image-tag')
const LATE = factsOf('late-and-reopened')

function withIncident(facts: PostmortemFacts, incident: Partial<PostmortemFacts['incident']>): PostmortemFacts {
  return { ...facts, incident: { ...facts.incident, ...incident } }
}

test('a person is named only as the actor of an action', () => {
  const { contributing, rootCause, summary, actions } = generate(LATE)
  assert.doesNotMatch(JSON.stringify([contributing, rootCause, summary, actions]), /oncall-cleo/)
})

test('if the clock was set back during the incident, the postmortem says so and has no durations', () => {
  const { createdAt } = IMAGE.incident
  const [startedAt, acknowledgedAt, resolvedAt] = [-1431, -1425, -1400].map((minutes) => createdAt + minutes * 60_000)
  const incident = { startedAt: startedAt ?? 0, acknowledgedAt: acknowledgedAt ?? 0, resolvedAt: resolvedAt ?? 0 }
  const { metrics, detection, impact } = generate(withIncident(IMAGE, incident))
  assert.equal(impact.seconds, null)
  for (const { seconds, sentence } of Object.values(metrics)) {
    assert.equal(seconds, null)
    assert.equal(sentence.text, 'Undefined: the clock was probably set back during the incident.')
  }
  assert.match(
    detection.sentences.at(-1)?.text ?? '',
    /^The acknowledgement is 23 h 45 min earlier than the opening\. /,
  )
})

test('a rollout is told with the suspected pipeline that caused it', () => {
  const pipeline = IMAGE.correlations.find(({ change }) => change.kind === 'pipeline')?.change.ref ?? ''
  const rollout = IMAGE.correlations.find(({ change }) => change.kind === 'rollout')?.change.ref ?? ''
  const change = IMAGE.changes.find(({ ref }) => ref === pipeline) ?? null
  const suspects = [{ kind: 'pipeline' as const, ref: pipeline, change, score: 0.9, reasons: [], rollouts: [rollout] }]
  const { changes } = generate({ ...IMAGE, suspects }).contributing
  assert.deepEqual(
    changes.map(({ ref }) => ref).filter((ref) => ref === pipeline || ref === rollout),
    [pipeline],
  )
  assert.ok(changes[0]?.sentence.text.includes(` and failed, with rollout ${rollout}`), changes[0]?.sentence.text)
})

test('a confirmed link precedes a better one, and a rejected one is omitted', () => {
  const [first, second, third] = IMAGE.correlations
  const correlations = [
    { ...first!, verdict: 'rejected' as const },
    { ...second!, verdict: 'confirmed' as const },
    third!,
  ]
  const { contributing } = generate({ ...IMAGE, correlations })
  assert.deepEqual(
    contributing.changes.map(({ ref, score }) => [ref, score]),
    [
      ['shop/cart@5d4f8c7b9', 0.8],
      ['shop/cart-api#4711', 1],
    ],
  )
  assert.match(contributing.sentences[0]?.text ?? '', /^A user rejected pipeline shop\/cart-api#4711 as the cause\.$/)
})

test('the changes are in the order of the suspects, including one without a link', () => {
  const [pipeline, rollout] = IMAGE.suspects
  const other = { ...pipeline!, ref: 'shop/pay#7', change: { ...pipeline!.change!, ref: 'shop/pay#7' }, score: 0.45 }
  const { contributing, summary } = generate({ ...IMAGE, suspects: [other, rollout!, pipeline!] })
  const found = contributing.changes.map(({ ref, band }) => [ref, band])
  assert.deepEqual(found[0], ['shop/pay#7', 'probable'])
  assert.deepEqual(
    found.slice(1).map(([ref]) => ref),
    [rollout!.ref, pipeline!.ref],
  )
  assert.ok(
    summary.sentences.some(({ text }) =>
      /trigger is pipeline shop\/pay#7 .* This change has a score of 0\.45 \(possible\)/.test(text),
    ),
  )
})

test('a linked change that is not a suspect is not called the trigger', () => {
  const { contributing, summary } = generate({ ...IMAGE, suspects: [] })
  assert.ok(contributing.changes.length > 0)
  assert.ok(summary.sentences.some(({ text }) => text === 'No change stands out as the cause.'))
})

test('if all links are rejected, no correlated change is found, and the searched period is stated', () => {
  const correlations = IMAGE.correlations.map((link) => ({ ...link, verdict: 'rejected' as const }))
  const { contributing, summary } = generate({ ...IMAGE, correlations })
  const text = 'No other change that could have caused the incident was found'
  const told = contributing.sentences.map((sentence) => sentence.text)
  assert.match(told[0] ?? '', /^A user rejected pipeline shop\/cart-api#4711 and rollout .* as the cause\.$/)
  assert.equal(told[1], `${text}. The 30 min before the incident were searched (2026-03-14 01:41:09 to 02:11:09 UTC).`)
  assert.ok(summary.sentences.some((sentence) => sentence.text === `${text}.`))
})

test('missing facts are described as missing', () => {
  const bare = { ...IMAGE, alerts: [], entries: [], events: [], changes: [], correlations: [], lowestScore: null }
  const text = markdown(
    generate(withIncident(bare, { acknowledgedAt: null, resolvedAt: null, critical: { ms: 0, until: null } })),
  )
  for (const part of [
    'no resolution was recorded',
    'No alert was recorded for this incident',
    'First signal: none recorded',
    'Nobody acknowledged the incident',
    'cart: not recorded',
    'No resolution was recorded',
  ]) {
    assert.ok(text.includes(part), part)
  }
})

test('metrics without a start or an end are null and explain why', () => {
  const { metrics } = generate(
    withIncident(
      { ...IMAGE, alerts: [] },
      { startedAt: IMAGE.incident.createdAt, acknowledgedAt: null, resolvedAt: null },
    ),
  )
  assert.deepEqual([metrics.ttd.seconds, metrics.tta.seconds, metrics.ttr.seconds], [null, null, null])
  assert.match(metrics.tta.sentence.text, /^Undefined: nobody acknowledged the incident\.$/)
})

test('metrics are never negative, whatever the times', () => {
  const time = fc.integer({ min: 0, max: 4e12 })
  const times = fc.record({
    createdAt: time,
    startedAt: time,
    acknowledgedAt: fc.option(time),
    resolvedAt: fc.option(time),
  })
  const property = fc.property(times, (drawn) => {
    const { metrics, impact } = generate(withIncident(IMAGE, drawn))
    for (const seconds of [metrics.ttd.seconds, metrics.tta.seconds, metrics.ttr.seconds, impact.seconds]) {
      assert.ok(seconds === null || (Number.isInteger(seconds) && seconds >= 0))
    }
  })
  fc.assert(property, { numRuns: 200 })
})

const PROPOSALS: readonly (readonly [string, PostmortemFacts, readonly string[]])[] = [
  ['an image that does not exist', IMAGE, ['image-digests']],
  [
    'an image that does not exist, with the usual hint',
    {
      ...IMAGE,
      alerts: IMAGE.alerts.map((one) => ({ ...one, hint: 'check its name, its tag and the credentials' })),
    },
    ['image-digests'],
  ],
  [
    'credentials',
    { ...IMAGE, alerts: IMAGE.alerts.map((one) => ({ ...one, summary: 'unauthorized' })) },
    ['pull-secret'],
  ],
  [
    'a registry that cannot be reached',
    { ...IMAGE, alerts: IMAGE.alerts.map((one) => ({ ...one, summary: 'dial tcp 10.0.0.9:443: connection refused' })) },
    [],
  ],
  [
    'an alert about a service with the name of a failure',
    {
      ...IMAGE,
      alerts: IMAGE.alerts.slice(0, 1).map((one) => ({ ...one, source: 'metrics', resolution: 'reported' })),
    },
    [],
  ],
  [
    'a probe of a service that has another alert',
    {
      ...factsOf('liveness-flap'),
      alerts: [
        ...factsOf('liveness-flap').alerts,
        { ...IMAGE.alerts[0]!, source: 'metrics', failure: null, resolution: 'reported' },
      ],
    },
    ['paging'],
  ],
  [
    'a failed deploy without a later one',
    { ...IMAGE, changes: IMAGE.changes.slice(0, 1) },
    ['image-digests', 'rollback-runbook'],
  ],
  ['memory', factsOf('oom-after-release'), ['memory-limits', 'memory-alert', 'report-ends']],
  ['a node', factsOf('node-down'), ['node-spread']],
  ['a probe, and nobody there', factsOf('liveness-flap'), ['probe-tuning', 'paging']],
  ['CI system failure', factsOf('runner-outage'), ['ci-runners']],
  ['a missing secret, late', LATE, ['config-check', 'paging', 'rollback-runbook']],
  ['a silent source', withIncident({ ...IMAGE, alerts: [], changes: [] }, { cause: 'silence' }), ['heartbeat']],
  ['found by a person', withIncident({ ...IMAGE, alerts: [], changes: [] }, { origin: 'manual' }), ['alert-coverage']],
  [
    'acknowledged after exactly 15 minutes',
    withIncident({ ...IMAGE, alerts: [], changes: [] }, { acknowledgedAt: IMAGE.incident.createdAt + 900_000 }),
    [],
  ],
  [
    'over before anybody could come',
    withIncident(
      { ...IMAGE, alerts: [], changes: [] },
      { acknowledgedAt: null, resolvedAt: IMAGE.incident.createdAt + 60_000 },
    ),
    [],
  ],
]
for (const [name, facts, ids] of PROPOSALS) {
  test(`actions for ${name}: ${ids.join(', ') || 'none'}`, () => {
    assert.deepEqual(
      generate(facts).actions.map(({ id }) => id),
      ids,
    )
  })
}
