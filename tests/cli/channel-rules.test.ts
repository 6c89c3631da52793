/** Channel rules on the command line. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMinutes, parseRule } from '../../src/cli/channel-rules.ts'

const MATCH = (name: string, op: string, value: string) => ({ name, op, value })
const NIGHT = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' }

for (const [text, rule] of [
  ['severity=critical', { minSeverity: 'critical' }],
  ['service=checkout,cart namespace=shop', { services: ['checkout', 'cart'], namespaces: ['shop'] }],
  ['  events=opened,resolved  ', { events: ['opened', 'resolved'] }],
  [
    'match=team="payments team",tier=~1|2',
    { matchers: [MATCH('team', '=', 'payments team'), MATCH('tier', '=~', '1|2')] },
  ],
  ['quiet=22:00-07:00 zone=Europe/Berlin', { quietHours: NIGHT }],
  ['quiet=22:00-07:00 zone=Europe/Berlin days=saturday', { quietHours: { ...NIGHT, weekdays: ['saturday'] } }],
] as const) {
  test(`"${text}" is a rule`, () => assert.deepEqual(parseRule(text), [rule]))
}

test('each rule is added to the previous ones, and all removes them', () => {
  const both = parseRule('service=cart', parseRule('severity=error'))
  assert.deepEqual(both, [{ minSeverity: 'error' }, { services: ['cart'] }])
  assert.deepEqual(parseRule('all', both), [])
})

for (const [text, said] of [
  ['sevrity=critical', /unknown key "sevrity"; did you mean severity\?/],
  ['severity=bad', /severity: "bad" is not one of /],
  ['severity=', /severity has no value; for example: severity=critical/],
  ['events=opened,closed', /events: "closed" is not one of /],
  ['quiet=22:00-07:00', /add one, such as zone=Europe\/Berlin/],
  ['quiet=10pm-07:00 zone=Europe/Berlin', /quiet: expected a clock time such as 22:00/],
  ['quiet=22:00 zone=Europe/Berlin', /quiet: expected a clock time/],
  ['quiet=22:00-07:00 zone=Berlin', /zone: expected a time zone/],
  ['quiet=00:00-00:00 zone=UTC', /would never end/],
  ['quiet=22:00-07:00 zone=UTC days=sunday,someday', /days: "someday" is not one of/],
  ['zone=UTC', /zone and days are valid only together with quiet/],
  ['match=team', /match: cannot read the matcher at "team": write name="value"/],
  ['match=team=~"("', /match: the value is not a valid RE2/],
  ['match=team=~".*"', /match: these matchers match an empty value; add one that does not/],
  ['', /unknown key ""/],
] as const) {
  test(`the rule "${text}" is rejected, and the message says what to write`, () =>
    assert.throws(() => parseRule(text), { message: said }))
}

for (const [text, minutes] of [
  ['10', 10],
  ['10m', 10],
  ['2h', 120],
  ['0', 0],
  ['off', 0],
] as const) {
  test(`${text} is ${minutes} minutes`, () => assert.equal(parseMinutes('--remind-after')(text), minutes))
}

for (const text of ['', '-1', '1.5', '2d', 'never', '1000000']) {
  test(`"${text}" is not a number of minutes`, () =>
    assert.throws(() => parseMinutes('--remind-after')(text), /^UsageError: --remind-after: .*use minutes \(10\)/))
}
