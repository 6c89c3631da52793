/** What a postmortem says about what happened beside the incident: other incidents, evictions, notes, foreign alerts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PostmortemFacts } from '../../src/domain/incident/facts.ts'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { generate } from '../../src/domain/postmortem/postmortem.ts'
import { MINUTE } from '../../src/domain/units.ts'
import { factsOf } from './postmortem-goldens.ts'

const NODE = factsOf('node-down')
const { createdAt, startedAt } = NODE.incident
const textOf = (facts: Partial<PostmortemFacts>) => markdown(generate({ ...NODE, ...facts }))

const search = { uuid: 'search', namespace: 'shop', name: 'search' }
const opened = { ref: 'incident/search', title: 'search: Down', createdAt: createdAt + MINUTE, service: 'search' }
const onNode = { ref: 'alert/pod', name: 'NodeNotReady (pod)', startsAt: startedAt, objects: ['Pod/search-1'] }

test('a failed node names the services whose incidents opened while their pods were on it', () => {
  const text = textOf({ services: [search], meanwhile: [opened] })
  assert.match(text, /- Services with an incident that probably followed from this one: 1 \(shop\/search\) \(E\d+\)/)
  assert.doesNotMatch(text, /Other incidents that opened/)
  const elsewhere = textOf({ services: [search], meanwhile: [{ ...opened, service: 'pay' }] })
  assert.match(elsewhere, /Other incidents that opened during this one: “search: Down”/)
  const noNode = { ...NODE.incident, service: { ...NODE.incident.service, name: 'cart' } }
  for (const text of [elsewhere, textOf({ incident: noNode, services: [search], meanwhile: [opened] })])
    assert.doesNotMatch(text, /probably followed from this one/)
})

test('an incident that opened shortly before is named as such, and did not follow from this one', () => {
  const before = { ...opened, number: 7, createdAt: createdAt - MINUTE }
  const text = textOf({ services: [search], meanwhile: [before, { ...opened, service: 'pay' }] })
  assert.match(text, /Other incidents that opened shortly before this one: “search: Down” \(incident 7\) \(E\d+\)\.\n/)
  assert.match(text, /Other incidents that opened during this one: “search: Down”/)
  assert.doesNotMatch(text, /probably followed from this one/)
  assert.doesNotMatch(textOf({ services: [search], meanwhile: [opened] }), /shortly before/)
})

test('the alerts about the services of a node are the evidence for them, and not those about the node', () => {
  const [first, ...others] = NODE.alerts
  assert.ok(first)
  const text = textOf({ services: [search], alerts: [{ ...first, serviceId: 'search' }, ...others] })
  assert.match(text, /The incident includes alerts about shop\/search \(E\d+\)\./)
})

test('the services of a node are listed once, unless some do not belong to the incident', () => {
  const told = /Services with alerts about pods on/
  const of = (service: string) => textOf({ services: [search], onNode: [{ ...onNode, service }] })
  assert.match(of('shop/pay'), told)
  assert.doesNotMatch(of('shop/search'), told)
})

test('an eviction is no recovery, unless nothing else is known', () => {
  const evicted = { ...NODE.alerts[0]!, uuid: 'e', name: 'Evicted', source: 'cluster', resolution: 'expired' } as const
  assert.doesNotMatch(textOf({ alerts: [...NODE.alerts, evicted] }), /last happened/)
  assert.match(textOf({ alerts: [evicted] }), /Evicted last happened at/)
})

test('without a fix, the document refers to the notes of people, if there are any', () => {
  const note = { at: createdAt, kind: 'note', code: null, text: 'Power is back', actor: 'Ann', ref: null }
  assert.match(
    textOf({ entries: [note] }),
    /\*\*Cause:\*\* no change was found that could be the cause; the notes may say more \(/,
  )
  assert.match(textOf({ entries: [note] }), /\*\*Fix:\*\* not known; the notes may say more/)
  assert.doesNotMatch(textOf({ entries: [] }), /the notes may/)
})

test('alerts of other incidents share a row only with those of the same incident, which it names', () => {
  const event = (alertId: string, number: number | null) => ({
    ...{ uuid: alertId, kind: 'firing', source: 'metrics', name: 'HighErrorRate', object: '', at: createdAt, alertId },
    ...{ text: `HighErrorRate ${alertId}`, incident: number === null ? null : { title: 'pay: Down', number } },
  })
  const events = [event('cart', null), event('search', null), event('pay', 2), event('bank', 2)] as never
  const rows = generate({ ...NODE, events }).timeline.filter(({ text }) => text.startsWith('HighErrorRate'))
  assert.deepEqual(
    rows.map(({ text, count }) => [text, count]),
    [
      ['HighErrorRate – not part of this incident', 2],
      ['HighErrorRate – part of “pay: Down” (incident 2)', 2],
    ],
  )
})

test('an alert of another incident has its end in the timeline, and an own one only once', () => {
  const event = { source: 'metrics', name: 'SearchDown', object: '', text: 'SearchDown' } as const
  const events = (alertId: string) => [
    { ...event, kind: 'firing' as const, uuid: 'a', at: createdAt, alertId },
    { ...event, kind: 'resolved' as const, uuid: 'b', at: createdAt + MINUTE, alertId },
    { ...event, kind: 'resolved' as const, uuid: 'c', at: createdAt + MINUTE, alertId },
  ]
  const rows = (alertId: string) =>
    generate({ ...NODE, events: events(alertId) }).timeline.filter(({ text }) => text.startsWith('SearchDown ended'))
  assert.deepEqual(
    rows('elsewhere').map(({ at, count, source }) => [Date.parse(at), count, source]),
    [[createdAt + MINUTE, 1, 'metrics']],
  )
  assert.deepEqual(rows(NODE.alerts[0]!.uuid), [])
})
