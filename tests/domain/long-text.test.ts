/** No rule takes longer than linear time for long text of a sender, whatever the text is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasPlaceholder, isPlaceholder } from '../../src/domain/placeholder.ts'
import { plain, prose } from '../../src/domain/postmortem/escape.ts'
import { clientOf } from '../../src/domain/request/forwarded.ts'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { accusedIn, wordsOf } from '../../src/domain/suspect/accused.ts'
import { dependenciesOf } from '../../src/domain/suspect/dependency.ts'
import { withoutStop } from '../../src/domain/text.ts'

const LENGTH = 65_536
/** A quadratic rule takes some seconds for `LENGTH` characters, a linear one a few milliseconds. */
const MOST_MS = 250

const SEEDS = [
  '{',
  '{{',
  '${',
  '$',
  '<',
  '[',
  '[[',
  '[^',
  ']',
  '](',
  '.',
  '. ',
  ' ',
  '\n',
  ':',
  'a.',
  'a:',
  '"',
  '_',
  '@',
]
const MORE = [
  '/',
  'http://',
  'a',
  '1',
  '&',
  '*',
  '`',
  '\\',
  '.svc',
  'a.svc.',
  'lookup ',
  'lookup a ',
  'refused ',
  '-',
  '=',
  'a=',
  ',',
  '|',
]

const own = { cluster: '', namespace: 'shop', name: 'cart' }
const components = { byId: new Map(), byName: new Map(), unwell: new Set<string>() }
const dependent = (text: string) => ({ labels: { destination: text, upstream: text }, text, node: null, name: 'x' })

const RULES: Readonly<Record<string, (text: string) => unknown>> = {
  hasPlaceholder,
  isPlaceholder,
  plain,
  prose,
  withoutStop,
  parseMatchers: (text) => {
    try {
      return parseMatchers(text)
    } catch {
      return null
    }
  },
  'X-Forwarded-For': (text) =>
    clientOf(
      '10.0.0.1',
      (name) => (name === 'x-forwarded-for' ? text : ''),
      () => true,
    ),
  Forwarded: (text) =>
    clientOf(
      '10.0.0.1',
      (name) => (name === 'forwarded' ? `for="[${text}]"` : ''),
      () => true,
    ),
  accusedIn: (text) => accusedIn(components, { id: 'x', ...own }, wordsOf('cannot connect', { description: text })),
  dependenciesOf: (text) => dependenciesOf(own, [dependent(text) as never], new Map()),
}

for (const [name, rule] of Object.entries(RULES)) {
  test(`${name} takes linear time for long text`, () => {
    for (const seed of [...SEEDS, ...MORE]) {
      for (const end of ['', 'x', ']', '\x01']) {
        const text = seed.repeat(LENGTH / seed.length) + end
        const { user } = process.cpuUsage()
        rule(text)
        const ms = (process.cpuUsage().user - user) / 1000
        assert.ok(ms < MOST_MS, `${JSON.stringify(seed)} with ${JSON.stringify(end)} at the end took ${ms} ms`)
      }
    }
  })
}
