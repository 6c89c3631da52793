/** What the sentences of a postmortem say about people, other incidents and unrelated changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AlertFact, EntryFact, EventFact, IncidentFact, PostmortemFacts } from '../../src/domain/incident/facts.ts'
import { merge } from '../../src/domain/postmortem/edits.ts'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { generate } from '../../src/domain/postmortem/postmortem.ts'
import { MINUTE } from '../../src/domain/units.ts'
import { factsOf } from './postmortem-goldens.ts'

const IMAGE = factsOf('bad-image-tag')
const { startedAt, createdAt, resolvedAt } = IMAGE.incident
const END = resolvedAt ?? 0
const FIRST = IMAGE.alerts[0] as AlertFact
const entry = (kind: string, at: number, actor: string | null, code: string | null = null, text = ''): EntryFact => ({
  ...{ kind, at, actor, code, text, ref: null },
})
const MANUAL: Partial<IncidentFact> = { origin: 'manual', critical: { ms: 0, until: null } }

/** Returns the text of a postmortem of the incident with these facts. */
function textOf(facts: Partial<PostmortemFacts>, incident: Partial<IncidentFact> = {}): string {
  return markdown(generate({ ...IMAGE, ...facts, incident: { ...IMAGE.incident, ...incident } }))
}

test('a declared incident says who declared what, and nothing about the health of a service without alerts', () => {
  const text = textOf({ alerts: [], lowestScore: 100, entries: [entry('opened', createdAt, 'Ann')] }, MANUAL)
  assert.match(text, /\*\*Critical for:\*\* 30 min 1 s, as declared by Ann \(/)
  assert.match(text, /Ann declared an incident of shop\/cart: “cart: ImagePullBackOff”/)
  assert.match(text, /was opened manually at .*, and no alert was recorded/)
  assert.doesNotMatch(text, /By its alerts|Lowest health score/)
})

for (const [what, startsAt, source, isSign] of [
  ['a pipeline that failed after the declaration', createdAt + MINUTE, 'ci', false],
  ['a pipeline that had failed before it', createdAt - MINUTE, 'ci', true],
  ['an alert after the declaration', createdAt + MINUTE, 'metrics', true],
] as const) {
  test(`${what} is ${isSign ? 'the' : 'no'} first sign of what a user declared`, () => {
    const failed = { ...FIRST, name: 'PipelineFailed', source, startsAt, endsAt: null, resolution: null }
    const text = textOf({ alerts: [failed], entries: [entry('opened', createdAt, 'Ann')] }, MANUAL)
    assert.equal(/First (alert|signal): PipelineFailed/.test(text), isSign)
    assert.equal(/The first (alert of this incident|symptom) was PipelineFailed/.test(text), isSign)
    assert.equal(/All alerts of this incident are about pipelines/.test(text), !isSign)
    assert.equal(/opened manually at .*, and no alert about the service was recorded/.test(text), !isSign)
  })
}

test('the name of who declared an incident stays as it is, and a sentence about somebody unknown begins with a capital', () => {
  const by = (actor: string | null) => textOf({ entries: [entry('opened', createdAt, actor)] }, MANUAL)
  assert.match(by('root'), /\nroot declared an incident of/)
  assert.match(by(null), /\nA user declared an incident of/)
})

test('each resolution is told, and the summary does not say that the last one was late', () => {
  const moves = [
    entry('status', createdAt + 5 * MINUTE, 'Ann', 'resolved'),
    entry('reopened', createdAt + 6 * MINUTE, 'Ben', 'open'),
    entry('status', END, 'Ben', 'resolved'),
  ]
  const text = textOf({ entries: moves })
  assert.match(
    text,
    /- Ann resolved the incident at [^-]*-[\s\S]*- Ben reopened the incident at [\s\S]*- Ben resolved the incident/,
  )
  assert.match(text, /\| reopened \| Ben \|/)
  assert.doesNotMatch(text, /the incident was resolved .* later/)
  assert.match(textOf({}), /the incident was resolved 4 min 40 s later/)
})

test('a merged incident has one row for the merge and says where its problem went on', () => {
  const merged = { ...entry('merged', END, 'Ann', null, 'merged into shop: X'), ref: 'incident/other' }
  const alerts = [{ ...FIRST, endsAt: null, resolution: null }]
  const entries = [entry('status', END, 'Ann', 'resolved', 'merged into shop: X'), merged]
  const text = textOf({ alerts, entries }, { critical: { ms: END - startedAt, until: null } })
  assert.match(
    text,
    /\*\*Critical for:\*\* 30 min 1 s until it was merged into another incident; no end had been reported/,
  )
  assert.match(text, /when the incident was merged into another incident at/)
  assert.match(text, /Ann merged the incident .*, while no end of ImagePullBackOff had been reported \(/)
  assert.doesNotMatch(text, /still/)
  const other = { ...{ ref: 'incident/other', title: 'shop: X', number: 3 }, createdAt: startedAt }
  const named = textOf({ alerts, entries, merged: [other] })
  assert.match(named, /- For the end of ImagePullBackOff, see “shop: X” \(incident 3\) \(/)
  assert.equal(text.split('merged into shop: X').length, 2)
})

test('what fires when a user resolves the incident is said to be still critical: its end makes a new revision', () => {
  const alerts = [{ ...FIRST, source: 'metrics' as const, endsAt: null, resolution: null }]
  const entries = [entry('status', END, 'Ann', 'resolved')]
  const text = textOf({ alerts, entries }, { critical: { ms: END - startedAt, until: null } })
  assert.match(text, /until it was resolved; it was still critical then/)
  assert.match(text, /Ann resolved the incident .*, while ImagePullBackOff was still firing \(/)
})

test('the name of an alert of several words has quotes, and is not repeated if it says everything', () => {
  const named = (summary: string) => ({ ...FIRST, source: 'dashboard' as const, name: 'Queue depth', summary })
  const text = textOf({ alerts: [named('Queue depth')] })
  assert.match(text, /The first symptom was “Queue depth” \(E2\)\./)
  assert.match(text, /\| “Queue depth” \| Grafana/)
  assert.match(textOf({ alerts: [named('9 wait')] }), /The first symptom was “Queue depth”: “9 wait” \(E2\)\./)
})

test('an assumed end at the second of the only report is no row', () => {
  const ended = (at: number): EntryFact => ({
    ...entry('ended', at, null, 'expired', FIRST.name),
    ref: `alert/${FIRST.uuid}`,
  })
  const rows = (at: number) =>
    generate({ ...IMAGE, entries: [ended(at)] }).timeline.filter(({ kind }) => kind === 'ended')
  assert.deepEqual(rows(FIRST.startsAt), [])
  assert.equal(rows(FIRST.startsAt + MINUTE)[0]?.text, `${FIRST.name} was last reported`)
})

test('what was reported before the first alert, but belongs to another incident, is named with its time', () => {
  const at = FIRST.startsAt - 5 * MINUTE
  const event = { at, source: 'cluster', kind: 'firing', name: 'OOMKilled', object: 'Pod/cart-1', text: 'x' } as const
  const events = [{ ...event, uuid: 'e1', alertId: 'elsewhere' }]
  const text = textOf({ events })
  assert.match(text, /The first alert of this incident was ImagePullBackOff/)
  assert.match(text, /OOMKilled \(.*\) was reported earlier about shop\/cart, but it is not part of this incident/)
  assert.match(text, /- E\d+: OOMKilled, not part of this incident, reported at .*; `alert\/elsewhere`/)
  for (const other of [{ at: at - 30 * MINUTE }, { source: 'ci' as const }, { alertId: FIRST.uuid }]) {
    assert.doesNotMatch(
      textOf({ events: [{ ...event, uuid: 'e1', alertId: 'elsewhere', ...other }] }),
      /reported earlier/,
    )
  }
})

test('a change that nothing connects to the incident is named, with a row like any other', () => {
  const [change] = IMAGE.changes.filter(({ kind }) => kind === 'pipeline')
  assert.ok(change)
  const other = { ...change, ref: 'shop/other#1', eventId: 'other', startsAt: startedAt - 20 * MINUTE }
  const text = textOf({ changes: [{ ...other, endsAt: other.startsAt }, ...IMAGE.changes] })
  assert.match(text, /\| (?:deploy of )?pipeline shop\/other#1/)
  assert.match(text, /Other changes before the incident: pipeline shop\/other#1/)
})

test('a pipeline whose failure is an alert of the incident is not called unlinked, and another one is', () => {
  const change = IMAGE.changes.find(({ kind }) => kind === 'pipeline')
  const [alert] = IMAGE.alerts
  assert.ok(change && alert)
  const other = (ref: string) => ({ ...change, ref, eventId: ref, outcome: 'deploy failed' as const })
  const labels = { project: 'shop/other', pipeline: '2' }
  const failed = { ...alert, uuid: 'ci', name: 'PipelineFailed', source: 'ci' as const, labels }
  const text = textOf({ changes: [other('shop/other#1'), other('shop/other#2')], alerts: [...IMAGE.alerts, failed] })
  assert.match(
    text,
    /(?:Other changes|Changes) before the incident: pipeline shop\/other#1 [^,]*, deploy failed\) at [^,]* UTC \(/,
  )
})

test('an alert that Prometheus sent without Alertmanager is from Prometheus', () => {
  const alert = { ...FIRST, source: 'metrics', isDirect: true } as const
  assert.match(textOf({ alerts: [alert] }), /First signal: ImagePullBackOff from Prometheus at/)
  const links = { generator: 'http://prometheus.test/graph' }
  const forwarded = { ...alert, links, isDirect: false }
  assert.match(textOf({ alerts: [forwarded] }), /First signal: ImagePullBackOff from Alertmanager at/)
})

test('a written root cause replaces the cause that incmon found, unless somebody confirmed it', () => {
  const causeOf = (facts: PostmortemFacts) => {
    const { summary } = merge(generate(facts), { rootCause: 'The tag did not exist.' })
    return summary.facts?.find(({ label }) => label === 'Cause')?.text
  }
  assert.equal(causeOf(IMAGE), 'see the root cause')
  const correlations = IMAGE.correlations.map((link) => ({ ...link, verdict: 'confirmed' as const }))
  assert.match(causeOf({ ...IMAGE, correlations }) ?? '', /\(confirmed\)$/)
})

test('an incident was detected when the first of the incidents that were merged into it was opened, which it names by its number', () => {
  const ref = 'incident/other'
  const merged = [{ ref, title: 'api: HighLatency', number: 4, createdAt: createdAt - MINUTE }]
  const took = { ...entry('merged', createdAt + MINUTE, 'Ann'), ref }
  const text = textOf({ merged, entries: [took] })
  assert.match(text, /\*\*Detected after:\*\* 1 min \(/)
  assert.match(text, /“api: HighLatency” \(incident 4\), which was merged into this incident, was opened at 2026/)
  assert.match(text, /- E\d+: “api: HighLatency” \(incident 4\), opened at /)
  const gone = [entry('status', END, 'Ann', 'resolved'), { ...entry('merged', END, 'Ann'), ref }]
  assert.match(textOf({ merged, entries: gone }), /Ann merged the incident into “api: HighLatency” \(incident 4\) at/)
  assert.match(textOf({ merged, entries: gone }), /\*\*Detected after:\*\* 2 min \(/)
})

test('alerts of one name that several services had at the same second share a row', () => {
  const [cart, mail] = ['cart', 'mail'].map((name) => ({ uuid: `s-${name}`, namespace: 'shop', name })) as [
    never,
    never,
  ]
  const of = (service: { readonly uuid: string }, more: Partial<AlertFact> = {}): AlertFact => ({
    ...{ ...FIRST, uuid: `a-${service.uuid}`, serviceId: service.uuid, objects: [], occurrences: 1 },
    ...more,
  })
  const rowsFor = (more: Partial<AlertFact>, events: readonly EventFact[] = []) => {
    const facts = { ...IMAGE, services: [cart, mail], changes: [], events, entries: [] }
    const { timeline } = generate({ ...facts, alerts: [of(cart), of(mail, more)] })
    return timeline.map(({ text, count }) => `${text} ×${count}`)
  }
  assert.deepEqual(rowsFor({}), ['ImagePullBackOff in shop/cart and shop/mail ×2'])
  assert.equal(rowsFor({ startsAt: FIRST.startsAt + MINUTE }).length, 2)
  assert.equal(rowsFor({ name: 'OOMKilled' }).length, 2)
  const elsewhere = {
    at: FIRST.startsAt,
    source: FIRST.source,
    kind: 'firing',
    name: FIRST.name,
    object: '',
    text: 'x',
  }
  assert.equal(rowsFor({}, [{ ...elsewhere, uuid: 'e', alertId: 'elsewhere' } as EventFact]).length, 2)
})
