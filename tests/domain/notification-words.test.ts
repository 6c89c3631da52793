/** The texts of messages, and their format in each kind of channel. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestTextOf } from '../../src/domain/notification/digest.ts'
import {
  formatDiscord,
  formatNtfy,
  formatSlack,
  formatTeams,
  formatTelegram,
  formatWebhook,
} from '../../src/domain/notification/format.ts'
import { formatMail } from '../../src/domain/notification/mail.ts'
import { maskTarget, targetFault, withoutSecrets } from '../../src/domain/notification/target.ts'
import {
  type MessageAlert,
  type MessageContext,
  type MessageItem,
  messageTextOf,
} from '../../src/domain/notification/words.ts'
import {
  burning,
  CONTEXT,
  healed,
  messageAlert,
  messageItem,
  NOW,
  withBreak,
  withSilence,
} from '../helpers/messages.ts'

const item = messageItem

for (const [kind, title] of [
  ['opened', 'checkout has been critical since 14:02 UTC (4 min).'],
  ['worse', 'checkout got worse: DiskFull is firing, too.'],
  [
    'severity',
    'checkout is critical now (previously warning; changed by anna): checkout has been critical since 14:02 UTC (4 min).',
  ],
  ['acknowledged', 'anna is working on it: checkout has been critical since 14:02 UTC (4 min).'],
  ['again', 'checkout is critical again: checkout has been critical since 14:02 UTC (4 min).'],
  ['reopened', 'anna reopened the incident: checkout has been critical since 14:02 UTC (4 min).'],
  ['reminder', 'Nobody has acknowledged this yet: checkout has been critical since 14:02 UTC (4 min).'],
  ['escalation', 'Nobody has acknowledged this incident: checkout has been critical since 14:02 UTC (4 min).'],
] as const) {
  test(`the first line of ${kind} says what is wrong and since when`, () => {
    const actor = kind === 'again' ? null : 'anna'
    const about = { kind, actor, severityBefore: 'warning', names: ['DiskFull'] } as const
    assert.equal(messageTextOf(item(about), CONTEXT).title, title)
  })
}

test('a severity that no user changed names nobody', () => {
  const { title } = messageTextOf(item({ kind: 'severity', severityBefore: 'warning' }), CONTEXT)
  assert.match(title, /^checkout is critical now \(previously warning\): /)
})

for (const [raisedMinutesAgo, severity, text] of [
  [1, 'critical', 'has been critical since 14:05 UTC (1 min)'],
  [4, 'critical', 'has been critical since 14:02 UTC, last reported at 14:03 UTC'],
  [1, 'warning', 'has had a warning since 14:05 UTC (1 min)'],
] as const) {
  test(`a user who set ${severity} ${raisedMinutesAgo} min ago reads “${text}” of what was reported 3 min ago`, () => {
    const earlier = severity === 'critical' ? 'warning' : 'critical'
    const problem = burning(4, { ratings: [{ until: NOW - raisedMinutesAgo * 60_000, severity: earlier }] })
    const alerts = [messageAlert({ source: 'cluster', receivedAt: NOW - 3 * 60_000 })]
    const { title } = messageTextOf(item({ kind: 'reminder', alerts }, { severity, problem }), CONTEXT)
    assert.equal(title, `Nobody has acknowledged this yet: checkout ${text}.`)
  })
}

test('a recovery says since when, how long it was critical and when the incident resolves by itself', () => {
  const { title, body, tone } = messageTextOf(item({ kind: 'recovered' }, { problem: healed() }), CONTEXT)
  assert.equal(title, 'checkout has recovered: it was critical for 4 min, until 14:04 UTC.')
  assert.match(body, /It resolves by itself at 14:34 UTC unless the problem comes back\./)
  assert.equal(tone, 'resolved')
})

test('a recovery names what is over, and what else is still firing', () => {
  const over = messageAlert({ id: 'b', name: 'Down', endsAt: NOW - 120_000, summary: 'checkout does not answer' })
  const alerts = [messageAlert({ name: 'DiskFull', severity: 'warning', summary: 'the disk is full' }), over]
  const { body } = messageTextOf(
    item({ kind: 'recovered', alerts }, { problem: healed(), firingAlerts: 1, alertCount: 2 }),
    CONTEXT,
  )
  assert.match(body, /^It was: Down: checkout does not answer\. Still firing: DiskFull \(warning\)\. /)
})

test('a recovery quotes what an alert said while it was critical, or only its name', () => {
  const full = { name: 'Disk', severity: 'warning', summary: 'disk 85 % full', endsAt: NOW - 60_000 } as const
  const problem = healed(2, { had: ['Disk'] })
  const bodyFor = (more: object, kind: 'recovered' | 'resolved' = 'recovered') =>
    messageTextOf(item({ kind, alerts: [messageAlert({ ...full, ...more })] }, { problem, status: 'open' }), CONTEXT)
      .body
  assert.match(bodyFor({ criticalSummary: 'disk 95 % full' }), /^It was: Disk: disk 95 % full\. /)
  assert.match(bodyFor({ criticalSummary: 'disk 95 % full' }, 'resolved'), /^It was: Disk: disk 95 % full\. /)
  assert.match(bodyFor({ criticalSummary: null }), /^It was: Disk\. /)
  assert.match(bodyFor({ severity: 'critical' }), /^It was: Disk: disk 85 % full\. /)
  assert.match(bodyFor({ endsAt: null }), /^Still firing, but not critical: Disk: disk 85 % full\. /)
})

for (const [what, kind, ends, second, count, quoted] of [
  ['a recovery', 'recovered', [1, 2], 'shard 2 lost', 2, 'It was: Shard: shard 1 lost (and 1 more).'],
  ['a reminder', 'reminder', [null, null], 'shard 2 lost', 2, 'Shard: shard 1 lost (and 1 more).'],
  ['a message of a larger incident', 'opened', [null, null], 'shard 2 lost', 30, 'Shard: shard 1 lost (and more).'],
  ['a message about the same', 'opened', [null, null], 'shard 1 lost', 2, 'Shard: shard 1 lost.'],
  ['a reminder after one of two has ended', 'reminder', [1, null], 'shard 2 lost', 2, 'Shard: shard 2 lost.'],
] as const) {
  test(`${what} says “${quoted}”`, () => {
    const alerts = ['shard 1 lost', second].map((summary, index) => {
      const minutes = ends[index] ?? null
      return messageAlert({ id: summary, name: 'Shard', summary, endsAt: minutes && NOW - minutes * 60_000 })
    })
    const problem = kind === 'recovered' ? healed(4, { had: ['Shard'] }) : burning(4, { firing: ['Shard'] })
    const { body } = messageTextOf(item({ kind, alerts }, { problem, alertCount: count }), { ...CONTEXT, cause: '' })
    assert.ok(body.startsWith(`${quoted} `), body)
  })
}

test('after what ended, a recovery says of what goes on when it was last reported', () => {
  const over = messageAlert({ id: 'b', name: 'Down', endsAt: NOW - 120_000, summary: 'checkout does not answer' })
  const alerts = [messageAlert({ name: 'Full', severity: 'warning', receivedAt: NOW - 240_000 }), over]
  const { body } = messageTextOf(
    item({ kind: 'recovered', alerts }, { problem: healed(), firingAlerts: 1, alertCount: 2 }),
    CONTEXT,
  )
  assert.match(
    body,
    /^It was: Down: checkout does not answer\. Still firing: Full \(warning\)\. Last reported at 14:02 UTC\. /,
  )
})

test('after a merge, a recovery names each condition once, with its service', () => {
  const over = (condition: string, name: string) =>
    messageAlert({ name, condition, summary: name, endsAt: NOW - 120_000 })
  const bodyFor = (alerts: MessageItem['alerts'], ...had: readonly string[]) =>
    messageTextOf(item({ kind: 'recovered', alerts }, { problem: healed(4, { had }) }), CONTEXT).body
  assert.match(bodyFor([over('A', 'A'), over('B of b', 'B')], 'A', 'B', 'B of b'), /^It was: A; B of b\. /)
  assert.match(bodyFor([over('B', 'B')], 'B', 'A', 'A of a'), /^It was: B; A of a\. /)
  const own = [over('Down', 'Down'), over('Slow', 'Slow'), over('Down of a', 'Down')]
  assert.match(bodyFor(own, 'Down', 'Slow', 'Down of a'), /^It was: Down; Slow; Down of a\. /)
})

test('what never was critical is quoted as it is', () => {
  const slow = messageAlert({
    name: 'Slow',
    severity: 'warning',
    summary: 'p99 2 s',
    endsAt: NOW,
    criticalSummary: null,
  })
  const problem = healed(2, { had: ['Customers pay twice'] })
  const { body } = messageTextOf(item({ kind: 'resolved', alerts: [slow] }, { problem, origin: 'manual' }), CONTEXT)
  assert.match(body, /Slow: p99 2 s/)
})

test('a touched incident resolves by itself after a day, and with the setting off never', () => {
  const touched = item({ kind: 'recovered' }, { problem: healed(), touchedAt: NOW })
  assert.match(messageTextOf(touched, CONTEXT).body, /It resolves by itself on Sun at 14:04 UTC/)
  assert.match(
    messageTextOf(touched, { ...CONTEXT, resolveAfter: null }).body,
    /It stays open until a user resolves it/,
  )
})

test('a duration never spans a healthy gap', () => {
  const back = item({ kind: 'again' }, { problem: withBreak(burning(1), 95_000), startedAt: NOW - 60 * 60_000 })
  assert.match(messageTextOf(back, CONTEXT).title, /since 14:05 UTC \(1 min, 2 min 35 s in all\)/)
})

test('a disproved all-clear says so', () => {
  const { title } = messageTextOf(item({ kind: 'again', wasWrong: true }), CONTEXT)
  assert.equal(title, 'The all-clear was wrong: checkout has been critical since 14:02 UTC (4 min).')
})

for (const [kind, problem, expected] of [
  ['opened', burning(2), /^checkout has been critical since 14:01 UTC \(5 min; its silence ended at 14:04 UTC\)\.$/],
  ['reminder', withBreak(burning(2), 60_000), /: checkout has been critical since 14:01 UTC \(5 min; its silence/],
  ['acknowledged', burning(2), /: checkout has been critical since 14:01 UTC \(5 min; its silence ended at 14:04 UTC/],
  ['recovered', healed(2), /: it was critical for 2 min, until 14:04 UTC, not counting 3 min under a silence\.$/],
  ['resolved', healed(2), /\. It was critical for 2 min, not counting 3 min under a silence\.$/],
] as const) {
  test(`a problem that a silence covered at first is as old as it is: ${kind}`, () => {
    const covered = { since: NOW - 5 * 60_000, until: NOW - 2 * 60_000 }
    const silenced = { ...withSilence(problem, 3 * 60_000), covered }
    assert.match(messageTextOf(item({ kind }, { problem: silenced }), CONTEXT).title, expected)
  })
}

for (const [what, raisedAt, expected] of [
  ['after its silence is not as old', NOW - 60_000, /: checkout has been critical since 14:05 UTC \(1 min\)\.$/],
  ['under its silence is as old', NOW - 4 * 60_000, / since 14:01 UTC \(5 min; its silence ended at 14:04 UTC\)\.$/],
] as const) {
  test(`a problem that a silence covered at first, and that got its severity ${what}`, () => {
    const covered = { since: NOW - 5 * 60_000, until: NOW - 2 * 60_000 }
    const ratings = [{ until: raisedAt, severity: 'warning' as const }]
    const problem = { ...withSilence(burning(2), 3 * 60_000), covered, ratings }
    assert.match(messageTextOf(item({ kind: 'reminder' }, { problem }), CONTEXT).title, expected)
  })
}

test('an incident that is on again because of a merge says who merged what', () => {
  const merged = item({ kind: 'again', actor: 'Dana', names: ['Customers pay twice of cart'] })
  const title = 'checkout: Dana merged an incident that goes on into this one: Customers pay twice of cart.'
  assert.equal(messageTextOf(merged, CONTEXT).title, title)
})

test('a message about an incident resolved too early says so, and does not look like a resolution', () => {
  const early = item({ kind: 'resolved', actor: 'anna' }, { firingAlerts: 3, resolvedAt: NOW, status: 'resolved' })
  const { title, tone } = messageTextOf(early, CONTEXT)
  assert.equal(
    title,
    'checkout: anna resolved the incident, but 3 alerts are still firing. It has been critical for 4 min.',
  )
  assert.equal(tone, 'warning')
  const later = messageTextOf(item({ kind: 'still-firing' }, { firingAlerts: 1, resolvedAt: NOW }), CONTEXT).title
  assert.equal(later, 'checkout: 1 alert is still firing, even though the incident was resolved at 14:06 UTC.')
})

test("the second line contains the alerts' own summaries, the likely cause and the number of alerts", () => {
  const alerts = [messageAlert({ summary: 'checkout answers 40 % with 5xx.' }), messageAlert({ name: 'Slow' })]
  assert.equal(
    messageTextOf(item({ alerts }), CONTEXT).body,
    'Down: checkout answers 40 % with 5xx. Likely cause: failed deploy shop/checkout#4711, started 3 min before the incident. 12 alerts. Incident #7, namespace shop.',
  )
})

test('a new condition of another service shows its own alert, and not one of the same name', () => {
  const own = messageAlert({ name: 'Errors', summary: 'checkout fails' })
  const other = messageAlert({ name: 'Errors', condition: 'Errors of cart', summary: 'cart fails' })
  const of = (name: string) => messageTextOf(item({ kind: 'worse', names: [name], alerts: [own, other] }), CONTEXT).body
  assert.match(of('Errors of cart'), /^Errors of cart: cart fails\./)
  assert.match(of('Errors'), /^Errors: checkout fails\./)
})

test('a message names the cluster, and who is on it', () => {
  const service = { name: 'checkout', namespace: 'shop', cluster: 'eu' }
  const { body } = messageTextOf(
    item({ kind: 'worse', service }, { acknowledgedAt: NOW, acknowledgedBy: 'Ada' }),
    CONTEXT,
  )
  assert.match(body, /Ada is on it\. 12 alerts\. Incident #7, namespace shop, cluster eu\.$/)
})

const ONCE = healed(0).periods
const BREAKS = { periods: withBreak(healed(1), 3 * 60_000).periods }
for (const [name, problem, text] of [
  [
    'an inferred end is the last report',
    { isGuess: true },
    'is no longer reported as critical: it was critical for at least 4 min, last reported at 14:04 UTC; no end was reported',
  ],
  [
    'one report has no length',
    { isGuess: true, periods: ONCE },
    'is no longer reported as critical: it was critical, last reported at 14:04 UTC; no end was reported',
  ],
  ['a reported end is an end', {}, 'has recovered: it was critical for 4 min, until 14:04 UTC'],
  ['several periods have a sum', BREAKS, 'has recovered: it was critical for 4 min in all, until 14:04 UTC'],
] as const) {
  test(`a recovery tells only what is known: ${name}`, () => {
    const { title } = messageTextOf(item({ kind: 'recovered' }, { problem: healed(4, problem) }), CONTEXT)
    assert.equal(title, `checkout ${text}.`)
  })
}

for (const [name, more, text] of [
  ['an event', { source: 'cluster', receivedAt: NOW - 60_000 }, ', last reported at 14:05 UTC.'],
  ['an event of the last minute', { source: 'cluster', receivedAt: NOW - 59_000 }, ' (4 min).'],
  ['an alert whose end is never reported', { receivedAt: NOW - 60_000 }, ', last reported at 14:05 UTC.'],
] as const) {
  test(`a reminder gives no length that a recovery could contradict: ${name}`, () => {
    const { title } = messageTextOf(item({ kind: 'reminder', alerts: [messageAlert(more)] }), CONTEXT)
    assert.equal(title, `Nobody has acknowledged this yet: checkout has been critical since 14:02 UTC${text}`)
  })
}

test('a reminder gives the length of an alert whose sender reports ends', () => {
  const delivery = { interval: 60_000, reportsEnds: true, isRepeated: true }
  const alerts = [messageAlert({ receivedAt: NOW - 110_000, delivery })]
  assert.match(messageTextOf(item({ kind: 'reminder', alerts }), CONTEXT).title, /since 14:02 UTC \(4 min\)\.$/)
})

test('a new condition of a cluster that was not reported again says so', () => {
  const alerts = [messageAlert({ source: 'cluster', receivedAt: NOW - 5 * 60_000 })]
  const { body } = messageTextOf(item({ kind: 'worse', names: ['Down'], alerts }), CONTEXT)
  assert.match(body, /Last reported at 14:01 UTC\./)
})

test('the runbook of a firing alert is a link of its own', () => {
  const annotations = { runbook_url: 'https://wiki.example/down' }
  const { links } = messageTextOf(item({ alerts: [messageAlert({ annotations })] }), CONTEXT)
  assert.deepEqual(links[1], { text: 'Runbook: Down', url: 'https://wiki.example/down' })
  const unsafe = messageAlert({ annotations: { runbook_url: 'javascript:alert(1)' } })
  assert.equal(messageTextOf(item({ alerts: [unsafe] }), CONTEXT).links.length, 2)
})

test('a message has only the runbooks of the alerts that it names', () => {
  const alertOf = (name: string) =>
    messageAlert({ id: name, name, annotations: { runbook_url: `https://wiki.example/${name}` } })
  const alerts = [alertOf('Down'), alertOf('DiskFull'), messageAlert({ id: 'n', name: 'NoBook' })]
  const names = ['Down', 'DiskFull', 'NoBook']
  const problem = burning(4, { firing: names, had: names })
  const runbooks = (more: Partial<MessageItem>) =>
    messageTextOf(item({ alerts, ...more }, { problem }), CONTEXT).links.flatMap(({ text }) =>
      text.startsWith('Runbook') ? text : [],
    )
  assert.deepEqual(runbooks({ kind: 'worse', names: ['DiskFull'] }), ['Runbook: DiskFull'])
  assert.deepEqual(runbooks({ kind: 'worse', names: ['NoBook'] }), [])
  assert.deepEqual(runbooks({ kind: 'opened' }), ['Runbook: Down', 'Runbook: DiskFull'])
  assert.deepEqual(runbooks({ kind: 'recovered' }), [])
})

test('the text of a webhook has the links of the other channels', () => {
  const alerts = [messageAlert({ annotations: { runbook_url: 'https://wiki.example/down' } })]
  const words = messageTextOf(item({ alerts }), CONTEXT)
  assert.deepEqual(bodyOf(formatWebhook([item({ alerts })], words, CONTEXT)).data.message.links, words.links)
  const none = messageTextOf(item(), { ...CONTEXT, url: null, acknowledgeUrl: null })
  assert.deepEqual(bodyOf(formatWebhook([item()], none, CONTEXT)).data.message.links, [])
})

test('a message says since when nothing was heard of an alert', () => {
  const receivedAt = NOW - 20 * 60_000
  const bodyWith = (delivery: object) =>
    messageTextOf(
      item({
        alerts: [
          messageAlert({ receivedAt, delivery: { interval: null, reportsEnds: false, isRepeated: true, ...delivery } }),
        ],
      }),
      CONTEXT,
    ).body
  assert.match(bodyWith({}), /Not heard since 13:46 UTC\./)
  assert.match(bodyWith({ interval: 5 * 60_000 }), /Not heard since 13:46 UTC\./)
  assert.match(bodyWith({ interval: 60_000, reportsEnds: true }), /Not repeated since 13:46 UTC\./)
  for (const delivery of [
    { interval: 10 * 60_000 },
    { interval: 7 * 60_000, reportsEnds: true },
    { isRepeated: false },
  ])
    assert.doesNotMatch(bodyWith(delivery), /heard|repeated/)
})

test('a digest says which of its incidents nothing was heard of', () => {
  const unheard = { receivedAt: NOW - 20 * 60_000, delivery: { interval: null, reportsEnds: false, isRepeated: true } }
  const about = (name: string, more: object) => {
    const service = { name, namespace: 'shop', cluster: '' }
    return item({ kind: 'reminder', service, alerts: [messageAlert(more)] }, { id: name })
  }
  const { title, body } = digestTextOf([about('cart', unheard), about('web', {})], CONTEXT)
  assert.match(title, /^Nobody has acknowledged this yet: 2 incidents/)
  assert.match(body, /cart: not heard since 13:46 UTC\./)
  assert.doesNotMatch(body, /web: not heard/)
})

test('an alert that names no service is called by its own name, with what to do', () => {
  const { title, body } = messageTextOf(item({}, { problem: burning(4, { about: 'EtcdDown' }) }), CONTEXT)
  assert.match(title, /^EtcdDown has been critical/)
  assert.match(body, /The alert names no service: add a label/)
})

test('the namespace of alerts that name no service is told if all have the same', () => {
  const about = burning(4, { about: 'EtcdDown' })
  const told = (alertCount: number, ...namespaces: readonly string[]) => {
    const alerts = namespaces.map((namespace) => messageAlert({ labels: { namespace } }))
    return messageTextOf(
      item({ service: { name: 'unattributed', namespace: '', cluster: '' }, alerts }, { problem: about, alertCount }),
      CONTEXT,
    ).body
  }
  assert.match(told(2, 'etcd', 'etcd'), /Incident #\d+, namespace etcd\./)
  assert.doesNotMatch(told(2, 'etcd', 'kube-system'), /namespace (?:etcd|kube-system)/)
  assert.doesNotMatch(told(1, ''), /, namespace/)
  assert.doesNotMatch(told(21, 'etcd'), /, namespace/)
})

test('if another namespace has a service of the same name, the first line names the namespace', () => {
  const service = { name: 'web', namespace: 'shop', cluster: '', isAmbiguous: true }
  const lines = messageTextOf(item({ kind: 'recovered', service }, { problem: healed() }), CONTEXT)
  assert.equal(lines.title, 'shop/web has recovered: it was critical for 4 min, until 14:04 UTC.')
  const two = [item({ service }), item({ service: { ...service, namespace: 'pay' } }, { id: 'j' })]
  assert.match(digestTextOf(two, CONTEXT).title, /: shop\/web and pay\/web\.$/)
  const unplaced = { ...service, namespace: '' }
  assert.match(messageTextOf(item({ service: unplaced }), CONTEXT).title, /^web has been critical/)
})

test('with several clusters, the first line names the cluster, and with one it does not', () => {
  const service = { name: 'web', namespace: '', cluster: 'eu', shownCluster: 'eu' }
  const lines = messageTextOf(item({ kind: 'recovered', service }, { problem: healed() }), CONTEXT)
  assert.equal(lines.title, 'web in eu has recovered: it was critical for 4 min, until 14:04 UTC.')
  assert.equal(lines.subject, '[incmon #7] checkout: CrashLoopBackOff in eu')
  const two = [item({ service }), item({ service: { ...service, cluster: 'us', shownCluster: 'us' } }, { id: 'j' })]
  assert.match(digestTextOf(two, CONTEXT).title, /^2 new incidents \(2 critical\): web in eu and web in us\.$/)
  const one = messageTextOf(item({ service: { ...service, shownCluster: '' } }), CONTEXT)
  assert.equal(one.title, 'web has been critical since 14:02 UTC (4 min).')
  const named = item({ service }, { problem: burning(4, { about: 'EtcdDown' }) })
  assert.match(messageTextOf(named, CONTEXT).title, /^EtcdDown in eu has been critical/)
  const { body } = formatWebhook([item({ service })], lines, CONTEXT)
  assert.deepEqual(JSON.parse(body).data.service, { name: 'web', namespace: '', cluster: 'eu' })
})

test('a missing sender is called by its name', () => {
  const service = { name: 'source/metrics/team-a', namespace: '', cluster: '' }
  const words = (...had: readonly string[]) =>
    messageTextOf(item({ kind: 'sender-silent', service }, { problem: burning(4, { firing: [], had }) }), CONTEXT)
  const { title, body } = words()
  assert.equal(title, 'Alertmanager (team-a) has sent no heartbeat since 14:02 UTC (4 min).')
  const part = 'Alertmanager (team-a) has not sent the heartbeat of cluster eu since 14:02 UTC (4 min).'
  assert.equal(words('the heartbeat of cluster eu').title, part)
  assert.equal(body, 'Problems with your services may go unnoticed until the sender reports again. Incident #7.')
})

test('times use the time zone of the channel', () => {
  const { title } = messageTextOf(item(), { ...CONTEXT, timeZone: 'Europe/Berlin' })
  assert.equal(title, 'checkout has been critical since 15:02 (4 min).')
})

test('in the hour that the clock repeats, times say which hour they are in', () => {
  const now = Date.parse('2026-10-25T00:53:00Z')
  const [since, endedAt] = [now - 5 * 60_000, now - 60_000]
  const problem = {
    ...burning(0),
    since: null,
    periods: [{ name: 'Down', from: since, to: endedAt }],
    endedAt,
    knownAt: now - 60_000,
    firing: [],
  }
  const context = { ...CONTEXT, now, timeZone: 'Europe/Berlin' }
  const { title, body } = messageTextOf(item({ kind: 'recovered', alerts: [] }, { problem }), context)
  assert.equal(title, 'checkout has recovered: it was critical for 4 min, until 02:52 UTC+2.')
  assert.match(body, /It resolves by itself at 02:22 UTC\+1 unless the problem comes back\./)
})

test('a problem that started on another day has a date', () => {
  const words = messageTextOf(item({ kind: 'reminder' }, { problem: burning(2 * 24 * 60) }), CONTEXT)
  assert.equal(
    words.title,
    'Nobody has acknowledged this yet: checkout has been critical since Thu 14:06 UTC (2 days).',
  )
})

for (const [seconds, text] of [
  [0.9, 'just now'],
  [1, '1 s'],
  [24, '24 s'],
  [59, '59 s'],
] as const) {
  test(`a problem that started ${seconds} s ago is ${text} old`, () => {
    const { title } = messageTextOf(item({}, { problem: burning(seconds / 60) }), CONTEXT)
    assert.ok(title.endsWith(`UTC (${text}).`), title)
  })
}

test('200 incidents are one digest with their number and the worst one', () => {
  const items = Array.from({ length: 200 }, (_, index) =>
    item(
      { service: { name: `s${index}`, namespace: '', cluster: '' } },
      {
        ...{ id: `${index}`, title: 'Slow', origin: 'manual', problem: burning(4, { firing: [] }) },
        ...{ severity: index === 150 ? 'critical' : 'error', status: index < 20 ? 'resolved' : 'open' },
      },
    ),
  )
  const { title, body, tone } = digestTextOf(items, CONTEXT)
  assert.equal(
    title,
    '180 new incidents (1 critical, 179 error): “Slow” (s150), “Slow” (s20), “Slow” (s21) and 177 other services.',
  )
  assert.match(
    body,
    /^Worst: “Slow”\. Likely cause: [^.]+\. 20 incidents resolved: “Slow” \(s0\), “Slow” \(s1\), “Slow” \(s2\) and 17 other services\.$/,
  )
  assert.equal(tone, 'critical')
})

function of(name: string, minutes: number | null): MessageItem {
  const service = { name, namespace: 'shop', cluster: '' }
  const problem = minutes === null ? healed() : burning(minutes)
  return item({ kind: minutes === null ? 'recovered' : 'opened', service }, { id: name, problem })
}

test('a digest does not call critical what has recovered', () => {
  const { title, body } = digestTextOf([of('cart', null), of('web', 3), of('till', null)], CONTEXT)
  assert.equal(title, '1 new incident (1 critical): web.')
  assert.match(body, / cart and till have recovered after at most 4 min\.$/)
  const well = digestTextOf([of('cart', null), of('till', null)], CONTEXT)
  assert.deepEqual([well.title, well.tone], ['cart and till have recovered after at most 4 min.', 'resolved'])
})

test('a digest says when what has recovered was last reported if nobody reported its end', () => {
  const guessed = (name: string, isGuess = true): MessageItem => {
    const one = of(name, null)
    return { ...one, incident: { ...one.incident, problem: { ...one.incident.problem, isGuess } } }
  }
  const titleOf = (...items: MessageItem[]) => {
    const { title, body } = digestTextOf(items, CONTEXT)
    return `${title} ${body}`
  }
  const at = titleOf(guessed('cart'), of('till', null)).match(/last reported (at \d\d:\d\d UTC)/)?.[1]
  assert.equal(
    titleOf(guessed('cart'), of('till', null)),
    `till has recovered after 4 min. cart is no longer reported after at least 4 min, last reported ${at}; no end was reported.`,
  )
  assert.equal(
    titleOf(guessed('cart'), guessed('till')).trim(),
    `cart and till are no longer reported after at least 4 min, last reported ${at} or before; no end was reported.`,
  )
  assert.equal(titleOf(guessed('cart', false), of('till', null)).includes('reported'), false)
})

test('a resolved incident whose end nobody reported lasted for at least as long', () => {
  const item = of('cart', null)
  const resolved = (isGuess: boolean): MessageItem => {
    const incident = { ...item.incident, status: 'resolved' as const, problem: { ...item.incident.problem, isGuess } }
    return { ...item, kind: 'resolved', actor: 'Ann', incident }
  }
  assert.match(digestTextOf([resolved(true)], CONTEXT).title, /It was critical for at least 4 min\.$/)
  assert.match(digestTextOf([resolved(false)], CONTEXT).title, /It was critical for 4 min\.$/)
})

test('a digest says what a resolved incident was, and what still fires', () => {
  const resolved = (
    name: string,
    more: Partial<MessageItem>,
    problem: MessageItem['incident']['problem'],
    firing = 0,
  ) => {
    const known = { id: name, problem, status: 'resolved', resolvedAt: NOW, firingAlerts: firing } as const
    return item({ kind: 'resolved', service: { name, namespace: '', cluster: '' }, ...more }, known)
  }
  const [left, quiet] = [resolved('web', { actor: 'ann' }, burning(4), 2), resolved('cart', {}, healed(7))]
  const merged = resolved('till', { actor: 'ann', mergedInto: 'web: Down' }, healed(1))
  const both = digestTextOf([left, quiet], CONTEXT)
  const names = 'web (has been critical for 4 min) and cart (was critical for 7 min)'
  assert.equal(both.title, `2 incidents resolved, but 2 alerts are still firing: ${names}.`)
  assert.equal(both.tone, 'warning')
  const over = digestTextOf([quiet, merged], CONTEXT)
  assert.deepEqual([over.title, over.tone], ['1 incident resolved: cart (was critical for 7 min).', 'resolved'])
  assert.match(over.body, /^till was merged into “web: Down”\./)
})

for (const [kind, problem, ended, quoted] of [
  ['recovered', healed(), true, /^It was: Down: 500 messages wait\. /],
  ['resolved', healed(), true, /^It was: Down: 500 messages wait\. /],
  ['acknowledged', healed(), true, /^It was: Down: 500 messages wait\. /],
  ['recovered', healed(), false, /^Still firing, but not critical: Down: 500 messages wait\. /],
  ['resolved', burning(), false, /^Down: 500 messages wait\. /],
  ['opened', burning(), false, /^Down: 500 messages wait\. /],
] as const) {
  test(`${kind} quotes an alert that ${ended ? 'is over as past' : 'fires as it is'}`, () => {
    const alerts = [messageAlert({ summary: '500 messages wait.', endsAt: ended ? NOW : null })]
    assert.match(messageTextOf(item({ kind, alerts }, { problem, firingAlerts: ended ? 0 : 1 }), CONTEXT).body, quoted)
  })
}

test('a message says what goes on after the alerts of its incident, and that the silence of an old report ended', () => {
  const problem = burning(4, { firing: ['Customers pay twice'], had: ['Down', 'Customers pay twice'] })
  const ended = item({ kind: 'reminder', alerts: [messageAlert({ endsAt: NOW })] }, { problem })
  assert.match(messageTextOf(ended, CONTEXT).body, /^It was: Down\. Going on: Customers pay twice\. /)
  const covered = { since: NOW - 5 * 60_000, until: NOW - 2 * 60_000 }
  const alerts = [messageAlert({ receivedAt: NOW - 5 * 60_000 })]
  const { title } = messageTextOf(item({ alerts }, { problem: burning(2, { covered }) }), CONTEXT)
  assert.match(title, /since 14:01 UTC, last reported at 14:01 UTC; its silence ended at 14:04 UTC\.$/)
})

test('a message about what a user declared in a merged incident does not say that the service is critical', () => {
  const name = '“Customers pay twice” of pay'
  const declared = [{ name, since: NOW - 2 * 60_000, onset: NOW - 2 * 60_000 }]
  const alerts = [messageAlert({ endsAt: NOW })]
  const of = (firing: string[], more = declared) =>
    messageTextOf(
      item({ kind: 'reminder', alerts }, { problem: burning(4, { firing, had: ['Down', name], declared: more }) }),
      CONTEXT,
    )
  const { title, body } = of([name])
  const since = 'merged into checkout, has been critical since 14:04 UTC (2 min)'
  assert.equal(title, `Nobody has acknowledged this yet: ${name}, ${since}.`)
  assert.doesNotMatch(body, /Down|Going on/)
  for (const other of [of(['Down', name]), of(['Down'], []), of([name], [])])
    assert.match(other.title, /: checkout has been critical since 14:02 UTC \(4 min\)\.$/)
})

test('what a user declared as a warning has been one since then, also if it was merged into a critical incident', () => {
  const name = '“Slow” of pay'
  const declared = [{ name, since: NOW - 2 * 60_000, onset: NOW - 2 * 60_000, severity: 'warning' }] as const
  const periods = [
    { name: 'Down', from: NOW - 4 * 60_000, to: NOW - 60_000 },
    { name, from: NOW - 2 * 60_000, to: null, severity: 'warning' as const },
  ]
  const problem = burning(4, { firing: [name], had: ['Down', name], declared, hadDeclared: [name], periods })
  const { title } = messageTextOf(item({ kind: 'reminder' }, { problem }), CONTEXT)
  assert.match(title, /merged into checkout, has had a warning since 14:04 UTC \(2 min\)\.$/)
})

test("a message about a declared incident has the user's words and name", () => {
  const declared = { origin: 'manual', title: 'Customers pay twice', alertCount: 0 } as const
  const since = '“Customers pay twice” (checkout) has been critical since 14:02 UTC (4 min).'
  for (const [kind, actor, start] of [
    ['opened', 'Dana', 'Dana declared an incident'],
    ['reminder', null, 'Nobody has acknowledged this yet'],
    ['acknowledged', 'Ann', 'Ann is working on it'],
  ] as const) {
    const { title, body } = messageTextOf(item({ kind, actor }, declared), CONTEXT)
    assert.equal(title, `${start}: ${since}`)
    assert.doesNotMatch(body, /Customers/)
  }
  const over = item({ kind: 'resolved', actor: 'Dana' }, { ...declared, problem: healed(), status: 'resolved' })
  const { title, body } = messageTextOf(over, CONTEXT)
  assert.equal(title, 'checkout: Dana resolved the incident. It was critical for 4 min.')
  assert.match(body, /^It was: Customers pay twice\. /)
})

const member = (name: string, problem: 'on' | 'off', status: 'open' | 'investigating' = 'open') => {
  const service = { name, namespace: 'shop', cluster: '' }
  const times = { startedAt: NOW, acknowledgedBy: null }
  return {
    ...times,
    id: name,
    number: 1,
    title: name,
    severity: 'critical',
    status,
    problem,
    isFiring: problem === 'on',
    service,
  } as const
}

test('the recovery of one service of a group names those that are still critical', () => {
  const incidents = [member('postgres', 'on'), member('cart', 'off'), member('web', 'on')] as const
  const group = { leader: incidents[0], cause: 'postgres', incidents }
  const { title, body } = messageTextOf({ ...of('cart', null), group }, CONTEXT)
  assert.match(title, /^cart has recovered/)
  assert.match(body, /^Still critical: postgres \(the probable cause\) and web\. /)
  const over = { ...group, incidents: incidents.map((one) => ({ ...one, isFiring: false })) }
  assert.doesNotMatch(messageTextOf({ ...of('cart', null), group: over }, CONTEXT).body, /Still critical/)
})

test('a reminder stands for a whole group only if nobody works on any of its incidents', () => {
  const titleOf = (status: 'open' | 'investigating') => {
    const incidents = [member('postgres', 'on'), member('cart', 'on'), member('web', 'on', status)] as const
    const group = { leader: incidents[0], cause: 'postgres', incidents }
    return messageTextOf({ ...of('postgres', 4), kind: 'reminder', group }, CONTEXT).title
  }
  assert.equal(
    titleOf('open'),
    'Nobody has acknowledged this yet: 3 services are critical, probably because of postgres.',
  )
  assert.equal(
    titleOf('investigating'),
    'Nobody has acknowledged this yet: postgres has been critical since 14:02 UTC (4 min).',
  )
})

test('a service whose last alert ended seconds ago is not called critical', () => {
  const settling = burning(4, { since: null, endedAt: NOW - 5_000, knownAt: NOW - 5_000 })
  const web = { ...of('web', 4), kind: 'reminder' as const }
  const { title, tone } = digestTextOf(
    [{ ...web, incident: { ...web.incident, problem: settling } }, of('cart', null)],
    {
      ...CONTEXT,
    },
  )
  assert.deepEqual([title, tone], ['web: the last alert has just ended.', 'warning'])
  const incidents = [
    member('postgres', 'on'),
    { ...member('cart', 'on'), isFiring: false },
    member('web', 'on'),
  ] as const
  const group = { leader: incidents[0], cause: 'postgres', incidents }
  assert.match(
    messageTextOf({ ...of('till', null), group }, CONTEXT).body,
    /critical: postgres \(the probable cause\) and web\. /,
  )
})

test('a digest names what is new first, with links to acknowledge it', () => {
  const known = ['a', 'b', 'c'].map((name) => ({ ...of(name, 60), kind: 'reminder' as const }))
  const acknowledgeUrls = { a: 'https://x.example/a', b: 'https://x.example/b', web: 'https://x.example/web' }
  const { title, body, links } = digestTextOf([...known, of('web', 1)], { ...CONTEXT, acknowledgeUrls })
  assert.equal(title, '1 new incident (1 critical): web.')
  assert.match(body, / Nobody has acknowledged this yet: 3 incidents \(3 critical\): a, b and c\./)
  const texts = links.map(({ text, url }) => [text.replace(/#\d+ /, ''), url.slice(-4)])
  assert.deepEqual(texts.slice(0, 2), [
    ['Acknowledge web', '/web'],
    ['Acknowledge a', 'le/a'],
  ])
})

for (const [what, more, text] of [
  ['a warning that still fires', { firingAlerts: 1 }, 'warning'],
  ['nothing that fires', { firingAlerts: 0 }, 'resolved'],
  ['an error of a milder incident', { firingAlerts: 2, severity: 'warning' }, 'warning'],
] as const) {
  test(`a recovery with ${what} is shown as ${text}, never in red`, () => {
    const recovered = item({ kind: 'recovered' }, { problem: healed(), ...more })
    assert.equal(messageTextOf(recovered, CONTEXT).tone, text)
  })
}

for (const [minutes, status, text] of [
  [10, 'monitoring', /It resolves by itself at 14:24 UTC/],
  [31, 'monitoring', /^(?!.*resolves by itself)/],
  [5, 'resolved', /^(?!.*resolves by itself)/],
] as const) {
  test(`a recovery sent ${minutes} min later, as ${status}, promises nothing that is over`, () => {
    const now = healed().knownAt ?? NOW
    const late = { ...CONTEXT, now: now + minutes * 60_000 }
    const recovered = item({ kind: 'recovered' }, { problem: healed(), status })
    assert.match(messageTextOf(recovered, late).body.replace('14:34', '14:24'), text)
  })
}

test('a resolution does not end the critical time of what still fires', () => {
  const left = burning(17, { isOver: true, isSuppressed: true })
  const about = { problem: left, status: 'resolved', resolvedAt: NOW - 16 * 60_000, firingAlerts: 1 } as const
  const { title } = messageTextOf(item({ kind: 'resolved', actor: 'anna' }, about), CONTEXT)
  assert.match(title, /but 1 alert is still firing\. It has been critical for 17 min\.$/)
})

for (const [alertCount, firingAlerts, text] of [
  [2, 1, /1 of 2 alerts is firing\./],
  [5, 3, /3 of 5 alerts are firing\./],
  [2, 2, / 2 alerts\./],
] as const) {
  test(`${firingAlerts} of ${alertCount} alerts that fire are counted`, () => {
    assert.match(messageTextOf(item({}, { alertCount, firingAlerts }), CONTEXT).body, text)
  })
}

for (const [minutes, interval, text] of [
  [1, 60_000, /\(30 min\)\.$/],
  [2, 60_000, /, last reported at 14:04 UTC\.$/],
  [10, 20 * 60_000, /\(30 min\)\.$/],
  [4, null, /\(30 min\)\.$/],
  [5, null, /, last reported at 14:01 UTC\.$/],
] as const) {
  test(`an alert whose sender reports ends and repeats it was last received ${minutes} min ago`, () => {
    const delivery = { interval, reportsEnds: true, isRepeated: true }
    const alerts = [messageAlert({ receivedAt: NOW - minutes * 60_000, delivery })]
    const { title } = messageTextOf(item({ kind: 'reminder', alerts }, { problem: burning(30) }), CONTEXT)
    assert.match(title, text)
  })
}

test('a recovery does not present a warning that still fires as what is over', () => {
  const alerts = [messageAlert({ severity: 'warning', summary: 'p99 is 600 ms' })]
  const { body } = messageTextOf(item({ kind: 'recovered', alerts }, { problem: healed(), firingAlerts: 1 }), CONTEXT)
  assert.match(body, /^Still firing, but not critical: Down: p99 is 600 ms\. It resolves/)
})

for (const [minutes, isRepeated, text] of [
  [4, true, /^Still firing, but not critical: Down: p99 is 600 ms\. Last reported at 14:02 UTC\. It resolves/],
  [0.5, true, /600 ms\. It resolves/],
  [4, false, /600 ms\. It resolves/],
] as const) {
  test(`what still fires after a recovery, ${isRepeated ? '' : 'not '}repeated, was reported ${minutes} min ago`, () => {
    const delivery = { interval: 20 * 60_000, reportsEnds: true, isRepeated }
    const receivedAt = NOW - minutes * 60_000
    const alerts = [messageAlert({ severity: 'warning', summary: 'p99 is 600 ms', receivedAt, delivery })]
    const { body } = messageTextOf(item({ kind: 'recovered', alerts }, { problem: healed(), firingAlerts: 1 }), CONTEXT)
    assert.match(body, text)
  })
}

test('conditions of one name in two services are both named', () => {
  const alerts = [
    messageAlert({ summary: 'cart is down' }),
    messageAlert({ id: 'b', condition: 'Down of web', summary: 'web is down' }),
  ]
  const names = ['Down', 'Down of web']
  const { body } = messageTextOf(item({ alerts }, { problem: burning(4, { firing: names, had: names }) }), CONTEXT)
  assert.match(body, /^Down: cart is down; Down of web: web is down\. Likely/)
})

test('a problem that returns names what is critical now, and not what was', () => {
  const alerts = [messageAlert({ name: 'NoOrders' }), messageAlert({ id: 'b', severity: 'warning' })]
  const problem = burning(1, { firing: ['NoOrders'], had: ['Down', 'NoOrders'] })
  assert.match(messageTextOf(item({ kind: 'again', alerts }, { problem }), CONTEXT).body, /^NoOrders\. /)
})

test('a merge is not called a resolution', () => {
  const merged = item({ kind: 'resolved', actor: 'anna', mergedInto: 'web: Down' }, { status: 'resolved' })
  assert.equal(messageTextOf(merged, CONTEXT).title, 'checkout: anna merged the incident into “web: Down”.')
  const { title } = messageTextOf({ ...merged, names: ['Down', 'Slow of checkout'] }, CONTEXT)
  assert.match(title, / into “web: Down”, where Down and Slow of checkout go on\.$/)
})

test('several updates of one incident give one message about the newest', () => {
  const { title } = digestTextOf([item(), item({ kind: 'acknowledged', actor: 'anna' })], CONTEXT)
  assert.match(title, /^anna is working on it/)
})

const MANY = Array.from({ length: 6 }, (_, index) => `Alert${index}`)

test('a digest of one incident names the conditions of each notification', () => {
  const problem = burning(4, { firing: ['Down', 'DiskFull', 'Slow'], had: ['Down', 'DiskFull', 'Slow'] })
  const alerts = ['Down', 'DiskFull', 'Slow'].map((name) => messageAlert({ id: name, name }))
  const of = (kind: 'opened' | 'worse', ...names: string[]) => item({ kind, names, alerts }, { problem })
  const worse = digestTextOf([of('worse', 'DiskFull'), of('worse', 'Slow')], CONTEXT)
  assert.equal(worse.title, 'checkout got worse: DiskFull and Slow are firing, too.')
  const opened = digestTextOf([of('opened'), of('worse', 'Slow')], CONTEXT)
  assert.equal(opened.title, 'checkout has been critical since 14:02 UTC (4 min).')
  assert.match(opened.body, /^Down; DiskFull; Slow\. /)
})

test('a digest of several incidents names each condition of an incident that has several', () => {
  const problem = burning(4, { firing: ['DiskFull', 'Down'], had: ['DiskFull', 'Down'] })
  const { body } = digestTextOf([item({ kind: 'worse' }, { problem }), of('web', 3)], CONTEXT)
  assert.match(body, /^Worst: web: Down\. Likely cause: [^.]+\. checkout: DiskFull and Down\. /)
})

for (const [what, more, expected] of [
  ['what fires, and not what the title names', { title: 'web: Gone' }, /^Worst: web: Down\. /],
  [
    "a user's words",
    { title: 'Customers pay twice', problem: burning(9, { firing: [] }) },
    /^Worst: “Customers pay twice”\. /,
  ],
  [
    'an alert that names no service once',
    { title: 'Down: 500 messages wait', problem: burning(9, { about: 'Down' }) },
    /^Worst: “Down: 500 messages wait”\. /,
  ],
] as const) {
  test(`a digest says about the worst incident ${what}`, () => {
    const worst = item({ service: { name: 'web', namespace: '', cluster: '' } }, { id: 'web', ...more })
    assert.match(digestTextOf([worst, of('cart', null)], CONTEXT).body, expected)
  })
}

test('what got worse fires, too, only if something else still does', () => {
  const titleOf = (...firing: readonly string[]) =>
    messageTextOf(item({ kind: 'worse', names: ['Down'] }, { problem: burning(4, { firing }) }), CONTEXT).title
  assert.equal(titleOf('DiskFull', 'Down'), 'checkout got worse: Down is firing, too.')
  assert.equal(titleOf('Down'), 'checkout got worse: Down is firing.')
})

test('the digest of a flapping service that is well is not urgent', () => {
  const toneOf = (problem: MessageItem['incident']['problem']) =>
    messageTextOf(item({ kind: 'flapping', isDigest: true }, { problem }), CONTEXT).tone
  assert.deepEqual([toneOf(healed()), toneOf(burning())], ['warning', 'critical'])
})

test('a message names the conditions for whose summaries it has no room', () => {
  const alerts = MANY.map((name) => messageAlert({ id: name, name }))
  const textOf = (more: Partial<MessageItem>) =>
    messageTextOf(item({ alerts, ...more }, { problem: burning(4, { firing: MANY, had: MANY }) }), CONTEXT)
  assert.match(textOf({}).body, /^Alert0; Alert1; Alert2\. Also firing: Alert3, Alert4 and Alert5\. /)
  assert.match(textOf({ kind: 'worse', names: MANY.slice(2) }).body, /Also firing: Alert5\. /)
  assert.match(textOf({ kind: 'worse', names: MANY }).title, /: Alert0, Alert1, Alert2 and 3 more are firing\.$/)
})

for (const [what, incident, expected] of [
  ['an automatic incident that a user rated as a warning', { severity: 'warning' }, 'warning'],
  ['one of an incident that a user declared as a warning', { severity: 'warning', origin: 'manual' }, 'critical'],
  [
    'what a user declared, if no critical alert fires',
    { severity: 'warning', origin: 'manual', problem: burning(4, { firing: [] }) },
    'warning',
  ],
] as const) {
  test(`messages call ${what}, ${expected}`, () => {
    for (const kind of ['opened', 'again', 'worse', 'reminder', 'escalation', 'flapping'] as const) {
      const one = item({ kind, names: ['Down'], isDigest: kind === 'flapping' }, incident)
      const { title, tone } = messageTextOf(one, CONTEXT)
      assert.equal(tone, expected)
      if (kind !== 'worse') assert.match(title, expected === 'critical' ? /critical/ : /warning/)
    }
  })
}

test('the digest of a flapping incident says whether it is critical now', () => {
  const returns = [NOW - 50 * 60_000, NOW - 30 * 60_000, NOW - 10 * 60_000]
  const items = (['again', 'recovered'] as const).map((kind) =>
    item({ kind, isDigest: true }, { problem: healed(4, { returns }) }),
  )
  const { title } = digestTextOf(items, CONTEXT)
  assert.equal(title, 'checkout is still flapping: it came back 3 times within the last hour. It is well now.')
})

test('a title of 10,000 characters with line breaks becomes one short line', () => {
  const { body } = messageTextOf(item({}, { title: `checkout: a\nb${'x'.repeat(10_000)}` }), CONTEXT)
  assert.ok(body.length < 250)
  assert.doesNotMatch(body, /\n/)
})

const WORDS = messageTextOf(item(), CONTEXT)
const HOSTILE = { ...WORDS, title: '<!channel> @everyone *a* <b>', body: '[x](javascript:alert(1)) & more' }
const bodyOf = ({ body }: { body: string }) => JSON.parse(body)

test('Slack, Mattermost and Rocket.Chat get text with an attachment and no mentions', () => {
  const { text, attachments } = bodyOf(formatSlack(HOSTILE))
  assert.equal(text, '🔴 &lt;!channel&gt; @\u200beveryone *a* &lt;b&gt;')
  assert.deepEqual([attachments.length, attachments[0].color], [1, '#d32f2f'])
  assert.ok(attachments[0].text.endsWith(`· <${CONTEXT.url}|Open incident #7>`))
})

test('each text of a Slack message has at most 3,000 characters', () => {
  const { text, attachments } = bodyOf(formatSlack({ ...WORDS, title: 'x'.repeat(1e5), body: '&'.repeat(1e5) }))
  for (const part of [text, attachments[0].text, attachments[0].fallback]) assert.ok(part.length <= 3_000)
})

test('a Discord message mentions nobody', () => {
  const { embeds, allowed_mentions: mentions } = bodyOf(formatDiscord({ ...HOSTILE, title: 'x'.repeat(400) }))
  assert.deepEqual([mentions, embeds[0].title.length, embeds[0].color], [{ parse: [] }, 256, 0xd32f2f])
})

test('Teams gets an Adaptive Card with the text escaped and a link', () => {
  const card = bodyOf(formatTeams(HOSTILE)).attachments[0].content
  assert.deepEqual([card.type, card.version], ['AdaptiveCard', '1.4'])
  const actions = card.actions.map(({ title, url }: { title: string; url: string }) => [title, url])
  assert.deepEqual(actions, [
    ['Acknowledge', CONTEXT.acknowledgeUrl],
    ['Open incident #7', CONTEXT.url],
  ])
  assert.equal(card.body[1].text, '\\[x\\](javascript:alert(1)) & more')
})

test('Telegram gets escaped HTML and replies to the first message', () => {
  const sent = bodyOf(formatTelegram(HOSTILE, '-100', '7'))
  assert.equal(sent.text.split('\n')[0], '🔴 <b>&lt;!channel&gt; @\u200beveryone *a* &lt;b&gt;</b>')
  assert.deepEqual(sent.reply_parameters, { message_id: 7, allow_sending_without_reply: true })
  assert.equal('reply_parameters' in bodyOf(formatTelegram(WORDS, '-100', null)), false)
})

test('ntfy gets its JSON form with a priority', () => {
  const { topic, priority, tags, click } = bodyOf(formatNtfy(WORDS, 'alerts'))
  assert.deepEqual([topic, priority, tags, click], ['alerts', 5, ['red_circle'], CONTEXT.url])
})

test('a message in ntfy can replace an earlier one about the incident', () => {
  assert.equal(bodyOf(formatNtfy(WORDS, 'alerts', 'i')).sequence_id, 'i')
  assert.equal('sequence_id' in bodyOf(formatNtfy(WORDS, 'alerts')), false)
})

test('in ntfy, an acknowledgement and a resolution do not sound like an outage', () => {
  const sent = (one: MessageItem) => bodyOf(formatNtfy(messageTextOf(one, CONTEXT), 'alerts'))
  const [seen, early] = [item({ kind: 'acknowledged' }), item({ kind: 'resolved' }, { firingAlerts: 1 })].map(sent)
  assert.deepEqual([seen.priority, seen.tags, early.priority, early.tags], [2, ['eyes'], 3, ['yellow_circle']])
  assert.equal(sent(item({ kind: 'reminder' })).priority, 5)
})

test('each kind of channel gets the acknowledge link, if there is one', () => {
  const link = CONTEXT.acknowledgeUrl ?? ''
  const formatsOf = (context: MessageContext) => {
    const words = messageTextOf(item(), context)
    const mail = formatMail(words, { id: 'm', thread: 'i', isFirst: true, host: 'h' })
    return [
      ...[formatSlack(words), formatDiscord(words), formatTeams(words), formatTelegram(words, '1', null)],
      ...[formatNtfy(words, 'a'), formatWebhook([item()], words, context), { body: mail.text }, { body: mail.html }],
    ]
  }
  for (const { body } of formatsOf(CONTEXT)) assert.ok(body.replaceAll('&amp;', '&').includes(link), body)
  for (const { body } of formatsOf({ ...CONTEXT, acknowledgeUrl: null })) assert.doesNotMatch(body, /Acknowledge\b/)
})

test('a long text does not truncate the link', () => {
  const { attachments } = bodyOf(formatSlack({ ...WORDS, body: 'x'.repeat(1e5) }))
  assert.match(attachments[0].text, /…\n<https:\S+\|Acknowledge> · <https:\S+\|Open incident #7>$/)
})

test('a webhook gets the type, the incident and its suspects', () => {
  const { type, timestamp, data } = bodyOf(formatWebhook([item()], WORDS, CONTEXT))
  assert.deepEqual([type, timestamp, data.incident.id], ['incident.opened', '2026-03-14T14:06:00.000Z', 'i'])
  assert.deepEqual([data.service.name, data.suspects[0].ref, data.url], ['checkout', 'shop/checkout#4711', CONTEXT.url])
})

test('a digest for a webhook lists each notification', () => {
  const items = [item(), item({ kind: 'resolved' }, { id: 'j' })]
  const { type, data } = bodyOf(formatWebhook(items, digestTextOf(items, CONTEXT), CONTEXT))
  assert.equal(type, 'incidents.digest')
  assert.deepEqual(
    data.notifications.map(({ type, incident }: { type: string; incident: { id: string } }) => [type, incident.id]),
    [
      ['opened', 'i'],
      ['resolved', 'j'],
    ],
  )
})

test("a sender's text is not interpreted as HTML in an email", () => {
  const { text, html } = formatMail(HOSTILE, { id: 'm', thread: 'i', isFirst: true, host: 'example.com' })
  assert.match(text, /^<!channel> @everyone \*a\* <b>$/m)
  assert.match(html, /border-left:4px solid #d32f2f.*🔴 &lt;!channel&gt; @everyone \*a\* &lt;b&gt;/)
  assert.match(html, /href="https:\/\/incmon\.example\.com\/acknowledge\?a=1&amp;b=2">Acknowledge</)
})

test('the link of a resolved incident leads to its postmortem', () => {
  const over = item({ kind: 'resolved' }, { hasPostmortem: true, resolvedAt: NOW, status: 'resolved' })
  const { body, links } = messageTextOf(over, { ...CONTEXT, acknowledgeUrl: null })
  assert.match(body, /The postmortem is ready\. Incident #7/)
  assert.deepEqual(links, [{ text: 'Read the postmortem', url: `${CONTEXT.url}/postmortem` }])
})

test('no postmortem of an incident that was merged or that goes on is announced', () => {
  const over = { hasPostmortem: true, resolvedAt: NOW, status: 'resolved' } as const
  for (const one of [
    item({ kind: 'resolved', mergedInto: 'cart: Down' }, over),
    item({ kind: 'resolved' }, { ...over, hasPostmortem: false }),
    item({ kind: 'recovered' }, { hasPostmortem: true }),
  ]) {
    const { body, links } = messageTextOf(one, { ...CONTEXT, acknowledgeUrl: null })
    assert.doesNotMatch(`${body} ${JSON.stringify(links)}`, /postmortem/)
  }
})

test('a server that does not know its own URL sends no links', () => {
  const words = messageTextOf(item(), { ...CONTEXT, url: null, acknowledgeUrl: null })
  assert.deepEqual(words.links, [])
  assert.doesNotMatch(formatTelegram(words, '1', null).body + formatNtfy(words, 'a').body, /href|click|actions/)
})

test('emails about one incident form a thread', () => {
  const thread = { id: 'm', thread: 'i', host: 'example.com' }
  const first = formatMail(WORDS, { ...thread, isFirst: true })
  const later = formatMail(WORDS, { ...thread, isFirst: false })
  assert.deepEqual(
    [first.subject, first.messageId, first.inReplyTo],
    ['[incmon #7] checkout: CrashLoopBackOff', '<incident.i@example.com>', null],
  )
  assert.deepEqual(
    [later.subject, later.messageId, later.inReplyTo],
    ['Re: [incmon #7] checkout: CrashLoopBackOff', '<m@example.com>', '<incident.i@example.com>'],
  )
})

for (const [kind, url, shown] of [
  ['slack', 'https://hooks.slack.com/services/T0/B0/secret', 'https://hooks.slack.com/services/***'],
  ['slack', 'https://hooks.slack.com/T000/B000/secret', 'https://hooks.slack.com/***'],
  ['slack', 'https://secret', 'https://secret/***'],
  ['discord', 'https://discord.com/api/webhooks/1/secret', 'https://discord.com/api/***'],
  ['teams', 'https://prod.azure.com/workflows/abc?sig=secret', 'https://prod.azure.com/workflows/***?***'],
  [
    'telegram',
    'https://api.telegram.org/bot1:secret/sendMessage?chat_id=-1',
    'https://api.telegram.org/bot***/sendMessage?chat_id=-1',
  ],
  ['webhook', 'https://a:secret@example.com/hook?key=secret', 'https://***@example.com/***?***'],
  ['ntfy', 'https://:tk_secret@ntfy.sh/alerts', 'https://***@ntfy.sh/***'],
  ['mail', 'team@example.com', 'team@example.com'],
] as const) {
  test(`${kind}: the URL is accepted and is shown without its secrets`, () => {
    assert.equal(targetFault(kind, url), null)
    assert.equal(maskTarget(kind, url), shown)
  })
}

