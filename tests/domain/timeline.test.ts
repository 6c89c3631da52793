/** Timelines: order, repeats, and which records are included. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rolloutsOf } from '../../src/domain/correlation/rollout.ts'
import { changeFact, type EventFact } from '../../src/domain/incident/facts.ts'
import { timelineOf } from '../../src/domain/incident/timeline.ts'
import { collapse, type Moment } from '../../src/domain/incident/timeline-rows.ts'
import { factsOf, GOLDENS } from './postmortem-goldens.ts'

const MINUTE = 60_000
const NOON = Date.UTC(2026, 2, 14, 12)

function moment(minute: number, more: Partial<Moment> = {}): Moment {
  const at = NOON + minute * MINUTE
  const same = {
    kind: 'alert',
    code: null,
    text: 'X: down',
    actor: null,
    source: null,
    ref: 'alert/1',
    group: 'X',
    echo: false,
    object: '',
  }
  return { at, until: at, ...same, ...more }
}

/** Formats moments as `0-20 X: down ×3`: first and last minute, text and count. */
function told(moments: readonly Moment[]): string[] {
  return collapse(moments).map(
    ({ at, until, text, count }) => `${(at - NOON) / MINUTE}-${(until - NOON) / MINUTE} ${text} ×${count}`,
  )
}

for (const [name, moments, rows] of [
  ['nothing is no row', [], []],
  ['repeats are one row', [moment(20), moment(0), moment(10)], ['0-20 X: down ×3']],
  ['a repeat after exactly 30 minutes still belongs', [moment(0), moment(30)], ['0-30 X: down ×2']],
  ['a longer pause starts a new row', [moment(0), moment(31)], ['0-0 X: down ×1', '31-31 X: down ×1']],
  ['another actor is another row', [moment(0), moment(0, { actor: 'anna' })], ['0-0 X: down ×1', '0-0 X: down ×1']],
  ['another text is another row', [moment(0), moment(1, { group: 'Y', text: 'Y' })], ['0-0 X: down ×1', '1-1 Y ×1']],
  [
    'a note is told each time',
    [moment(0, { kind: 'note' }), moment(0, { kind: 'note' })],
    Array(2).fill('0-0 X: down ×1'),
  ],
  [
    'echoes join their row, however late',
    [moment(0), moment(0, { echo: true }), moment(90, { echo: true })],
    ['0-90 X: down ×1'],
  ],
  ['an earlier echo has no words', [moment(1), moment(0, { echo: true, text: 'x' })], ['0-1 X: down ×1']],
  ['echoes of nothing are a row', [moment(0, { echo: true }), moment(5, { echo: true })], ['0-5 X: down ×1']],
  [
    'echoes of another record stay apart',
    [moment(0), moment(1, { echo: true, ref: 'alert/2', text: 'Z' })],
    ['0-0 X: down ×1', '1-1 Z ×1'],
  ],
  [
    'objects are named once',
    [moment(0, { object: 'Pod/b' }), moment(1, { object: 'Pod/a' }), moment(2, { object: 'Pod/b' })],
    ['0-2 X: down (Pod/a, Pod/b) ×3'],
  ],
  [
    'many objects are counted',
    ['a', 'b', 'c', 'd'].map((object) => moment(0, { object })),
    ['0-0 X: down (a, b and 2 more) ×4'],
  ],
] as readonly (readonly [string, Moment[], string[]])[]) {
  test(`timeline: ${name}`, () => assert.deepEqual(told(moments), rows))
}

