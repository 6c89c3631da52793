/** Kinds, rules and schedules of notifications. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_PROBLEM } from '../../src/domain/incident/problem.ts'
import { audienceOf } from '../../src/domain/notification/audience.ts'
import { DEFAULT_CHANNEL, recipientsOf } from '../../src/domain/notification/channel.ts'
import { type IncidentState, notificationKindOf } from '../../src/domain/notification/kind.ts'
import {
  endOfQuiet,
  quietHoursFault,
  type Rule,
  remindersText,
  rulesText,
  sendTimeOf,
} from '../../src/domain/notification/rule.ts'
import { nextReminder, paceOf, resultOf, retryPause } from '../../src/domain/notification/schedule.ts'
import type { Operator } from '../../src/domain/silence/matcher.ts'

const OPEN: IncidentState = {
  ...{ severity: 'warning', origin: 'manual', problem: NO_PROBLEM },
  ...{ status: 'open', cause: 'service', acknowledgedAt: null },
}
const FIRING = { ...NO_PROBLEM, firing: ['Down'] }
const NOW = Date.UTC(2026, 2, 14, 12)
const ALERT = { source: 'metrics', severity: 'critical', alertname: 'Down', labels: { team: 'payments' } }
const NEWS = {
  ...({ kind: 'opened', severity: 'error', serviceId: 'id-1', service: 'cart', namespace: 'shop' } as const),
  cluster: 'east',
  alerts: [{ ...ALERT, alertname: 'Slow', labels: {} }, ALERT],
}
const MATCH = (name: string, op: Operator, value: string) => ({ name, op, value })

for (const [what, before, after, kind] of [
  ['a new incident', null, {}, 'opened'],
  ['a new incident of a silent sender', null, { cause: 'silence' }, 'sender-silent'],
  ['the first move of a person', {}, { status: 'investigating', acknowledgedAt: 1 }, 'acknowledged'],
  ['a second move', { acknowledgedAt: 1 }, { status: 'identified', acknowledgedAt: 1 }, null],
  ['a raised severity', {}, { severity: 'critical' }, 'severity'],
  [
    'a severity that is raised while a critical alert fires',
    { problem: FIRING },
    { severity: 'critical', problem: FIRING },
    null,
  ],
  [
    'a raised severity of an automatic incident',
    { origin: 'automatic' },
    { origin: 'automatic', severity: 'critical' },
    'severity',
  ],
  ['a lowered severity', { severity: 'critical' }, {}, null],
  ['a recovery, which its rule tells,', {}, { status: 'monitoring' }, null],
  ['a new acknowledgement', { acknowledgedAt: 1 }, { acknowledgedAt: 2 }, 'acknowledged'],
  ['an end', {}, { status: 'resolved' }, 'resolved'],
  ['an incident that is opened again', { status: 'resolved' }, {}, 'reopened'],
  ['a new title', {}, {}, null],
] as const) {
  test(`${what} ${kind === null ? 'causes no notification' : `causes the notification ${kind}`}`, () => {
    assert.equal(notificationKindOf(before && { ...OPEN, ...before }, { ...OPEN, ...after }), kind)
  })
}

for (const [what, rule, wanted] of [
  ['no condition', {}, true],
  ['its kind', { events: ['opened'] }, true],
  ['another kind', { events: ['resolved'] }, false],
  ['a lower severity', { minSeverity: 'warning' }, true],
  ['its own severity', { minSeverity: 'error' }, true],
  ['a higher severity', { minSeverity: 'critical' }, false],
  ['its service by name', { services: ['web', 'cart'] }, true],
  ['its service by id', { services: ['id-1'] }, true],
  ['no service', { services: [] }, false],
  ['its namespace', { namespaces: ['shop'] }, true],
  ['a label of one of its alerts', { matchers: [MATCH('team', '=', 'payments')] }, true],
  ['labels of two alerts', { matchers: [MATCH('team', '=', 'payments'), MATCH('alertname', '=', 'Slow')] }, false],
  [
    'its cluster and the severity of an alert',
    { matchers: [MATCH('cluster', '=~', 'ea.*'), MATCH('severity', '=', 'critical')] },
    true,
  ],
  ['a label of no alert', { matchers: [MATCH('team', '=', 'search')] }, false],
  ['its service but another namespace', { services: ['cart'], namespaces: ['bank'] }, false],
] as const satisfies readonly (readonly [string, Rule, boolean])[]) {
  test(`a rule with ${what} ${wanted ? 'matches' : 'does not match'} the notification`, () => {
    assert.equal(sendTimeOf([rule], NEWS, NOW), wanted ? NOW : null)
  })
}

test('an incident without alerts is matched by its own fields', () => {
  const manual = { ...NEWS, alerts: [] }
  const time = (...matchers: ReturnType<typeof MATCH>[]) => sendTimeOf([{ matchers }], manual, NOW)
  assert.deepEqual([time(MATCH('severity', '=', 'error')), time(MATCH('team', '=', 'payments'))], [NOW, null])
})

test('every channel says whether, when and why it would be told', () => {
  const channel = (name: string, more: object = {}, enabled = true) => ({
    name,
    enabled,
    settings: { ...DEFAULT_CHANNEL, ...more },
  })
  const channels = [
    channel('all'),
    channel('off', {}, false),
    channel('search', { rules: [{ matchers: [MATCH('team', '=', 'search')] }] }),
    channel('night', {
      rules: [{ events: ['resolved'] }, { quietHours: { from: '11:00', to: '13:00', timeZone: 'UTC' } }],
    }),
    channel('boss', { escalateAfter: 15 }),
  ]
  assert.deepEqual(
    audienceOf(channels, NEWS, NOW).map(({ at, rule, why }) => [at && (at - NOW) / 60_000, rule, why]),
    [
      [0, null, 'at-once'],
      [null, null, 'disabled'],
      [null, null, 'no-rule-matches'],
      [60, 2, 'quiet-hours'],
      [15, null, 'escalation'],
    ],
  )
})

const at = (text: string) => Date.parse(`2026-${text}Z`)
const NIGHT = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' }

for (const [what, quiet, now, end] of [
  ['outside the hours', NIGHT, '03-14T12:00', '03-14T12:00'],
  ['at the start', NIGHT, '03-14T21:00', '03-15T06:00'],
  ['after midnight', NIGHT, '03-15T05:59', '03-15T06:00'],
  ['at the end', NIGHT, '03-15T06:00', '03-15T06:00'],
  ['in the night that loses an hour', NIGHT, '03-28T23:00', '03-29T05:00'],
  ['in the night that gains an hour', NIGHT, '10-24T21:00', '10-25T06:00'],
  ['of 15 minutes in the repeated hour', { ...NIGHT, from: '02:05', to: '02:20' }, '10-25T00:10', '10-25T00:20'],
  ['of 15 minutes, when the hour repeats', { ...NIGHT, from: '02:05', to: '02:20' }, '10-25T01:10', '10-25T01:20'],
  ['between the two times of 15 minutes', { ...NIGHT, from: '02:05', to: '02:20' }, '10-25T00:50', '10-25T00:50'],
  ['around the end of the repeated hour', { ...NIGHT, from: '02:58', to: '03:05' }, '10-25T00:58', '10-25T01:00'],
  [
    'on a weekend of two whole days',
    { from: '00:00', to: '00:00', timeZone: 'UTC', weekdays: ['saturday', 'sunday'] },
    '03-14T12:00',
    '03-16T00:00',
  ],
  ['on another weekday', { ...NIGHT, weekdays: ['monday'] }, '03-14T23:00', '03-14T23:00'],
] as const) {
  test(`${what} quiet hours end at ${end}`, () => {
    assert.equal(endOfQuiet(quiet as never, at(now)), at(end))
  })
}

test('the earliest of several rules applies, so critical messages arrive at night', () => {
  const rules: Rule[] = [{ quietHours: NIGHT }, { minSeverity: 'critical' }]
  const night = at('03-14T23:00')
  assert.equal(sendTimeOf(rules, NEWS, night), at('03-15T06:00'))
  assert.equal(sendTimeOf(rules, { ...NEWS, severity: 'critical' }, night), night)
})

test('quiet hours that never end are rejected', () => {
  assert.equal(quietHoursFault({ from: '07:00', to: '07:00', timeZone: 'UTC' })?.path, 'to')
  assert.equal(quietHoursFault({ from: '07:00', to: '07:00', timeZone: 'UTC', weekdays: ['sunday'] }), null)
})

test('an escalation channel gets nothing before the escalation', () => {
  const channels = [{ rowId: 1, enabled: true, settings: { ...DEFAULT_CHANNEL, escalateAfter: 15 } }]
  assert.deepEqual(recipientsOf(channels, NEWS, false, NOW), [
    { rowId: 1, kind: 'opened', dueAt: null, untold: 'escalation', only: null },
  ])
  assert.deepEqual(recipientsOf(channels, { ...NEWS, kind: 'worse' }, false, NOW), [])
  assert.deepEqual(recipientsOf(channels, NEWS, true, NOW), [
    { rowId: 1, kind: 'opened', dueAt: NOW, untold: null, only: null },
  ])
})

test('a channel without a matching rule and one in quiet hours say why they are not told now', () => {
  const channel = (rule: Rule) => [{ rowId: 1, enabled: true, settings: { ...DEFAULT_CHANNEL, rules: [rule] } }]
  const planned = (rule: Rule) => recipientsOf(channel(rule), NEWS, true, NOW)[0]
  assert.deepEqual(planned({ events: ['resolved'] }), {
    rowId: 1,
    kind: 'opened',
    dueAt: null,
    untold: 'rule',
    only: null,
  })
  const quietHours = { from: '11:00', to: '13:00', timeZone: 'UTC' }
  assert.deepEqual(planned({ quietHours }), {
    rowId: 1,
    kind: 'opened',
    dueAt: at('03-14T13:00'),
    untold: 'quiet-hours',
    only: null,
  })
})

const SECONDS = (...seconds: number[]) => seconds.map((second) => NOW + second * 1000)
for (const [what, sent, due, second, pace, queued = due] of [
  ['the first message', [], 0, 0, 'one'],
  ['what was held for quiet hours', [], 3600, 3600, 'digest', 0],
  ['what waited for its receiver', [], 0, 600, 'digest'],
  ['what a full channel still has to wait for', [3598, 3599, 3600], 3600, 3600, 'wait', 0],
  ['the third within 30 seconds', [0, 1], 2, 2, 'one'],
  ['the fourth', [0, 1, 2], 3, 3, 'wait'],
  ['what waited', [0, 1, 2], 3, 31, 'digest'],
  ['a message after a quiet minute', [0, 1, 2], 60, 60, 'one'],
  ['a message after the clock was set back', [100, 101, 102], 0, 0, 'one'],
] as const) {
  test(`the pace of ${what} is: ${pace}`, () => {
    const [dueAt = 0, now = 0, createdAt = 0] = SECONDS(due, second, queued)
    assert.equal(paceOf(SECONDS(...sent), { dueAt, createdAt }, now), pace)
  })
}

test('a disabled channel gets nothing, and the timeline of a new incident says so once', () => {
  const channels = [{ rowId: 1, enabled: false, settings: DEFAULT_CHANNEL }]
  const untold = (kind: 'opened' | 'again') => recipientsOf(channels, { ...NEWS, kind }, false, NOW)
  assert.deepEqual(untold('opened'), [{ rowId: 1, kind: 'opened', dueAt: null, untold: 'disabled', only: null }])
  assert.deepEqual(untold('again'), [])
})

test('retry intervals grow from 5 seconds to 5 minutes, within 10 percent', () => {
  const pauses = (jitter: number) =>
    [1, 2, 3, 4, 5, 6, 7, 8, 99].map((attempts) => retryPause(attempts, jitter, 0) / 1000)
  assert.deepEqual(pauses(0.5), [5, 15, 45, 135, 300, 300, 300, 300, 300])
  assert.deepEqual([pauses(0)[0], pauses(1)[0]], [4.5, 5.5])
})

test('a receiver can request a longer retry interval, up to an hour, but not a shorter one', () => {
  assert.deepEqual(
    [retryPause(1, 0.5, 60_000), retryPause(1, 0.5, 1e9), retryPause(7, 0.5, 1000)],
    [60_000, 3_600_000, 300_000],
  )
})

for (const [status, isLast, fate] of [
  [200, false, 'delivered'],
  [204, true, 'delivered'],
  [302, false, 'retry'],
  [400, false, 'failed'],
  [404, false, 'retry'],
  [410, false, 'disable'],
  [429, false, 'retry'],
  [500, false, 'retry'],
  [500, true, 'failed'],
  [null, false, 'retry'],
  [null, true, 'failed'],
] as const) {
  test(`the answer ${status ?? 'that does not come'}${isLast ? ' after 24 hours' : ''} means ${fate}`, () => {
    assert.equal(resultOf(status, isLast), fate)
  })
}

test('reminders are sent after the first interval and then repeatedly, or never', () => {
  const every = { remindAfter: 10, remindEvery: 30 }
  assert.deepEqual([nextReminder(every, 0, 0), nextReminder(every, 1, 0)], [600_000, 1_800_000])
  assert.equal(nextReminder({ remindAfter: 0, remindEvery: 30 }, 0, 0), null)
})

test('the short words name what a channel gets, its quiet hours and its escalation', () => {
  const quietHours = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin', weekdays: ['saturday'] as const }
  const rules = [
    { minSeverity: 'critical' as const, services: ['cart'] },
    { events: [], quietHours },
  ]
  assert.deepEqual(rulesText(rules), [
    'all changes of cart; critical only',
    'no changes; quiet 22:00–07:00 Europe/Berlin (sat)',
  ])
  assert.deepEqual(rulesText([]), ['all changes to all incidents, at any time'])
  const never = { remindAfter: 0, remindEvery: 0, escalateAfter: 0 }
  assert.equal(remindersText(never), '')
  assert.equal(remindersText({ ...never, escalateAfter: 5 }), 'only after 5 min without acknowledgement')
})

for (const [what, namespace, labels, isTold] of [
  ['a node with an alert of the namespace', '', [{}, { namespace: 'shop' }], true],
  ['a node with alerts of another namespace', '', [{ namespace: 'bank' }], false],
  ['a node with an alert that names no namespace', '', [{}], false],
  ['a service of another namespace whose alert names this one', 'bank', [{ namespace: 'shop' }], false],
] as const)
  test(`a rule for a namespace ${isTold ? 'matches' : 'does not match'} ${what}`, () => {
    const alerts = labels.map((one) => ({ ...ALERT, labels: one }))
    assert.equal(sendTimeOf([{ namespaces: ['shop'] }], { ...NEWS, namespace, alerts }, NOW) !== null, isTold)
  })

for (const [events, kind, isWanted] of [
  [['again'], 'flapping', true],
  [['opened', 'recovered', 'again'], 'flapping', true],
  [['flapping'], 'flapping', true],
  [['opened', 'recovered'], 'flapping', false],
  [['flapping'], 'again', false],
  [[], 'flapping', false],
] as const) {
  test(`a rule for ${events.join(', ') || 'no events'} ${isWanted ? 'wants' : 'does not want'} ${kind}`, () => {
    assert.equal(sendTimeOf([{ events }], { ...NEWS, kind }, NOW), isWanted ? NOW : null)
  })
}

/** Rules that are slow to compare with a long label, as many as all channels may have. */
const HARD = Array.from({ length: 400 }, (_, n): Rule => ({ matchers: [MATCH('x', '=~', `(a|b|ab)*c${n}`)] }))
const LONG = { ...NEWS, alerts: Array.from({ length: 500 }, () => ({ ...ALERT, labels: { x: 'a'.repeat(3_900) } })) }

test('many slow rules and alerts take little time together, and the message is sent', () => {
  const began = process.cpuUsage()
  assert.equal(sendTimeOf(HARD, LONG, NOW), NOW)
  const { user, system } = process.cpuUsage(began)
  assert.ok(user + system < 500_000, `${(user + system) / 1000} ms`)
})

test('a rule without a regular expression decides although the others used all steps', () => {
  const steps = { left: 0, otherwise: true }
  const other: Rule = { matchers: [MATCH('team', '=', 'platform')] }
  assert.deepEqual(
    [sendTimeOf([other], { ...NEWS, steps }, NOW), sendTimeOf(HARD, { ...NEWS, steps }, NOW)],
    [null, NOW],
  )
})

test('the channels of one message share the steps', () => {
  const steps = { left: 1_000_000, otherwise: true }
  const channels = HARD.map((rule, rowId) => ({
    rowId,
    enabled: true,
    settings: { ...DEFAULT_CHANNEL, rules: [rule] },
  }))
  const sent = recipientsOf(channels, { ...LONG, alerts: LONG.alerts.slice(0, 1), steps }, false, NOW)
  assert.ok(steps.left <= 0)
  assert.deepEqual([sent[0]?.untold, sent.at(-1)?.untold], ['rule', null])
})