for (const [kind, url] of [
  ['slack', 'hooks.slack.com/services/x'],
  ['webhook', 'file:///etc/passwd'],
  ['webhook', 'gopher://example.com/'],
  ['webhook', `https://example.com/${'x'.repeat(2_000)}`],
  ['telegram', 'https://api.telegram.org/bot1:x/sendMessage'],
  ['ntfy', 'https://ntfy.sh/'],
  ['ntfy', 'https://ntfy.sh/%E0%A4%A'],
  ['webhook', 'http://us%zz:pw@example.com/'],
  ['mail', 'nobody'],
  ['mail', 'a@example.com\r\nBcc: b@example.com'],
] as const) {
  test(`${kind}: ${url.slice(0, 40).replaceAll('\r\n', ' ')} is rejected`, () =>
    assert.notEqual(targetFault(kind, url), null))
}

test('an error message contains no password and no query, however a receiver repeats them', () => {
  const header = Buffer.from('anna:s3cr%t').toString('base64')
  const text = withoutSecrets(`Basic ${header}; s3cr%t; s3cr%25t; key=ab1; ab1`, [
    'https://anna:s3cr%25t@example.com/hook?key=ab1',
  ])
  assert.equal(text, 'Basic ***; ***; ***; ***; ***')
})

test('an error message contains no part of the URL', () => {
  const text = withoutSecrets('no service at /services/T0/B0/abcdefghij\n', [
    'https://hooks.slack.com/services/T0/B0/abcdefghij',
  ])
  assert.doesNotMatch(text, /abcdefghij|\n/)
})

