/** Matchers: Alertmanager's syntax, and what they match. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { costOf } from '../../src/domain/silence/expression.ts'
import {
  formatMatchers,
  labelTest,
  matchersFault,
  matcherTest,
  parseMatchers,
  stepsOfRead,
} from '../../src/domain/silence/matcher.ts'
import { compileSilence, silencesOf } from '../../src/domain/silence/silence.ts'
import { assertQuick } from '../helpers/processor.ts'

const ALERT = {
  service: 'checkout',
  namespace: 'shop',
  cluster: 'prod',
  source: 'metrics',
  severity: 'critical',
  alertname: 'HighLatency',
  labels: { severity: 'page', team: 'payments', text: 'two\nlines', service: 'checkout-svc' },
}

for (const [text, matches] of [
  ['service="checkout"', true],
  ['service=checkout', true],
  ['{service="checkout", namespace="shop"}', true],
  ['service="checkout",namespace="other"', false],
  ['service="check"', false],
  ['service=~"check"', false],
  ['service=~"check.*"', true],
  ['service=~"cart|checkout"', true],
  ['service!~"cart|checkout"', false],
  ['service="checkout-svc"', true],
  ['service!="checkout-svc"', false],
  ['severity="page"', true],
  ['severity="critical"', true],
  ['severity!="critical"', false],
  ['alertname="HighLatency"', true],
  ['team="payments"', true],
  ['absent=""', true],
  ['absent!=""', false],
  ['constructor=""', true],
  ['text=~"two.lines"', true],
  ['text="two\\nlines"', true],
  ['"team"="payments",', true],
] as const) {
  test(`${text} ${matches ? 'matches' : 'does not match'}`, () => {
    assert.equal(matcherTest(parseMatchers(text))(ALERT), matches)
  })
}

for (const text of ['service', 'service="a" namespace="b"', '="a"', 'service="a', ',', 'a="b",,c="d"', '{']) {
  test(`${text} is rejected with the position of the error`, () => {
    assert.throws(() => parseMatchers(text), /cannot read the matcher at/)
  })
}

const one = (op: '=' | '!=' | '=~' | '!~', value: string, name = 'service') => [{ name, op, value }]
for (const [what, matchers, fault] of [
  ['no matcher', [], /at least one/],
  ['a match of every value', one('=~', '.*'), /these matchers match an empty value/],
  ['a match of a missing label', one('=', ''), /add one that does not, or one with != or !~$/],
  ['an empty name', one('=', 'x', ''), /1 to 200/],
  ['an open bracket', one('=~', '(['), /regular expression/],
  ['a back-reference', one('=~', '(a)\\1'), /regular expression/],
  ['a regular expression of 100 kB', one('=~', 'a'.repeat(100_000)), /too long/],
  ['a nest of repetitions', one('=~', '((a{1000}){1000}){1000}'), /regular expression/],
  ['21 matchers', Array.from({ length: 21 }, () => one('=', 'x')[0] as never), /at most 20/],
] as const) {
  test(`rejects ${what}`, () => assert.match(matchersFault(matchers) ?? '', fault))
}

test('accepts only a negative matcher, as Alertmanager does', () => {
  assert.equal(matchersFault(one('!=', 'x')), null)
})

test('an expression with catastrophic backtracking in other engines matches in linear time', () => {
  const matches = matcherTest(one('=~', '(a+)+$', 'text'))
  const hostile = { ...ALERT, labels: { text: `${'a'.repeat(30_000)}!` } }
  assertQuick(2_000, () => matches(hostile))
})

test('a formatted matcher can be parsed back to the same matcher', () => {
  const matchers = parseMatchers('service=~"a|b", "with space"!="say \\"hi\\""')
  assert.deepEqual(parseMatchers(formatMatchers(matchers)), matchers)
})

for (const value of ['(a?){1000}', '((a?){40}){40}', '\\pL{900}{2}']) {
  test(`the expression ${value} is refused, because it is too large`, () => {
    const fault = matchersFault([{ name: 'text', op: '=~', value }])
    assert.match(fault ?? '', /the regular expression is too large|not a valid RE2/)
  })
}

test('a list of a hundred names is not too large', () => {
  const value = Array.from({ length: 100 }, (_, number) => `h-${number * 7919}`).join('|')
  assert.equal(matchersFault([{ name: 'node', op: '=~', value }]), null)
})

for (const op of ['=~', '!~'] as const) {
  test(`a large expression with ${op} silences no alert with a very long label, and takes little time`, () => {
    const matches = matcherTest([{ name: 'text', op, value: '(b?){300}' }])
    const text = 'a'.repeat(65_536)
    assertQuick(50, () => assert.equal(matches({ ...ALERT, labels: { text } }), false))
  })
}

test('an existing expression that is too large applies to nothing', () => {
  for (const op of ['=~', '!~'] as const)
    assert.equal(matcherTest([{ name: 'text', op, value: '(a?){1000}' }])({ ...ALERT, labels: { text: 'a' } }), false)
})

for (const value of [
  'x{999}'.repeat(160),
  '(?i)[\\x{80}-\\x{ffff}]'.repeat(45),
  '(?i)\\pL'.repeat(140),
  '(?i)[Ā-￿]'.repeat(100),
]) {
  test(`twenty expressions such as ${value.slice(0, 20)} are refused without compiling them`, () => {
    const matchers = Array.from({ length: 20 }, (_, number) => ({
      name: 'text',
      op: '=~' as const,
      value: value + number,
    }))
    assertQuick(50, () => assert.match(matchersFault(matchers) ?? '', /too large/))
    assertQuick(50, () => assert.equal(matcherTest(matchers)(ALERT), false))
  })
}

for (const [value, cost] of [
  ['checkout|cart', 13],
  ['[a-z0-9]{3}', 3],
  ['(ab{2}){10}', 40],
  ['\\x{1000}', 1],
  ['\\{9\\}', 3],
  ['[(]{2}', 2],
  ['a{9', 3],
  ['))', 2],
  ['['.repeat(2_001), Number.POSITIVE_INFINITY],
] as const) {
  test(`the expression ${value.slice(0, 20)} costs about ${cost}`, () => assert.equal(costOf(value), cost))
}

const HARD = Array.from({ length: 300 }, (_, rowId) => {
  const matchers = [{ name: 'text', op: '=~' as const, value: `(a|b|ab)*c${rowId}` }]
  return compileSilence({ rowId, startsAt: 0, endsAt: 1, schedule: null, matchers, labelsOnly: false })
})
const firing = (text: string) => ({ ...ALERT, labels: { text }, status: 'firing' as const, silencedBy: [] })

test('many silences with small expressions take little time together, although the label is long', () => {
  const alerts = Array.from({ length: 10 }, (_, number) => firing('a'.repeat(4_000) + number))
  assertQuick(60, () =>
    assert.deepEqual(
      alerts.flatMap((alert) => silencesOf(alert, HARD)),
      [],
    ),
  )
})

test('every one of many silences is compared with an ordinary label', () => {
  assert.deepEqual(silencesOf(firing('abac299'), HARD), [299])
})

test('a silence without a regular expression applies although the others used all steps', () => {
  const matchers = [{ name: 'service', op: '=' as const, value: 'checkout' }]
  const plain = compileSilence({ rowId: 999, startsAt: 0, endsAt: 1, schedule: null, matchers, labelsOnly: false })
  assert.deepEqual(silencesOf(firing('a'.repeat(4_000)), [...HARD, plain]), [999])
})

test('a request that compares too many alerts is refused once its steps are used', () => {
  const { steps, check } = stepsOfRead()
  const matches = labelTest([{ name: 'x', op: '=~', value: '(a|b|ab)*c' }])
  check()
  matches({ x: 'a'.repeat(3_900) }, steps)
  check()
  steps.left = 1
  matches({ x: 'a' }, steps)
  assert.throws(check, /the regular expressions take too long: use fewer or smaller ones/)
})
