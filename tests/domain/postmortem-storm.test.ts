/** What a postmortem says about a storm: hundreds of similar alerts, or of alerts with different names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PostmortemFacts } from '../../src/domain/incident/facts.ts'
import { timelineOf } from '../../src/domain/incident/timeline.ts'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { generate } from '../../src/domain/postmortem/postmortem.ts'
import { factsOf } from './postmortem-goldens.ts'

const IMAGE = factsOf('bad-image-tag')
const MINUTE = 60_000
type AlertFact = PostmortemFacts['alerts'][number]

/** Returns facts with 440 alerts on 40 pods, each with its entries and a link to the bad pipeline. */
function storm(nameOf: (n: number) => string = () => 'HighErrorRate'): PostmortemFacts {
  const [link] = IMAGE.correlations
  const base = IMAGE.incident.startedAt + 2 * MINUTE
  const alerts = Array.from({ length: 440 }, (_, n): AlertFact => {
    const uuid = `storm-${String(n).padStart(3, '0')}`
    const labels = { route: `/${n % 11}`, pod: `cart-${n % 40}` }
    const times = { startsAt: base + n * 1000, lastSeenAt: base + 500_000, endsAt: base + 600_000 + n * 1000 }
    return {
      ...IMAGE.alerts[1]!,
      ...{ uuid, name: nameOf(n), summary: 'More than 5 % of requests fail.', labels, occurrences: 2, ...times },
    }
  })
  const entries = alerts.map(({ uuid, name, endsAt }) => {
    const ended = { kind: 'ended', code: 'reported', text: name }
    return { ...ended, at: endsAt ?? 0, actor: null, ref: `alert/${uuid}` }
  })
  const links = alerts.map(({ uuid }, n) => ({ ...link!, uuid: `link-${n}`, alertId: uuid, score: 0.5 }))
  return {
    ...IMAGE,
    alerts: [...IMAGE.alerts, ...alerts],
    entries: [...IMAGE.entries, ...entries],
    correlations: [...IMAGE.correlations, ...links],
  }
}

test('a storm of 440 similar alerts has two rows in the timeline: its start and its end', () => {
  const rows = timelineOf(storm()).filter(({ text }) => text.startsWith('HighErrorRate'))
  assert.deepEqual(
    rows.map(({ kind, count, seen, text }) => [kind, count, seen, text]),
    [
      ['alert', 440, 880, 'HighErrorRate: More than 5 % of requests fail: 11 routes on 40 pods'],
      ['ended', 440, 440, 'HighErrorRate ended'],
    ],
  )
})

test('a storm of 440 similar alerts has one link, one name and one evidence record', () => {
  const document = generate(storm())
  const named = document.evidence.records.filter(({ text }) => text?.startsWith('HighErrorRate'))
  assert.equal(named.length, 1)
  assert.match(
    named[0]?.text ?? '',
    /^HighErrorRate ×440 \(Alertmanager, warning\), .*11 routes on 40 pods, seen 880 times$/,
  )
  const alerts = document.impact.sentences.at(-1)
  assert.match(
    alerts?.text ?? '',
    /441 warnings \(ImagePullBackOff, HighErrorRate ×440 and KubeDeploymentRolloutStuck\)/,
  )
  assert.equal(alerts?.refs.length, 3)
  assert.equal(timelineOf(storm()).filter(({ text }) => text.includes('linked to HighErrorRate')).length, 1)
})

/** The first name has 40 alerts. All other alerts have their own names. */
const ofManyNames = () => storm((n) => `Check${Math.max(0, n - 39)}`)

test('of 401 different alerts, the largest and earliest 100 are listed, and all others share one record', () => {
  const { evidence, impact, timeline } = generate(ofManyNames())
  const described = evidence.records.flatMap(({ text }) => (text?.includes('Alertmanager, warning') ? [text] : []))
  assert.deepEqual([described.length, described[0]?.startsWith('Check0 ×40 (')], [100, true])
  const others = described.find((text) => text.includes('other alerts')) ?? ''
  assert.match(others, /^303 other alerts: Check99, Check100, .*Check106 and 295 more \(Alertmanager, warning\), began/)
  assert.match(others, /, seen 610 times, listed by GET \/api\/alerts\?incidentId=[^ ]+$/)
  assert.equal(impact.alerts.warning, 441)
  const rows = timeline.filter(({ text }) => text.startsWith('Other alerts'))
  assert.deepEqual(
    rows.map(({ kind, count, seen }) => [kind, count, seen]),
    [
      ['alert', 303, 610],
      ['ended', 303, 303],
    ],
  )
})

test('the alerts of a timeline with many names add up to all alerts', () => {
  const rows = timelineOf(ofManyNames()).filter(({ kind }) => kind === 'alert')
  assert.equal(
    rows.reduce((sum, { count }) => sum + count, 0),
    ofManyNames().alerts.length,
  )
})

test('each link to one of many names is counted in the row of its group', () => {
  const rows = timelineOf(ofManyNames()).filter(({ kind }) => kind === 'correlation')
  assert.ok(rows.length <= 102)
  assert.equal(
    rows.reduce((sum, { count }) => sum + count, 0),
    ofManyNames().correlations.length,
  )
})

test('the row about the ends of similar alerts refers to their evidence record, whichever ended first', () => {
  const { entries, ...facts } = storm()
  const delayed = entries.map((one) => (one.ref === 'alert/storm-000' ? { ...one, at: one.at + 5000 } : one))
  const { timeline, evidence } = generate({ ...facts, entries: delayed })
  const [began, ended] = timeline.filter(({ count }) => count === 440)
  assert.equal(ended?.ref, began?.ref)
  assert.ok(evidence.records.every(({ text }) => text !== null))
})

test('a postmortem of a storm is short enough to read', () => {
  assert.ok(markdown(generate(storm())).split('\n').length < 130)
})

test('similar alerts that started together have one start in the evidence', () => {
  const { alerts, ...facts } = storm()
  const together = alerts.map((one) =>
    one.name === 'HighErrorRate' ? { ...one, startsAt: Date.UTC(2026, 2, 14, 2, 13) } : one,
  )
  const { evidence } = generate({ ...facts, alerts: together })
  const text = evidence.records.find(({ text }) => text?.startsWith('HighErrorRate'))?.text ?? ''
  assert.match(text, /×440 \(Alertmanager, \w+\), began at 2026-03-14 02:13:00 UTC, /)
})