test('too many addresses are not called a wrong address', () => {
  const list = (count: number) => Array.from({ length: count }, (_, index) => `a${index}@example.com`).join(',')
  assert.equal(targetFault('mail', list(20)), null)
  assert.equal(targetFault('mail', list(21)), '21 addresses; send at most 20, or the address of a mailing list')
  assert.match(targetFault('mail', `${list(21)},nobody`) ?? '', /^not an email address/)
})

test('a resolution says how long the problem is known to have gone on if nothing that fires was reported since', () => {
  const periods = [...burning(17).periods, { name: 'Slow', from: NOW - 9 * 60_000, to: NOW - 5 * 60_000 }]
  const left = burning(17, { isOver: true, isSuppressed: true, periods })
  const about = { problem: left, status: 'resolved', resolvedAt: NOW, firingAlerts: 1 } as const
  const endOf = (alerts: readonly MessageAlert[]) =>
    messageTextOf(item({ kind: 'resolved', actor: 'anna', alerts }, about), CONTEXT).title.split('firing. ')[1]
  const event = messageAlert({ source: 'cluster', receivedAt: NOW - 9 * 60_000 })
  assert.equal(endOf([event]), 'It was critical for at least 12 min, last reported at 14:01 UTC.')
  const later = { ...event, lastSeenAt: NOW - 2 * 60_000 }
  assert.equal(endOf([later]), 'It was critical for at least 15 min, last reported at 14:04 UTC.')
  // Alertmanager reports ends, and a repeat within the last minute shows that the problem goes on.
  assert.equal(endOf([event, messageAlert()]), 'It has been critical for 17 min.')
  assert.equal(endOf([{ ...event, receivedAt: NOW }]), 'It has been critical for 17 min.')
})
