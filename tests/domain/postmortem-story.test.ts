/** What a postmortem says about fixes, authors, and incidents resolved too early. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timelineOf } from '../../src/domain/incident/timeline.ts'
import type { EntryFacts } from '../../src/domain/incident/timeline-entries.ts'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { generate } from '../../src/domain/postmortem/postmortem.ts'
import { factsOf } from './postmortem-goldens.ts'

const IMAGE = factsOf('bad-image-tag')
const MINUTE = 60_000

test('the change after which everything ended is the probable fix and not a trigger', () => {
  const fix = IMAGE.correlations[0]!
  const change = { kind: 'pipeline' as const, ref: 'shop/cart-api#4712' }
  const late = { ...IMAGE, correlations: [...IMAGE.correlations, { ...fix, uuid: 'late', change }] }
  const { contributing, resolution, summary } = generate(late)
  assert.ok(!contributing.changes.some(({ ref }) => ref === change.ref))
  const text = /^Probable fix: pipeline shop\/cart-api#4712 on main .* The last alert ended 2 min 12 s after the fix\.$/
  assert.match(resolution.sentences[0]?.text ?? '', text)
  assert.match(summary.sentences.at(-1)?.text ?? '', /^The probable fix is pipeline shop\/cart-api#4712 on main /)
})

test('a change that caused a new condition is not a fix', () => {
  const ref = 'shop/cart-api#4712'
  const second = {
    ...IMAGE.alerts[1]!,
    uuid: 'second',
    name: 'NewTrouble',
    startsAt: IMAGE.changes[2]!.endsAt + MINUTE,
  }
  const over = { ...second, endsAt: second.startsAt + MINUTE, lastSeenAt: second.startsAt }
  const link = { ...IMAGE.correlations[0]!, uuid: 'x', alertId: 'second', change: { kind: 'pipeline' as const, ref } }
  const document = generate({ ...IMAGE, alerts: [...IMAGE.alerts, over], correlations: [...IMAGE.correlations, link] })
  assert.ok(document.contributing.changes.some((change) => change.ref === ref))
  assert.doesNotMatch(JSON.stringify(document.resolution), /Probable fix: pipeline/)
})

for (const [what, more, verdict, isTold] of [
  ['a rollout to an earlier pod template during the incident', { isRollback: true }, null, false],
  ['such a rollout that a user confirmed', { isRollback: true }, 'confirmed', true],
  ['a rollout to a new pod template during the incident', { isRollback: false }, null, true],
  ['a rollout to an earlier pod template before the incident', { isRollback: true, isEarly: true }, null, true],
] as const) {
  test(`${what} ${isTold ? 'can be' : 'is not'} a contributing factor`, () => {
    const second = {
      ...IMAGE.alerts[1]!,
      uuid: 'second',
      name: 'NewTrouble',
      startsAt: IMAGE.changes[2]!.endsAt + MINUTE,
    }
    const over = { ...second, endsAt: second.startsAt + MINUTE, lastSeenAt: second.startsAt }
    const ref = 'shop/cart@5f6c7d8b94'
    const { isRollback, isEarly = false } = { isEarly: false, ...more }
    const startsAt = isEarly ? IMAGE.incident.startedAt - MINUTE : second.startsAt - MINUTE
    const change = {
      ...IMAGE.changes[0]!,
      kind: 'rollout' as const,
      ref,
      eventId: 'r',
      isRollback,
      startsAt,
      endsAt: startsAt,
    }
    const link = {
      ...IMAGE.correlations[0]!,
      uuid: 'x',
      alertId: 'second',
      change: { kind: 'rollout' as const, ref },
      verdict,
    }
    const facts = { ...IMAGE, alerts: [...IMAGE.alerts, over], changes: [...IMAGE.changes, change] }
    const { contributing } = generate({ ...facts, correlations: [...IMAGE.correlations, link] })
    assert.equal(
      contributing.changes.some((one) => one.ref === ref),
      isTold,
    )
  })
}

test('if the alerts have not ended, there is no probable fix, and the document does not claim an end', () => {
  const alerts = IMAGE.alerts.map((alert) => ({ ...alert, endsAt: null, resolution: null }))
  const { startedAt, resolvedAt } = IMAGE.incident
  const critical = { ms: (resolvedAt ?? 0) - startedAt, until: null }
  const document = generate({ ...IMAGE, alerts, incident: { ...IMAGE.incident, critical } })
  const text = JSON.stringify([document.summary, document.impact, document.resolution])
  assert.doesNotMatch(text, /Probable fix| to \d\d:\d\d:\d\d UTC \(/)
  assert.match(
    text,
    /had been critical since 2026-03-14 02:11:09 UTC when the incident was resolved at .* UTC\..*At that time, ImagePullBackOff and KubeDeploymentRolloutStuck were still firing\./,
  )
  assert.match(
    text,
    /oncall-anna resolved the incident at .* UTC, while ImagePullBackOff and KubeDeploymentRolloutStuck were still firing\./,
  )
  assert.match(
    document.metrics.ttr.definition,
    /until the incident was resolved, while ImagePullBackOff and KubeDeploymentRolloutStuck were still firing$/,
  )
  assert.deepEqual([document.impact.to, document.impact.seconds], [null, null])
})

test('an alert older than the incident is described as older, and the time to detect does not start with it', () => {
  const [first, ...rest] = IMAGE.alerts
  const startsAt = IMAGE.incident.startedAt - 2 * 24 * 60 * MINUTE
  const { detection, metrics } = generate({ ...IMAGE, alerts: [{ ...first!, startsAt }, ...rest] })
  assert.match(detection.sentences[1]?.text ?? '', /^The critical state began at /)
  assert.equal(metrics.ttd.seconds, generate(IMAGE).metrics.ttd.seconds)
  assert.doesNotMatch(JSON.stringify(generate(IMAGE).detection), /is older/)
})

test('the commit, its author and the failed job of a pipeline are named', () => {
  const [row] = timelineOf(IMAGE).filter(({ kind }) => kind === 'pipeline')
  assert.match(
    row?.text ?? '',
    /began; commit “Cache the price list” by Robin Ashe; it failed \(deploy-prod: script_failure\)$/,
  )
})

test('“By” names the sender or the person, and incmon only for its own actions', () => {
  const text = markdown(generate(IMAGE))
  const by = (what: string) =>
    text
      .split('\n')
      .find((line) => line.includes(what))
      ?.split(' | ')
      .at(-2)
  assert.deepEqual(
    [
      'deploy of pipeline shop',
      'ImagePullBackOff: Failed',
      'KubeDeploymentRolloutStuck:',
      'opened:',
      'acknowledged',
    ].map((what) => by(`| ${what}`)),
    ['GitLab', 'Kubernetes', 'Alertmanager', 'incmon', 'oncall-anna'],
  )
})

test('lags equal the differences between the times in the timeline', () => {
  const { contributing, timeline } = generate(IMAGE)
  const [best] = contributing.changes
  const at = (text: string) => Date.parse(timeline.find((row) => row.text.startsWith(text))?.at ?? '')
  assert.equal(best?.lagSeconds, (at('ImagePullBackOff') - at('deploy of pipeline shop/cart-api#4711')) / 1000)
})

test('the alert of a failed pipeline is not the first symptom if another alert exists', () => {
  const [first] = IMAGE.alerts
  const startsAt = first!.startsAt - MINUTE
  const failed = { ...first!, uuid: 'ci', source: 'ci' as const, name: 'PipelineFailed', startsAt, endsAt: null }
  const before = generate(IMAGE)
  const { summary, detection, metrics } = generate({ ...IMAGE, alerts: [failed, ...IMAGE.alerts] })
  assert.deepEqual([summary, detection, metrics], [before.summary, before.detection, before.metrics])
  const alone = generate({ ...IMAGE, alerts: [failed] })
  assert.match(JSON.stringify(alone.summary), /The first symptom was PipelineFailed/)
})

test('the time since the start of the trigger is measured to the alert named in the summary', () => {
  const [first] = IMAGE.alerts
  const earlier = { ...first!, uuid: 'earlier', name: 'Slow', startsAt: first!.startsAt - MINUTE }
  const text = JSON.stringify(generate({ ...IMAGE, alerts: [earlier, ...IMAGE.alerts] }).summary)
  assert.match(text, /first symptom was Slow.*whose deploy began 1 min 38 s before the first symptom/)
})

test('a failed pipeline is not listed as firing, because it is not counted', () => {
  const [first, ...rest] = IMAGE.alerts
  const failed = { ...first!, uuid: 'ci', source: 'ci' as const, name: 'PipelineFailed', endsAt: null }
  const firing = { ...first!, source: 'metrics' as const, endsAt: null }
  const text = JSON.stringify(generate({ ...IMAGE, alerts: [failed, firing, ...rest] }).resolution)
  assert.match(text, /while ImagePullBackOff was still firing/)
  assert.match(text, /"ImagePullBackOff was last reported at [^:]*:[^:]*:[^:]*; no end had been reported by /)
})

test('the alert names are in the order of their counts', () => {
  const [first] = IMAGE.alerts
  const mild = { ...first!, uuid: 'mild', name: 'Mild', severity: 'warning' as const, startsAt: first!.startsAt - 1 }
  const grave = { ...first!, severity: 'critical' as const }
  const text = JSON.stringify(generate({ ...IMAGE, alerts: [mild, grave] }).impact)
  assert.match(text, /Alerts of this incident: 1 critical, 1 warning \(ImagePullBackOff and Mild\)/)
})

test('a score has two decimals, and only the score of the suspect is told', () => {
  const [link, ...rest] = IMAGE.correlations
  const text = markdown(generate({ ...IMAGE, correlations: [{ ...link!, score: 0.842 }, ...rest] }))
  assert.match(text, /- \*\*score 1\.00, likely/)
  assert.doesNotMatch(text, /link score/)
  assert.match(text, /has a score of 1\.00 \(likely\)/)
  assert.doesNotMatch(text, /score 0\.(?:\d|\d{3,})[ ,]/)
  const row = timelineOf({ ...IMAGE, correlations: [{ ...link!, score: 0.8 }] }).find(
    ({ kind }) => kind === 'correlation',
  )
  assert.match(row?.text ?? '', /: likely$/)
})

test('no row about a link comes before the alert of the link', () => {
  const { startedAt } = IMAGE.incident
  const correlations = IMAGE.correlations.map((link) => ({ ...link, createdAt: startedAt - 10 * MINUTE }))
  const rows = timelineOf({ ...IMAGE, correlations })
  const links = rows.filter(({ kind }) => kind === 'correlation')
  assert.ok(links.length > 0)
  for (const { at, text } of links) {
    const alert = rows.findIndex((row) => row.kind === 'alert' && text.includes(`linked to ${row.text.split(':')[0]}`))
    assert.ok(alert !== -1 && alert < rows.findIndex((row) => row.text === text), `${text} at ${at}`)
  }
})

test('the summary, the impact and the time to resolve say how long after the problem the incident was resolved', () => {
  const { summary, impact, metrics } = generate(IMAGE)
  const later = /\(25 min 21 s\); the incident was resolved 4 min 40 s later\.$/
  assert.match(summary.sentences[0]?.text ?? '', later)
  assert.equal(impact.seconds, 25 * 60 + 21)
  assert.match(metrics.ttr.definition, /, 4 min 40 s after the end of the problem$/)
  assert.equal(metrics.ttr.sentence.text, '30 min 1 s; 25 min 21 s until the end of the problem')
  const atOnce = { ...IMAGE, incident: { ...IMAGE.incident, resolvedAt: Date.parse(impact.to ?? '') } }
  assert.doesNotMatch(markdown(generate(atOnce)), /resolved .* later|had ended/)
})

test('an incident that was merged was not resolved, so it has no time to resolve', () => {
  const { resolvedAt } = IMAGE.incident
  const merge = { ...IMAGE.entries[0]!, kind: 'merged', code: null, ref: 'incident/0', at: resolvedAt ?? 0 }
  const { metrics, summary } = generate({ ...IMAGE, entries: [...IMAGE.entries, merge] })
  const { ttr } = metrics
  assert.match(summary.sentences[0]?.text ?? '', /; the incident was merged into another incident 4 min 40 s later\.$/)
  assert.match(ttr.definition, /until the incident was resolved$/)
  assert.deepEqual([ttr.seconds, ttr.sentence.text], [null, 'Undefined: the incident was merged into another one.'])
  assert.ok((generate(IMAGE).metrics.ttr.seconds ?? 0) > 0)
})

test('the time to detect cites the alert from which it is measured', () => {
  const { createdAt } = IMAGE.incident
  const [one] = IMAGE.alerts
  const alerts = [-1000, 0].map((ms) => ({ ...one!, uuid: `a${ms}`, name: `Slow${ms}`, startsAt: createdAt + ms }))
  const incident = { ...IMAGE.incident, origin: 'manual' as const, startedAt: createdAt }
  const { ttd } = generate({ ...IMAGE, incident, alerts, correlations: [] }).metrics
  assert.deepEqual([ttd.sentence.text, ttd.sentence.refs[0]], ['1 s', 'alert/a-1000'])
})

test('only the deploy of a pipeline that deploys is said to begin, and an incident without alerts compares none', () => {
  const trigger = (outcome: string) => {
    const changes = IMAGE.changes.map((change) => (change.kind === 'pipeline' ? { ...change, outcome } : change))
    return JSON.stringify(generate({ ...IMAGE, changes } as typeof IMAGE).summary)
  }
  assert.match(trigger('deploy failed'), /, whose deploy began /)
  assert.match(trigger('passed'), /, which began /)
  const text = ({ sentences: [first] }: { sentences: readonly { text: string }[] }) => first?.text
  const none = { alerts: [], correlations: [], earlier: [] }
  assert.match(text(generate({ ...IMAGE, ...none }).recurrence) ?? '', /^The incident has no alerts /)
  assert.match(text(generate({ ...IMAGE, earlier: [] }).recurrence) ?? '', /^No alert for the same conditions /)
})

test('a confirmed cause has no score, because its score is no longer needed', () => {
  const [link, ...rest] = IMAGE.correlations
  const text = markdown(generate({ ...IMAGE, correlations: [{ ...link!, verdict: 'confirmed' as const }, ...rest] }))
  assert.match(text, /A user confirmed pipeline .* as the cause\. Its deploy began .* before the first symptom/)
  assert.match(text, /- \*\*confirmed as the cause:\*\* Pipeline/)
  assert.doesNotMatch(text, /has a score of/)
})

test('if the record is shorter than 90 days, the recurrence says when the record begins', () => {
  const told = (days: number) => {
    const recordedSince = IMAGE.incident.startedAt - days * 24 * 60 * MINUTE
    return generate({ ...IMAGE, recordedSince }).recurrence.sentences.map(({ text }) => text)
  }
  assert.deepEqual(told(90), ['No alert for the same conditions was recorded in the previous 90 days.'])
  const before = 'No alert for the same conditions was recorded before this incident.'
  assert.deepEqual(told(2), [before, 'The record begins on 2026-03-12.'])
})

test('an alert counts with its worst severity during the incident', () => {
  const [first] = IMAGE.alerts
  const mild = { ...first!, severity: 'warning' as const }
  const common = { ...IMAGE.entries[0]!, kind: 'alert', ref: `alert/${mild.uuid}` }
  const impactWith = (facts: EntryFacts | null) => {
    const entry = { ...common, code: facts ? 'severity' : 'again', facts }
    return generate({ ...IMAGE, alerts: [mild], entries: [...IMAGE.entries, entry] }).impact.alerts
  }
  const [risen, same] = [impactWith({ code: 'severity', from: 'critical', to: 'warning' }), impactWith(null)]
  assert.deepEqual([risen.critical, risen.warning], [1, 0])
  assert.deepEqual([same.critical, same.warning], [0, 1])
})

test('the ends that one sender reported are the reports of one sender', () => {
  const text = (alerts: typeof IMAGE.alerts) => JSON.stringify(generate({ ...IMAGE, alerts }).resolution)
  const [first] = IMAGE.alerts
  const ended = { ...first!, resolution: 'reported' as const }
  assert.match(text([ended, { ...ended, uuid: 'b' }]), /, as reported by Kubernetes\./)
  assert.match(
    text([ended, { ...ended, uuid: 'b', source: 'metrics' }]),
    /, as reported by Alertmanager and Kubernetes\./,
  )
})

test('the incident of a silent sender says only that no heartbeat came, and has no health score', () => {
  const service = { uuid: 's', namespace: '', name: 'source/metrics/team/a' }
  const incident = { ...IMAGE.incident, service, cause: 'silence' as const }
  const text = markdown(generate({ ...IMAGE, incident, alerts: [], changes: [], services: [] }))
  assert.match(text, /The sender Alertmanager \(team\/a\) sent no heartbeat from /)
  assert.doesNotMatch(text, /source\/metrics|health score|sent nothing/)
})

for (const [who, until, actor, isSilent] of [
  ['incmon at the first heartbeat', 'resolved', null, false],
  ['a user although none had come', null, 'Ann', true],
  ['a user before the first one came', 'later', 'Ann', true],
] as const) {
  test(`the incident of a silent sender that was resolved by ${who} is ${isSilent ? 'not over' : 'over'}`, () => {
    const service = { uuid: 's', namespace: '', name: 'source/metrics/team/a' }
    const { resolvedAt } = IMAGE.incident
    const critical = { ms: 0, until: until === null ? null : (resolvedAt ?? 0) + (until === 'later' ? MINUTE : 0) }
    const incident = { ...IMAGE.incident, service, cause: 'silence' as const, critical }
    const entries = [{ at: resolvedAt ?? 0, kind: 'status', code: 'resolved', text: '', actor, ref: null }]
    const text = markdown(generate({ ...IMAGE, incident, entries, alerts: [], changes: [], services: [] }))
    const still = /sent no heartbeat since \S+ \S+ UTC \(.*\) when Ann resolved the incident|there was still none then/g
    assert.equal(text.match(still)?.length ?? 0, isSilent ? 2 : 0)
    assert.equal(/sent no heartbeat from /.test(text), !isSilent)
  })
}

test('the impact names the other incidents that opened during this one, except merged ones', () => {
  const others = Array.from({ length: 23 }, (_, index) => {
    return { ref: `incident/${index}`, title: `web-${index}: Down`, createdAt: IMAGE.incident.createdAt + index }
  })
  const text = (meanwhile: typeof others, entries = IMAGE.entries) => {
    return JSON.stringify(generate({ ...IMAGE, entries, meanwhile }).impact.sentences)
  }
  assert.match(text(others.slice(0, 2)), /opened during this one: “web-0: Down” and “web-1: Down”\./)
  assert.match(text(others), /“web-7: Down” and 15 more\./)
  const merged = { ...IMAGE.entries[0]!, kind: 'merged', code: null, ref: 'incident/0' }
  assert.doesNotMatch(text(others.slice(0, 1), [...IMAGE.entries, merged]), /Other incidents/)
  assert.doesNotMatch(text([]), /Other incidents/)
})