/** Each alert fires from one minute to another; null for an alert that still fires. */
for (const [name, alerts, rows] of [
  [
    'an alert that fires again after its end has a row of its own',
    [
      [0, 5],
      [35, null],
    ],
    ['0 ×1', '35 ×1'],
  ],
  [
    'alerts that overlap or touch share a row',
    [
      [0, 5],
      [3, 9],
      [9, null],
    ],
    ['0 ×3'],
  ],
  [
    'alerts that fire together again share the second row',
    [
      [0, 5],
      [1, 5],
      [20, 22],
      [21, 30],
    ],
    ['0 ×2', '20 ×2'],
  ],
  [
    'after twenty starts, the last row has the rest',
    Array.from({ length: 25 }, (_, index) => [index * 2, index * 2 + 1]),
    [...Array.from({ length: 19 }, (_, index) => `${index * 2} ×1`), '38 ×6'],
  ],
] as readonly (readonly [string, (readonly [number, number | null])[], string[]])[]) {
  test(`timeline: ${name}`, () => {
    const facts = factsOf('bad-image-tag')
    const at = (minute: number) => NOON + minute * MINUTE
    const own = alerts.map(([from, to], index) => ({
      ...facts.alerts[0]!,
      ...{ uuid: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`, startsAt: at(from) },
      ...{ lastSeenAt: at(from), endsAt: to === null ? null : at(to), summary: `from ${from}`, labels: {} },
    }))
    const shown = timelineOf({ ...facts, alerts: own, entries: [], events: [], changes: [], correlations: [] })
    assert.deepEqual(
      shown.map((row) => `${(row.at - NOON) / MINUTE} ×${row.count}`),
      rows,
    )
  })
}

for (const [name, texts, row] of [
  ['has the words of the first of them', ['web-0: not ready', 'web-1: not ready'], 'web-0: not ready'],
  ['has words that all have in common', ['not ready', 'not ready'], 'not ready: 2 pods'],
] as const) {
  test(`timeline: a row of similar alerts ${name}`, () => {
    const facts = factsOf('bad-image-tag')
    const own = texts.map((summary, index) => ({
      ...facts.alerts[0]!,
      ...{ uuid: `00000000-0000-4000-8000-00000000000${index}`, source: 'metrics' as const, name: 'PodNotReady' },
      ...{ startsAt: NOON + index * MINUTE, endsAt: null, summary, labels: { pod: `web-${index}` } },
    }))
    const [shown] = timelineOf({ ...facts, alerts: own, entries: [], events: [], changes: [], correlations: [] })
    assert.deepEqual([shown?.text, shown?.count], [`PodNotReady: ${row}`, 2])
  })
}

const SWITCH = (minute: number, ref: string, kind: string) =>
  moment(minute, { kind, ref: `alert/${ref}`, group: kind, text: kind === 'ended' ? 'X ended' : 'X is firing again' })

for (const [name, moments, rows] of [
  [
    'an end after the alert fired again has its own row',
    [SWITCH(0, 'a', 'ended'), SWITCH(2, 'a', 'alert'), SWITCH(5, 'a', 'ended')],
    ['0-0 X ended ×1', '2-2 X is firing again ×1', '5-5 X ended ×1'],
  ],
  [
    'ends of other alerts stay together until one of them fires again',
    [SWITCH(0, 'a', 'ended'), SWITCH(1, 'b', 'ended'), SWITCH(2, 'a', 'alert'), SWITCH(5, 'c', 'ended')],
    ['0-1 X ended ×2', '2-2 X is firing again ×1', '5-5 X ended ×1'],
  ],
  [
    'the end of an alert that began after the last end has its own row',
    [SWITCH(0, 'a', 'ended'), { ...SWITCH(18, 'b', 'ended'), since: NOON + 16 * MINUTE }],
    ['0-0 X ended ×1', '18-18 X ended ×1'],
  ],
  [
    'the ends of alerts that overlap are one row',
    [SWITCH(0, 'a', 'ended'), { ...SWITCH(18, 'b', 'ended'), since: NOON - MINUTE }],
    ['0-18 X ended ×2'],
  ],
  [
    'an alert that fires again does not split the ends of others',
    [SWITCH(0, 'a', 'ended'), SWITCH(1, 'b', 'alert'), SWITCH(2, 'c', 'ended')],
    ['0-2 X ended ×2', '1-1 X is firing again ×1'],
  ],
] as readonly (readonly [string, Moment[], string[]])[]) {
  test(`timeline: ${name}`, () => assert.deepEqual(told(moments), rows))
}

const FELL = { code: 'severity', facts: { code: 'severity', from: 'critical', to: 'warning' } } as const
const ROSE = { code: 'severity', facts: { code: 'severity', from: 'warning', to: 'critical' } } as const
const AGAIN = { code: 'again' } as const
for (const [name, change, after, words] of [
  ['an end that comes in two steps is one end', FELL, 0, ''],
  ['a warning that goes on for a minute was milder', FELL, MINUTE, 'severity of Slow changed from critical to warning'],
  ['an alert that rises and ends in one second did rise', ROSE, 0, 'severity of Slow changed from warning to critical'],
  ['an alert that is firing again and ends at once did fire', AGAIN, 0, 'Slow is firing again'],
] as const) {
  test(`timeline: ${name}`, () => {
    const common = { text: 'Slow', actor: null, ref: 'alert/1' }
    const entries = [
      { ...common, kind: 'alert', ...change, at: NOON },
      { ...common, kind: 'ended', code: 'reported', at: NOON + after },
    ]
    const none = { events: [], changes: [], correlations: [], alerts: [] }
    const rows = timelineOf({ ...none, incident: { uuid: 'i' }, entries })
    assert.deepEqual(rows.map(({ text }) => text).sort(), ['Slow ended', ...(words === '' ? [] : [words])].sort())
  })
}

test('timeline: if times are equal, the cause is first and people are last', () => {
  const kinds = ['ended', 'note', 'status', 'opened', 'alert', 'pipeline', 'unheard of', 'rollout', 'event']
  const rows = collapse(kinds.map((kind) => moment(0, { kind })))
  const order = ['pipeline', 'rollout', 'event', 'alert', 'opened', 'status', 'note', 'ended', 'unheard of']
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    order,
  )
})

test('timeline: the order of arrival does not matter', () => {
  const one = fc.record({
    minute: fc.integer({ min: 0, max: 90 }),
    kind: fc.constantFrom('alert', 'note', 'event', 'ended'),
    text: fc.constantFrom('a', 'b'),
    echo: fc.boolean(),
    object: fc.constantFrom('', 'Pod/x', 'Pod/y'),
  })
  const property = fc.property(fc.array(one), fc.integer(), (drawn, turn) => {
    const moments = drawn.map(({ minute, text, ...more }) => moment(minute, { ...more, text, group: text }))
    const other = moments.toSorted((a, b) => ((a.at * 31 + turn) % 17) - ((b.at * 31 + turn) % 17)).reverse()
    assert.deepEqual(collapse(other), collapse(moments))
  })
  fc.assert(property, { numRuns: 100 })
})

test('timeline: every event is included in exactly one row', () => {
  const property = fc.property(fc.array(fc.integer({ min: 0, max: 300 })), (minutes) => {
    const rows = collapse(minutes.map((minute) => moment(minute)))
    assert.equal(
      rows.reduce((sum, { count }) => sum + count, 0),
      minutes.length,
    )
  })
  fc.assert(property, { numRuns: 50 })
})

for (const { name, facts } of GOLDENS) {
  test(`timeline of ${name}: every row refers to its record, in order`, () => {
    const rows = timelineOf(facts)
    for (const { ref, at, until } of rows) {
      assert.match(ref, /^(alert|event|correlation|incident)\/[0-9a-f-]{36}$/)
      assert.ok(at <= until)
    }
    assert.deepEqual(
      rows,
      rows.toSorted((a, b) => a.at - b.at),
    )
  })
}

test('timeline: a crash loop, its rollout and its pipeline are one row each', () => {
  const rows = timelineOf(factsOf('bad-image-tag'))
  const of = (kind: string) => rows.filter((row) => row.kind === kind).map(({ count }) => count)
  assert.deepEqual([of('alert'), of('rollout'), of('pipeline'), of('change')], [[1, 1], [1, 1], [1, 1], []])
  assert.deepEqual(
    rows.filter(({ kind }) => kind === 'alert').map(({ seen }) => seen),
    [27, 6],
  )
})

test('timeline: routine and rejected links are omitted', () => {
  const facts = factsOf('oom-after-release')
  const correlations = facts.correlations.map((link) => ({ ...link, verdict: 'rejected' as const }))
  const rows = timelineOf({ ...facts, correlations })
  assert.ok(facts.events.some((event) => event.name === 'Pulled'))
  assert.deepEqual(
    rows.filter(({ kind, text }) => kind === 'correlation' || text.startsWith('Pulled')),
    [],
  )
})

test("timeline: a rollout of another service with the same hash gets none of this service's events", () => {
  const facts = factsOf('bad-image-tag')
  const stranger = { ...facts.changes[1]!, ref: 'other/shop@5d4f8c7b9', eventId: 'e' }
  const rows = timelineOf({ ...facts, changes: [stranger] })
  assert.equal(rows.filter(({ kind }) => kind === 'change').length, 2)
})

test('timeline: a change that ends before it starts is shown at its start', () => {
  const facts = factsOf('bad-image-tag')
  const change = { ...facts.changes[0]!, endsAt: 0 }
  const row = timelineOf({ ...facts, changes: [change] }).find(({ kind }) => kind === 'pipeline')
  assert.equal(row?.until, change.startsAt)
})

/** Returns the texts of status entries, one minute apart. Each is `status` or `status by actor`. */
function statusTexts(...moves: string[]): string[] {
  const entries = moves.map((move, minute) => {
    const [told = '', actor = null] = move.split(' by ')
    const [code = null, left] = told.split(': ')
    if (told === 'merge')
      return {
        at: NOON + (minute - 1) * MINUTE,
        kind: 'merged',
        code: null,
        text: told,
        actor,
        ref: 'incident/j',
      } as const
    const facts = left === 'firing' || left === 'unreported' ? ({ code: left, alerts: [['Down', 2]] } as const) : null
    return { at: NOON + minute * MINUTE, kind: 'status', code, text: '', facts, actor, ref: null } as const
  })
  const nothing = { alerts: [], events: [], changes: [], correlations: [] }
  return timelineOf({ incident: { uuid: 'i' }, entries, ...nothing }).map(({ text }) => text)
}

for (const [name, moves, texts] of [
  ['acknowledging is called so', ['investigating by Ada'], ['acknowledged']],
  [
    'again after it was open again',
    ['investigating by Ada', 'open by Bo', 'investigating by Bo'],
    ['acknowledged', 'acknowledgement taken back', 'acknowledged'],
  ],
  ['with the status, if it is a later one', ['identified by Ada'], ['acknowledged and changed to identified']],
  [
    'an automatic change is not one',
    ['monitoring', 'investigating by Ada'],
    ['status changed to monitoring', 'acknowledged'],
  ],
  [
    'neither is a resolution',
    ['resolved: firing by Ada', 'resolved: unreported by Ada'],
    ['resolved, while Down ×2 was still firing', 'resolved: no end of Down ×2 was reported'],
  ],
  [
    'neither is a status that a merge takes over, nor a change after it',
    ['investigating by Ada', 'merge by Ada', 'identified by Bo'],
    ['status changed to investigating', 'merge', 'status changed to identified'],
  ],
  ['nor a change after it', ['resolved by Ada', 'identified by Ada'], ['resolved', 'status changed to identified']],
] as const) {
  test(`acknowledgement in the timeline: ${name}`, () => assert.deepEqual(statusTexts(...moves), texts))
}

test('a rollback has a row of its own, and the old ReplicaSet that shrank before is no rollout', () => {
  const scaling = (minute: number, text: string): EventFact => ({
    ...{ uuid: `e${minute}`, at: NOON + minute * MINUTE, source: 'cluster', kind: 'change', name: 'ScalingReplicaSet' },
    ...{ object: 'Deployment/cart', text, alertId: null },
  })
  const events = [
    scaling(1, 'Scaled up replica set cart-bbb to 1 from 0'),
    scaling(2, 'Scaled down replica set cart-aaa to 0 from 3'),
    scaling(20, 'Scaled up replica set cart-aaa to 3 from 0'),
    scaling(21, 'Scaled down replica set cart-bbb to 0 from 1'),
  ]
  const found = rolloutsOf(
    events.map(({ uuid, ...event }) => ({ ...event, eventId: uuid })),
    { id: 'cart', namespace: 'shop' },
  )
  const nothing = { alerts: [], entries: [], correlations: [] }
  const rows = timelineOf({ incident: { uuid: 'i' }, events, changes: found.map(changeFact), ...nothing })
  assert.deepEqual(
    rows.map(({ at, text }) => [(at - NOON) / MINUTE, text]),
    [
      [1, 'rollout shop/cart@bbb: new pod template'],
      [20, 'rollout shop/cart@aaa: back to an earlier pod template'],
    ],
  )
})
