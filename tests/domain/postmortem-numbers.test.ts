/** Numbers in postmortems: every time, duration and number in the Markdown comes from the record. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PostmortemFacts } from '../../src/domain/incident/facts.ts'
import { formatSeconds, formatTime } from '../../src/domain/text.ts'
import { GOLDENS, type Golden, markdownOf } from './postmortem-goldens.ts'

for (const golden of GOLDENS) {
  test(`Markdown of ${golden.name}: every time, duration and number comes from the record`, () => {
    assert.deepEqual(invented(golden, markdownOf(golden)), [])
  })

  test(`Markdown of ${golden.name}: an invented time, duration or number is found`, () => {
    const lie = 'From 2026-03-14 02:11:10 UTC, for 5 h 59 min 1 s, 977 pods and 0.77.'
    assert.deepEqual(invented(golden, lie), ['2026-03-14 02:11:10 UTC', '5 h 59 min 1 s', '977', '0.77'])
  })
}

/** Returns the times, durations and numbers in the text that cannot be derived from the record. */
function invented(golden: Golden, text: string): string[] {
  const { times, durations, numbers } = recorded(golden)
  const found: string[] = []
  const without = (pattern: RegExp, isKnown: (part: string) => boolean) => (from: string) =>
    from.replace(pattern, (part) => {
      if (!isKnown(part)) found.push(part)
      return ''
    })
  const words = text.replace(/\\(?=[!-/:-@[-`{-~])/g, '').replace(/\bE\d+(?:–E\d+)?\b/g, '')
  const TIME = /\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d(?: UTC)?)?|\d\d:\d\d:\d\d/g
  const timeless = without(TIME, (time) => times.has(time.replace(' UTC', '')))(words)
  const SPAN = /(?<![\w.])(?:\d+ (?:d|h|min) )*\d+ (?:d|h|min|s)(?!\w)/g
  const spanless = without(SPAN, (span) => durations.has(span) || numbers.has(span))(timeless)
  without(/\d+(?:\.\d+)?/g, (number) => numbers.has(number))(spanless)
  return found
}

/** Numbers that belong to rules and scales. */
const RULES = ['15', '30', '90', '100', '1']

/**
 * Returns everything that can be derived: times, the durations between them, numbers in the facts and edits, and
 * counts.
 */
function recorded({ facts, edits }: Golden) {
  const values = leaves([facts, edits])
  const numeric = values.filter((value) => typeof value === 'number')
  const instants = numeric.filter((value) => value > 1e12)
  const seconds = instants.map((value) => Math.floor(value / 1000))
  const spans = seconds.flatMap((from) => seconds.map((to) => to - from)).filter((span) => span >= 0)
  const lags = facts.correlations.map(({ lagSeconds }) => Math.abs(lagSeconds))
  const texts = values.flatMap((value) => (typeof value === 'string' ? (value.match(/\d+(?:\.\d+)?/g) ?? []) : []))
  const phrases = values.flatMap((value) =>
    typeof value === 'string' ? (value.match(/\d+ (?:d|h|min|s)\b/g) ?? []) : [],
  )
  const cut = facts.changes.flatMap(({ sha }) => sha?.slice(0, 8).match(/\d+/g) ?? [])
  return {
    // After a full time, another time on the same day is shown without the date.
    times: new Set([
      ...instants.map(formatTime).flatMap((time) => [time.slice(0, 19), time.slice(0, 10), time.slice(11, 19)]),
      ...values.filter((value) => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value)),
    ]),
    durations: new Set([...spans, ...lags].map(formatSeconds)),
    numbers: new Set([
      ...numeric.map(String),
      ...[...facts.correlations, ...facts.suspects].map(({ score }) => score.toFixed(2)),
      ...texts,
      ...phrases,
      ...cut,
      ...counts(facts),
      ...RULES,
      '30 d',
      '90 d',
    ]),
  }
}

/**
 * Returns the lengths of lists, the numbers of items with the same value, and those numbers minus the 2 or 8 that are
 * listed.
 */
function counts(facts: PostmortemFacts): string[] {
  const lists: readonly object[][] = [
    facts.alerts,
    facts.entries,
    facts.events,
    facts.changes,
    facts.correlations,
    facts.earlier,
  ].map((list) => [...list])
  const groups = lists.flatMap((list) =>
    Object.keys(list[0] ?? {}).flatMap((key) => [
      ...Map.groupBy(list, (item) => (item as Record<string, unknown>)[key]).values(),
    ]),
  )
  const sizes = [
    ...lists,
    ...groups,
    ...facts.alerts.map(({ objects }) => objects),
    [...new Set(facts.alerts.flatMap(({ objects }) => objects))],
  ].map((list) => list.length)
  const lately = facts.earlier.filter(({ startsAt }) => startsAt >= facts.incident.startedAt - 30 * 86_400_000).length
  return [...sizes, ...sizes.map((size) => size - 2), ...sizes.map((size) => size - 8), lately].map(String)
}

function leaves(value: unknown): (string | number)[] {
  if (typeof value === 'string' || typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : []
}
