/** Reads generated postmortems back: goldens and random histories. `HISTORIES=5000` tries more of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AlertFact, ChangeFact, EntryFact, PostmortemFacts } from '../../src/domain/incident/facts.ts'
import { generate } from '../../src/domain/postmortem/postmortem.ts'
import { MINUTE } from '../../src/domain/units.ts'
import { contradictionsIn, unfoundedIn } from '../helpers/postmortem-checker.ts'
import { factsOf, GOLDENS } from './postmortem-goldens.ts'

const IMAGE = factsOf('bad-image-tag')
const START = IMAGE.incident.startedAt

for (const { name, facts } of GOLDENS) {
  test(`every sentence of ${name} follows from its evidence, and none contradicts another`, () => {
    const document = generate(facts)
    assert.deepEqual([...unfoundedIn(facts, document), ...contradictionsIn(document)], [])
  })
}

const minute = (from: number, to: number) => fc.integer({ min: from * 60, max: to * 60 }).map((s) => START + s * 1000)
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null })

const alert: fc.Arbitrary<AlertFact> = fc
  .record({
    name: fc.constantFrom('HighErrorRate', 'OOMKilled', 'PodNotReady', 'Unhealthy'),
    failure: fc.constantFrom('crash', 'probe', 'memory', 'node', 'image', null),
    source: fc.constantFrom('cluster' as const, 'metrics' as const, 'ci' as const),
    severity: fc.constantFrom('critical' as const, 'warning' as const),
    startsAt: minute(-5, 20),
    lasts: maybe(fc.integer({ min: 0, max: 1800 })),
    resolution: fc.constantFrom('reported' as const, 'inferred' as const, 'expired' as const, 'manual' as const),
    nodes: fc.uniqueArray(fc.constantFrom('worker-1', 'worker-2', 'worker-3')),
    objects: fc.uniqueArray(fc.constantFrom('Pod/cart-1', 'Pod/cart-2', 'Node/worker-1')),
    occurrences: fc.integer({ min: 1, max: 2000 }),
  })
  .map(({ lasts, resolution, ...one }) => {
    const endsAt = lasts === null ? null : one.startsAt + lasts * 1000
    const ended = { endsAt, resolution: endsAt === null ? null : resolution, lastSeenAt: endsAt ?? one.startsAt }
    return { ...IMAGE.alerts[0]!, ...one, ...ended, node: one.nodes[0] ?? null }
  })

const change: fc.Arbitrary<ChangeFact> = fc
  .record({ startsAt: minute(-60, 25), lasts: fc.integer({ min: 0, max: 600 }), isRollback: fc.boolean() })
  .chain(({ startsAt, lasts, isRollback }) =>
    fc.constantFrom(...IMAGE.changes).map((one) => ({ ...one, isRollback, startsAt, endsAt: startsAt + lasts * 1000 })),
  )

const moves = fc.constantFrom('investigating', 'identified', 'monitoring', 'open')
const entry: fc.Arbitrary<EntryFact> = fc
  .record({ at: minute(6, 29), code: moves, actor: fc.constantFrom('Ada', 'Kim', null) })
  .map((one) => ({ ...one, kind: 'status', text: '', ref: null }))

const history: fc.Arbitrary<PostmortemFacts> = fc
  .record({
    alerts: fc.array(alert, { maxLength: 6 }),
    changes: fc.array(change, { maxLength: 4 }),
    entries: fc.array(entry, { maxLength: 4 }),
    origin: fc.constantFrom('manual' as const, 'automatic' as const),
    createdAt: minute(0, 5),
    resolvedAt: maybe(minute(30, 90)),
    critical: fc.integer({ min: 0, max: 1800 }),
    goesOn: fc.boolean(),
    score: maybe(fc.integer({ min: 0, max: 100 })),
    verdict: fc.constantFrom('confirmed' as const, 'rejected' as const, null),
    linked: fc.integer({ min: 0, max: 6 }),
    resolver: fc.constantFrom('Ada', null),
    muted: fc.integer({ min: 0, max: 900 }),
    hasLapsed: fc.boolean(),
    isMerged: fc.boolean(),
    component: maybe(fc.constantFrom('shop/postgres', 'node/worker-9')),
  })
  .map((drawn) => {
    const { origin, createdAt, resolvedAt, goesOn, score, verdict } = drawn
    const alerts = drawn.alerts.map((one, index) => ({ ...one, uuid: `a${index}` }))
    const changes = drawn.changes.map((one, index) => ({ ...one, eventId: `c${index}`, ref: `${one.ref}${index}` }))
    const [first] = changes
    const until = START + drawn.critical * 1000
    const critical = {
      ms: goesOn && resolvedAt !== null ? resolvedAt - START : until - START,
      until: goesOn ? null : until,
      mutedMs: drawn.muted * 1000,
    }
    const links = first
      ? alerts.slice(0, drawn.linked).map(({ uuid }) => ({
          ...IMAGE.correlations[0]!,
          ...{ uuid: `l${uuid}`, alertId: uuid, verdict, change: { kind: first.kind, ref: first.ref } },
        }))
      : []
    const resolution = { kind: 'status', code: 'resolved', text: '', actor: drawn.resolver, ref: null }
    const merge = { kind: 'merged', code: null, text: '', actor: drawn.resolver, ref: 'incident/other' }
    const ends = drawn.isMerged ? [resolution, merge] : [resolution]
    const entries =
      resolvedAt === null ? drawn.entries : [...drawn.entries, ...ends.map((one) => ({ ...one, at: resolvedAt }))]
    const acknowledged = entries
      .filter(({ at, code, actor }) => at >= createdAt && actor !== null && code !== 'open' && code !== 'resolved')
      .sort((a, b) => a.at - b.at)[0]
    const known = { acknowledgedAt: acknowledged?.at ?? null, acknowledgedBy: acknowledged?.actor ?? null }
    return {
      ...IMAGE,
      ...{ alerts, changes, entries, correlations: links, events: [], earlier: [], onNode: [], lowestScore: score },
      suspects: [],
      component: drawn.component === null ? null : { kind: 'object' as const, ref: drawn.component, score: 0.61 },
      searched: { from: START - 120 * MINUTE, to: resolvedAt ?? START + 95 * MINUTE },
      incident: { ...IMAGE.incident, ...known, hasLapsed: drawn.hasLapsed, origin, createdAt, resolvedAt, critical },
    }
  })

test('every sentence of a random history follows from its evidence', () => {
  const numRuns = Number(process.env.HISTORIES ?? 300)
  fc.assert(
    fc.property(history, (facts) => {
      const document = generate(facts)
      assert.deepEqual([...unfoundedIn(facts, document), ...contradictionsIn(document)], [])
    }),
    { numRuns },
  )
})

test('the checker finds a wrong name, time, duration and number', () => {
  const document = generate(IMAGE)
  const wrong = (text: string) => {
    const sentences = [{ text, refs: [`incident/${IMAGE.incident.uuid}`] }]
    return unfoundedIn(IMAGE, { ...document, resolution: { sentences } })
  }
  assert.deepEqual(wrong('shop/cart was critical.'), [])
  for (const text of [
    'shop/pay failed.',
    'It began at 2026-03-14 02:11:10 UTC.',
    'It took 25 min 22 s.',
    '77 failed.',
  ]) {
    assert.equal(wrong(text).length, 1, text)
  }
})

test('the checker finds a document that contradicts itself', () => {
  const document = generate(IMAGE)
  const told = { ...document.detection, sentences: [{ text: 'Nobody acknowledged the incident.', refs: [] }] }
  assert.deepEqual(contradictionsIn({ ...document, detection: told }), ['the time to acknowledge'])
})
