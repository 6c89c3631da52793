/** Suspects: how causes are ranked in small incidents. Each incident also contains an unrelated service. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeSuspects } from '../../src/domain/suspect/judged.ts'
import { isOnlyTime } from '../../src/domain/suspect/likely-cause.ts'
import { rankSuspects, type Suspect, type SuspectAlert, type SuspectFacts } from '../../src/domain/suspect/suspect.ts'
import { formatTime } from '../../src/domain/text.ts'
import { alert, assigned, at, deploy, event, facts, NODE, SERVICES, UNRELATED } from './suspect-facts.ts'

const refs = (given: SuspectFacts) => rankSuspects(given).map(({ ref }) => ref)
const changesOf = (given: SuspectFacts) =>
  rankSuspects(given).filter(({ kind }) => kind === 'pipeline' || kind === 'rollout')
/** Returns the reason that names the suspect's connection to the incident. */
const connectionOf = (suspect?: Suspect) =>
  suspect?.reasons.find(({ code }) => code === 'only_time') ?? suspect?.reasons.at(-1)
const noise = alert('ledger', 'HighErrorRate', -100, { severity: 'error' })

test('of three services deployed at once, the one with new errors ranks first', () => {
  const changes = [deploy('cart', -3), deploy('pay', -3), deploy('search', -3)]
  const alerts = [noise, alert('pay', 'HighErrorRate', 0), alert('pay', 'HighLatency', 0)]
  assert.equal(refs(facts({ changes, alerts, of: 'pay' }))[0], 'shop/pay#1')
})

test('a caller that names its destination blames the destination and not itself', () => {
  const changes = [deploy('web', -3), deploy('pay', -3)]
  const accusing = alert('web', 'UpstreamErrors', 0, { severity: 'critical', labels: { destination: 'pay' } })
  const ranked = changesOf(facts({ changes, alerts: [noise, accusing] }))
  assert.deepEqual(
    ranked.map(({ ref }) => ref),
    ['shop/pay#1'],
  )
})

for (const [label, value] of [
  ['upstream', 'pay'],
  ['dependency', 'pay'],
  ['callee', 'pay'],
  ['target_service', 'pay.shop'],
  ['destination_service', 'pay.shop.svc.cluster.local:8080'],
  ['destination', 'ledger.bank'],
] as const) {
  test(`the label ${label}=${value} names the called service`, () => {
    const named = value.startsWith('pay') ? 'shop/pay' : 'bank/ledger'
    assert.deepEqual(refs(facts({ alerts: [alert('web', 'UpstreamErrors', 0, { labels: { [label]: value } })] })), [
      named,
    ])
  })
}

test('a caller whose callee is unknown or itself keeps its symptom', () => {
  for (const destination of ['nobody', 'web', 'pay.bank', '', ':'])
    assert.deepEqual(refs(facts({ alerts: [alert('web', 'UpstreamErrors', 0, { labels: { destination } })] })), [
      'shop/web',
    ])
})

test("a caller's alert without a destination weighs less than one that names the called service", () => {
  const own = alert('web', 'HighErrorRate', 0, { severity: 'critical' })
  const accusing = alert('web', 'UpstreamErrors', 0, { severity: 'critical', labels: { destination: 'pay' } })
  assert.equal(refs(facts({ alerts: [own, accusing] }))[0], 'shop/pay')
})

test('an alert before the deploy lowers the score of the deploy', () => {
  const changes = [deploy('cart', -3), deploy('pay', -3)]
  const alerts = [noise, alert('pay', 'HighErrorRate', -20), alert('cart', 'HighErrorRate', -1)]
  assert.equal(changesOf(facts({ changes, alerts, of: 'cart' }))[0]?.ref, 'shop/cart#1')
})

test('a problem without its own change is attributed to the change just before it', () => {
  const changes = [deploy('cart', -60), deploy('search', -2), deploy('pay', 1)]
  const alerts = [alert('web', 'HighErrorRate', 0, { severity: 'critical' })]
  assert.equal(changesOf(facts({ changes, alerts }))[0]?.ref, 'shop/search#1')
})

test('a pipeline that failed before it deployed is hardly suspected', () => {
  const failed = deploy('pay', -2, 'failed')
  if (failed.kind !== 'pipeline') return
  const jobs = failed.facts.jobs.map((job) => ({ ...job, name: 'test', stage: 'test' }))
  const changes = [{ ...failed, facts: { ...failed.facts, jobs } }]
  const [suspect] = changesOf(facts({ changes, alerts: [alert('pay', 'HighErrorRate', 0)], of: 'pay' }))
  assert.ok((suspect?.score ?? 1) < 0.1, `${suspect?.score}`)
})

test('a pipeline whose deploy waits is hardly suspected, and one whose deploy runs is', () => {
  const scoreOf = (status: string, startedAt: number | null) => {
    const change = deploy('web', -3, 'running')
    assert.ok(change.kind === 'pipeline')
    const jobs = change.facts.jobs.map((job) => ({ ...job, status, startedAt, finishedAt: null }))
    const changes = [{ ...change, facts: { ...change.facts, finishedAt: null, jobs } }]
    return changesOf(facts({ changes, alerts: [noise, alert('web', 'HighErrorRate', 0)] }))[0]?.score ?? 0
  }
  for (const status of ['manual', 'waiting_for_resource', 'created', 'scheduled'])
    assert.ok(scoreOf(status, null) < 0.2)
  assert.ok(scoreOf('running', at(-3)) > 3 * scoreOf('manual', null))
})

test('a failed node explains the 20 services whose pods ran on it', () => {
  const names = Array.from({ length: 20 }, (_, index) => `s${index}`)
  const services = [...names.map((name) => ({ id: name, cluster: '', namespace: 'shop', name })), UNRELATED, NODE]
  const alerts = names.map((name) => alert(name, 'NodeNotReady', 1, { source: 'cluster', node: 'worker-1' }))
  const pods = names.map((name, i) => event(name, 'NodeNotReady', 1, { alertId: alerts[i]?.id ?? null }))
  const down = event('n1', 'NodeNotReady', 0, { object: 'Node/worker-1' })
  const [first, second] = rankSuspects(facts({ services, alerts, events: [down, ...pods], of: 's3' }))
  assert.deepEqual([first?.kind, first?.ref, first?.serviceId], ['node', 'node/worker-1', 'n1'])
  assert.ok((first?.score ?? 0) > 3 * (second?.score ?? 0))
})

test('without a change the object with the specific, persistent failure ranks first', () => {
  const pull = { text: 'Back-off pulling image "shop/cart:v9"', count: 12 }
  const events = [
    event('cart', 'BackOff', 0, pull),
    event('web', 'Unhealthy', 0, { text: 'Readiness probe failed: 503' }),
  ]
  const ranked = rankSuspects(facts({ events }))
  assert.deepEqual(
    ranked.map(({ kind, ref }) => `${kind} ${ref}`),
    ['object shop/cart', 'object shop/web'],
  )
  assert.match(
    ranked[0]?.reasons[1]?.text ?? '',
    /the image cannot be pulled; seen repeatedly, no recovery reported; last reported at/,
  )
})

test('an equal symptom in many services blames none of them', () => {
  const text = 'Back-off restarting failed container app'
  const many = ['cart', 'pay', 'web', 'ledger'].map((name) => event(name, 'BackOff', 1, { text, count: 9 }))
  const refused = event('search', 'Unhealthy', 1, { text: 'Readiness probe failed: Too many connections', count: 60 })
  assert.equal(refs(facts({ events: [...many, refused] }))[0], 'shop/search')
})

test('a symptom that occurred before the incident weighs less than a new one', () => {
  const text = 'Liveness probe failed: timeout'
  const habit = [-100, -80, -60, -40, 1].map((minutes) => event('cart', 'Unhealthy', minutes, { text }))
  const fresh = [0, 0.5, 1].map((minutes) =>
    event('pay', 'Unhealthy', minutes, { text: 'Liveness probe failed: refused' }),
  )
  assert.equal(refs(facts({ events: [...habit, ...fresh] }))[0], 'shop/pay')
})

test('a probe that fails once while pods are starting has little weight', () => {
  const scaled = {
    kind: 'change' as const,
    object: 'Deployment/cart',
    text: 'Scaled up replica set cart-5d4f8c7b9 to 1',
  }
  const text = 'Readiness probe failed: refused'
  const events = [event('cart', 'ScalingReplicaSet', 0, scaled), event('cart', 'Unhealthy', 0.5, { text })]
  const [suspect] = rankSuspects(facts({ events }))
  assert.ok((suspect?.score ?? 1) < 0.1, `${suspect?.score}`)
})

test('a symptom that has ended weighs less than one that persists', () => {
  const ended = { source: 'cluster' as const, endsAt: at(2), resolution: 'reported' as const }
  const over = alert('cart', 'FailedScheduling', 0, ended)
  const text = '0/4 nodes are available'
  const events = [
    event('cart', 'FailedScheduling', 0, { text, alertId: over.id }),
    event('pay', 'FailedScheduling', 0, { text }),
  ]
  assert.deepEqual(refs(facts({ alerts: [over], events })), ['shop/pay', 'shop/cart'])
})

test('an exhausted quota blames the namespace and not the workload', () => {
  const text = 'Error creating: pods "cart-5d4f8c7b9-x2x4z" is forbidden: exceeded quota: compute, requested: cpu=1'
  const refused = event('cart', 'FailedCreate', 0, { object: 'ReplicaSet/cart-5d4f8c7b9', text })
  assert.equal(refs(facts({ events: [refused] }))[0], 'namespace/shop')
})

test('a Deployment scaled to zero is a suspect without any warning', () => {
  const scaled = {
    kind: 'change' as const,
    object: 'Deployment/pay',
    text: 'Scaled down replica set pay-5d4f8c7b9 to 0 from 2',
  }
  const events = [event('pay', 'ScalingReplicaSet', 0, scaled)]
  assert.equal(refs(facts({ events, alerts: [alert('web', 'HighLatency', 1)] }))[0], 'shop/pay')
})

test('a canary that was taken back is no workload without replicas', () => {
  const scaled = (minute: number, text: string) =>
    event('pay', 'ScalingReplicaSet', minute, {
      ...{
        kind: 'change',
        object: 'Rollout/pay',
        text: `Scaled ${text.replace('RS', 'ReplicaSet pay-5d4f8c7b9 (revision 3)')}`,
      },
    })
  const events = [scaled(-9, 'up RS from 0 to 1'), scaled(-4, 'down RS from 1 to 0')]
  assert.deepEqual(refs(facts({ events, alerts: [alert('web', 'HighLatency', 1)] })), ['shop/web'])
  // In another namespace, a workload can have the same name.
  const other = { ...scaled(-6, 'up RS from 3 to 5'), service: 'ledger' }
  const namesake = { ...other, text: other.text.replace('5d4f8c7b9', '7d9f5b6c8') }
  const both = facts({ events: [...events, namesake], alerts: [alert('web', 'HighLatency', 1)] })
  assert.deepEqual(refs(both), ['shop/web'])
  // The first revision replaced nothing.
  const first = events.map((one) => ({ ...one, text: one.text.replace('revision 3', 'revision 1') }))
  assert.ok(refs(facts({ events: first, alerts: [alert('web', 'HighLatency', 1)] })).includes('shop/pay'))
})

test('missing data, CI alerts and unattributed alerts blame no service', () => {
  const services = [...SERVICES, { id: 'x', cluster: '', namespace: '', name: 'unattributed' }]
  const blind = alert('pay', 'Rule', 0, { severity: 'critical', labels: { alertname: 'DatasourceNoData' } })
  const alerts = [blind, alert('x', 'Odd', 0), alert('cart', 'PipelineFailed', 0, { source: 'ci' })]
  const ranked = rankSuspects(facts({ services, alerts, events: [event('gone', 'BackOff', 0, { service: null })] }))
  assert.deepEqual(
    ranked.map(({ ref }) => ref),
    ['shop/pay'],
  )
  assert.ok((ranked[0]?.score ?? 1) <= 0.1)
})

test('a suspect without a namespace is shown by its name alone', () => {
  const services = [...SERVICES, { id: 'fruit', cluster: '', namespace: '', name: 'fruit' }]
  assert.deepEqual(refs(facts({ services, alerts: [alert('fruit', 'FruitDown', 0)] })), ['fruit'])
})

test('another namespace or cluster ranks below the same one', () => {
  const far = { id: 'far', cluster: 'two', namespace: 'shop', name: 'far' }
  const alerts = ['ledger', 'pay', 'far'].map((service) => alert(service, `High${service}`, 0))
  const here = [...SERVICES, UNRELATED].map((service) => ({ ...service, cluster: 'one' }))
  assert.deepEqual(refs(facts({ services: [...here, far], alerts })), ['shop/pay', 'bank/ledger', 'shop/far'])
})

test('a hundred minor symptoms elsewhere do not outweigh a change', () => {
  const names = Array.from({ length: 100 }, (_, index) => `s${index}`)
  const services = [...SERVICES, ...names.map((name) => ({ id: name, cluster: '', namespace: 'shop', name }))]
  const hiccups = names.map((name) =>
    event(name, 'Unhealthy', 0, { text: `Readiness probe failed: ${'x'.repeat(name.length)}` }),
  )
  const alerts = [alert('pay', 'HighErrorRate', 0)]
  const changes = [deploy('cart', -1), deploy('pay', -1)]
  assert.equal(changesOf(facts({ services, events: hiccups, alerts, changes, of: 'pay' }))[0]?.ref, 'shop/pay#1')
})

test('a change that started after the problem is not a suspect', () => {
  const alerts = [alert('pay', 'HighErrorRate', 0)]
  assert.deepEqual(changesOf(facts({ alerts, changes: [deploy('cart', 5)], of: 'pay' })), [])
})

test('a symptom after the end of the incident is not evidence', () => {
  const given = facts({ alerts: [alert('pay', 'HighErrorRate', 0), alert('cart', 'HighErrorRate', 8)] })
  assert.deepEqual(refs({ ...given, incident: { ...given.incident, endedAt: at(5) } }), ['shop/pay'])
})

test('a symptom says when it ended or was last reported, whatever has happened since', () => {
  const textOf = (more: object, incident: object = {}) => {
    const given = facts({
      alerts: [alert('pay', 'HighErrorRate', 0, { lastSeenAt: at(5), ...more })],
      events: [event('pay', 'BackOff', 5)],
    })
    return JSON.stringify(rankSuspects({ ...given, incident: { ...given.incident, ...incident } })[0]?.reasons)
  }
  const time = formatTime(at(5))
  for (const incident of [{}, { endedAt: at(5) }, { endedAt: at(18) }, { endedAt: at(18), endedItself: true }]) {
    const told = textOf({ endsAt: at(5) }, incident)
    assert.match(told, new RegExp(`HighErrorRate: [^"]*; ended at ${time}"`))
    assert.match(told, new RegExp(`BackOff: [^"]*; last reported at ${time}"`))
    assert.doesNotMatch(told, /firing| ago|before the/)
  }
  const guessed = textOf({ endsAt: at(5), resolution: 'inferred' })
  assert.match(guessed, new RegExp(`HighErrorRate: [^"]*; last reported at ${time}, no end was reported"`))
})

test('an alert that fires has no end, and was firing when the incident was resolved or the problem ended', () => {
  const textOf = (incident: object) => {
    const given = facts({ alerts: [alert('pay', 'HighErrorRate', 0, { lastSeenAt: at(5) })] })
    return rankSuspects({ ...given, incident: { ...given.incident, ...incident } })[0]?.reasons.at(-1)?.short
  }
  assert.equal(textOf({}), 'warning alert; still firing')
  assert.equal(textOf({ endedAt: at(18) }), 'warning alert; still firing when the incident was resolved')
  const itself = { endedAt: at(18), endedItself: true }
  assert.equal(textOf(itself), 'warning alert; still firing when the problem ended')
})

test('a firing alert is called firing even if its sender last repeated it before another symptom was seen', () => {
  const alerts = [alert('pay', 'HighErrorRate', 0, { lastSeenAt: at(1) })]
  const events = [event('pay', 'BackOff', 9)]
  const told = JSON.stringify(rankSuspects(facts({ alerts, events })))
  assert.match(told, /HighErrorRate[^"]*; still firing"/)
})

test('an alert long before the incident is not described as two occurrences', () => {
  const reasonsOf = (minutes: number) =>
    JSON.stringify(rankSuspects(facts({ alerts: [alert('pay', 'HighErrorRate', minutes)] }))[0]?.reasons)
  assert.match(reasonsOf(-20), /the alert began long before the incident/)
  assert.doesNotMatch(reasonsOf(-20), /occurrences/)
  assert.doesNotMatch(reasonsOf(0), /long before the incident/)
})

/** Returns a rollout that started at this minute. */
const rollout = (service: string, minutes: number, hash = '5d4f8c7b9') => ({
  ...{ kind: 'rollout' as const, ref: `shop/${service}@${hash}`, service, hash, isRollback: false },
  eventId: `rollout ${service} ${hash}`,
  ...{ startsAt: at(minutes), endsAt: at(minutes + 10) },
})

test('a rollout during the deploy job of a pipeline of its service is part of the suspected pipeline', () => {
  const changes = [deploy('pay', -3), rollout('pay', -2.5), rollout('cart', -2.5)]
  const alerts = [alert('pay', 'HighErrorRate', 0), alert('cart', 'HighLatency', 0)]
  const [suspect, ...others] = changesOf(facts({ changes, alerts, of: 'pay' }))
  assert.deepEqual([suspect?.ref, suspect?.rollouts], ['shop/pay#1', ['shop/pay@5d4f8c7b9']])
  assert.equal(suspect?.reasons.at(-1)?.text, 'the pipeline caused rollout shop/pay@5d4f8c7b9')
  assert.ok(suspect?.evidence.some(({ eventId }) => eventId === 'rollout pay 5d4f8c7b9'))
  assert.deepEqual(
    others.map(({ ref }) => ref),
    ['shop/cart@5d4f8c7b9'],
  )
})

test('a rollout outside the deploy job, or of a pipeline that deployed nothing, is a suspect of its own', () => {
  const alerts = [alert('pay', 'HighErrorRate', 0)]
  const tested = deploy('pay', -3, 'failed')
  if (tested.kind !== 'pipeline') return
  const jobs = tested.facts.jobs.map((job) => ({ ...job, name: 'test', stage: 'test' }))
  const kinds = (changes: SuspectFacts['changes']) =>
    changesOf(facts({ changes, alerts, of: 'pay' })).map(({ kind }) => kind)
  assert.deepEqual(kinds([deploy('pay', -15), rollout('pay', -2)]), ['rollout', 'pipeline'])
  // Such a pipeline is no suspect at all.
  assert.deepEqual(kinds([{ ...tested, facts: { ...tested.facts, jobs } }, rollout('pay', -2.5)]), ['rollout'])
})

test('the links of a pipeline come before the links of its rollouts', () => {
  const changes = [deploy('pay', -3), rollout('pay', -2.5)]
  const ranked = rankSuspects(facts({ changes, alerts: [alert('pay', 'HighErrorRate', 0)], of: 'pay' }))
  const links = changes.map((change) => ({ change, score: 0.9, verdict: null, reasons: [] })).reverse()
  const [pipeline] = judgeSuspects(ranked, changes, links, 'pay')
  assert.deepEqual(
    pipeline?.links.map(({ change }) => change.kind),
    ['pipeline', 'rollout'],
  )
})

test('a verdict on a rollout counts for the pipeline that caused the rollout', () => {
  const changes = [deploy('pay', -3), rollout('pay', -2.5)]
  const ranked = rankSuspects(facts({ changes, alerts: [alert('pay', 'HighErrorRate', 0)], of: 'pay' }))
  const change = { kind: 'rollout' as const, ref: 'shop/pay@5d4f8c7b9' }
  const judged = judgeSuspects(ranked, changes, [{ change, score: 0.9, verdict: 'confirmed', reasons: [] }], 'pay')
  const confirmed = judged.filter(({ verdict }) => verdict === 'confirmed')
  assert.deepEqual(
    confirmed.map(({ ref }) => ref),
    ['shop/pay#1'],
  )
})

test('a rejected change explains nothing', () => {
  const changes = [deploy('pay', -3)]
  const ranked = rankSuspects(facts({ changes, alerts: [alert('pay', 'HighErrorRate', 0)], of: 'pay' }))
  const reasonsWith = (verdict: 'rejected' | null) => {
    const links = changes.map((change) => ({ change, score: 0.9, verdict, reasons: [] }))
    return JSON.stringify(judgeSuspects(ranked, changes, links, 'pay').map(({ reasons }) => reasons))
  }
  assert.match(reasonsWith(null), /pipeline shop\/pay#1 may explain this problem/)
  const rejected = reasonsWith('rejected')
  assert.match(rejected, /pipeline shop\/pay#1 does not explain this problem: a user rejected it as the cause/)
  assert.doesNotMatch(rejected, /may explain/)
})

const inIncident = true
const repaired = { inIncident, endsAt: at(15), lastSeenAt: at(15), resolution: 'reported' as const }

test('a deploy during the incident after which the conditions end is the fix and not a suspect', () => {
  const alerts = [alert('pay', 'HighErrorRate', 0, repaired)]
  const changes = [deploy('pay', -2), { ...deploy('pay', 12), ref: 'shop/pay#2' }]
  const ranked = changesOf(facts({ alerts, changes, of: 'pay' }))
  assert.deepEqual(
    ranked.map(({ ref }) => ref),
    ['shop/pay#1'],
  )
})

test('a deploy during the incident after which a condition continues is not a fix', () => {
  const alerts = [alert('pay', 'HighErrorRate', 0, { inIncident }), alert('pay', 'HighLatency', 13, { inIncident })]
  assert.equal(changesOf(facts({ alerts, changes: [deploy('pay', 12)], of: 'pay' }))[0]?.ref, 'shop/pay#1')
})

test('the score of a change does not fall when the incident ends', () => {
  const scoreOf = (endedAt: number | null, ended: Partial<SuspectAlert>, laterEnd: number | null = null) => {
    const loop = alert('pay', 'BackOff', 0, { source: 'cluster', inIncident, lastSeenAt: at(9), ...ended })
    const alerts = [alert('pay', 'HighErrorRate', 0, { inIncident, ...ended }), loop]
    const other = alert('ledger', 'HighLatency', 0, { endsAt: laterEnd })
    const events = [event('pay', 'BackOff', 9, { alertId: loop.id, firstSeenAt: at(0), count: 3 })]
    const given = facts({ alerts: [...alerts, other], events, changes: [deploy('pay', -2)], of: 'pay' })
    return changesOf({ ...given, incident: { ...given.incident, endedAt } })[0]?.score ?? 0
  }
  const open = scoreOf(null, {})
  assert.ok(open >= 0.6, `${open}`)
  for (const resolution of ['reported', 'inferred', 'expired'] as const) {
    assert.equal(scoreOf(null, { endsAt: at(10), resolution }), open)
    assert.equal(scoreOf(at(10), { endsAt: at(10), resolution }, at(300)), open)
  }
  assert.equal(scoreOf(at(10), { endsAt: at(300), resolution: 'reported' }), open)
})

test('an alert that ended early in the incident weighs less than one that lasted until its end', () => {
  const scoreOf = (minutes: number) => {
    const early = alert('cart', 'HighErrorRate', 0, { endsAt: at(minutes) })
    const alerts = [alert('pay', 'HighErrorRate', 0, { inIncident, endsAt: at(60) }), early]
    return rankSuspects(facts({ alerts, of: 'pay' })).find(({ ref }) => ref === 'shop/cart')?.score ?? 0
  }
  assert.ok(scoreOf(40) < 0.4 * scoreOf(58), `${scoreOf(40)} and ${scoreOf(58)}`)
})

test('a deploy that failed during the incident is not a fix', () => {
  const alerts = [alert('pay', 'HighErrorRate', 0, repaired), alert('web', 'HighLatency', 13)]
  assert.equal(changesOf(facts({ alerts, changes: [deploy('pay', 12, 'failed')], of: 'pay' })).length, 1)
})

test('a change or problem that started after the recovery is not a suspect', () => {
  const alerts = [alert('pay', 'HighErrorRate', 0, repaired), alert('cart', 'HighErrorRate', 20)]
  assert.deepEqual(refs(facts({ alerts, changes: [deploy('search', 16)], of: 'pay' })), ['shop/pay'])
})

test('a crash loop of three hours is not attributed to a deploy five minutes ago', () => {
  const loop = event('pay', 'BackOff', 1, {
    firstSeenAt: at(-180),
    count: 36,
    text: 'Back-off restarting failed container',
  })
  const given = facts({ events: [loop], changes: [deploy('pay', -5)], of: 'pay' })
  const [change] = changesOf({ ...given, incident: { ...given.incident, startedAt: at(-180) } })
  assert.ok((change?.score ?? 0) < 0.1, `${change?.score}`)
  assert.match(change?.reasons[1]?.text ?? '', /the problem began before the change$/)
})

const connected = (given: Partial<SuspectFacts>) => {
  const own = alert('web', 'HighErrorRate', 0, { severity: 'critical', node: 'worker-1', inIncident })
  const ranked = rankSuspects(facts({ ...given, alerts: [own, ...(given.alerts ?? [])] }))
  return connectionOf(ranked.find(({ serviceId }) => serviceId === 'pay'))
}
const CONNECTIONS: [string, Partial<SuspectFacts>, string][] = [
  [
    'its image',
    {
      images: ['web', 'pay'].map((service) => ({ service, path: 'shop/app' })),
      alerts: [alert('pay', 'HighLatency', 0)],
    },
    'runs the same image as web, shop/app',
  ],
  [
    'its node',
    { alerts: [alert('pay', 'HighLatency', 0, { node: 'worker-1' })] },
    'has pods on node/worker-1, like web',
  ],
  [
    'a label',
    { alerts: [alert('pay', 'HighLatency', 0, { labels: { upstream: 'web' } }), alert('pay', 'PayDown', 0)] },
    'one of its alerts names web',
  ],
  ['nothing', { alerts: [alert('pay', 'HighLatency', 0)] }, 'only the time connects it to web'],
]
for (const [name, given, expected] of CONNECTIONS) {
  test(`${name} connects a suspect from another service`, () => {
    assert.equal(connected(given)?.text, expected)
  })
}

for (const [name, other, expected] of [
  ['on the node of its own pods', 'worker-1', 'only_time'],
  ['on another node', 'worker-2', 'only_time'],
] as const) {
  test(`a deploy of another service with a problem ${name} is connected only by time`, () => {
    const alerts = [
      alert('web', 'HighErrorRate', 0, { severity: 'critical', node: 'worker-1', inIncident }),
      alert('pay', 'HighLatency', 0, { node: other }),
    ]
    const [change] = changesOf(facts({ alerts, changes: [deploy('pay', -2)] }))
    assert.equal(connectionOf(change)?.code, expected)
    assert.ok((change?.score ?? 1) < 0.5, `${change?.score}`)
  })
}

test('a rollout of a service whose pods crash on the same node is connected only by time', () => {
  const crash = alert('pay', 'CrashLoopBackOff', 0, { source: 'cluster', node: 'worker-1', severity: 'critical' })
  const alerts = [alert('web', 'Down', 0, { node: 'worker-1', inIncident }), crash]
  const [change] = changesOf(facts({ alerts, changes: [deploy('pay', -3, 'failed')] }))
  assert.equal(connectionOf(change)?.code, 'only_time')
})

test('a sidecar that other services also run is no connection', () => {
  const sidecar = ['web', 'pay', 'cart'].map((service) => ({ service, path: 'istio/proxyv2' }))
  const alerts = [alert('pay', 'HighLatency', 0)]
  const codeOf = (own: SuspectFacts['images']) => connected({ alerts, images: [...sidecar, ...own] })?.code
  assert.equal(codeOf([{ service: 'web', path: 'shop/web' }]), 'only_time')
  assert.equal(codeOf(['web', 'pay'].map((service) => ({ service, path: 'shop/app' }))), 'same_image')
})

test('a node with a problem is connected with the service whose pods were assigned to it', () => {
  const events = [event('n1', 'NodeHasDiskPressure', 0, { object: 'Node/worker-1' })]
  const said = (nodes: readonly string[]) => {
    const ranked = rankSuspects(
      facts({ alerts: [alert('web', 'Down', 0)], events, assigned: nodes.map((node) => assigned('web-1', node)) }),
    )
    return connectionOf(ranked.find(({ kind }) => kind === 'node'))?.text
  }
  assert.equal(said(['worker-1']), 'pods of web run on this node')
  assert.equal(said(['worker-2']), 'only the time connects it to web')
})

for (const [what, minutes, connection] of [
  ['a workload that failed after the node', 2, 'has pods on node/worker-1, like web, and fails because of the node'],
  [
    'one whose alert is up to a minute earlier',
    -1,
    'has pods on node/worker-1, like web, and fails because of the node',
  ],
  ['but one that failed well before the node may be', -5, 'has pods on node/worker-1, like web'],
] as const) {
  test(`of two workloads on a failed node, none is the cause of the other: ${what}`, () => {
    const events = [event('n1', 'NodeNotReady', 0, { object: 'Node/worker-1' })]
    const on = { severity: 'critical', node: 'worker-1' } as const
    const alerts = [alert('web', 'PodDown', 1, on), alert('cart', 'CartDown', minutes, on)]
    const ranked = rankSuspects(facts({ events, alerts, assigned: [assigned('web-1', 'worker-1')] }))
    const cart = ranked.find(({ serviceId }) => serviceId === 'cart')
    const node = ranked.find(({ kind }) => kind === 'node')
    assert.equal(connectionOf(cart)?.text, connection)
    assert.ok(minutes < -1 || (cart?.score ?? 0) < (node?.score ?? 0) / 2)
  })
}

test('a workload that failed after the incident began is suspected less, and its reasons say why', () => {
  const named = (minutes: number) => {
    const web = alert('web', 'Down', 0, { severity: 'critical', summary: 'no answer from ledger' })
    const alerts = [web, alert('ledger', 'Broken', minutes, { severity: 'critical' })]
    return rankSuspects(facts({ alerts })).find(({ serviceId }) => serviceId === 'ledger')
  }
  const [before, later] = [named(1), named(3)]
  assert.ok((later?.score ?? 1) <= (before?.score ?? 0) / 2 + 0.01)
  assert.ok(later?.reasons.some(({ text }) => text === 'began later than the incident'))
  assert.equal(
    before?.reasons.some(({ code }) => code === 'began_later'),
    false,
  )
})

test('without a problem of the node, workloads that fail on it are connected', () => {
  const on = { severity: 'critical', node: 'worker-1' } as const
  const alerts = [alert('web', 'PodDown', 1, on), alert('cart', 'CartDown', 0, on)]
  const cart = rankSuspects(facts({ alerts })).find(({ serviceId }) => serviceId === 'cart')
  assert.equal(connectionOf(cart)?.text, 'has pods on node/worker-1, like web')
  assert.equal(
    isOnlyTime(cart?.reasons ?? []),
    true,
    'a node that both share makes neither the likely cause of the other',
  )
})

test("for a node's incident, the pods on it are connected, but deploys of others are not", () => {
  const down = event('n1', 'NodeNotReady', 0, { object: 'Node/worker-1' })
  const alerts = [alert('cart', 'HighErrorRate', 1, { node: 'worker-1' }), alert('pay', 'HighLatency', 1)]
  const ranked = rankSuspects(facts({ events: [down], alerts, of: 'n1' }))
  const last = (id: string) => connectionOf(ranked.find(({ serviceId }) => serviceId === id))?.text
  assert.equal(last('cart'), 'has pods on node/worker-1, which failed first')
  assert.equal(last('pay'), 'only the time connects it to node/worker-1')
  const [change] = changesOf(facts({ events: [down], alerts, of: 'n1', changes: [deploy('cart', -3, 'failed')] }))
  assert.equal(connectionOf(change)?.text, 'has pods on node/worker-1')
})

test('an error message that contains the host of another service connects the two', () => {
  const ledgers = { id: 'ledger-db', cluster: '', namespace: 'shop', name: 'ledger-db' }
  const down = alert('ledger-db', 'HighLatency', 0)
  const said = (summary: string) => {
    const given = facts({ services: [...SERVICES, ledgers], alerts: [alert('web', 'Down', 0, { summary }), down] })
    return connectionOf(rankSuspects(given).find(({ serviceId }) => serviceId === 'ledger-db'))?.code
  }
  assert.equal(said('dial tcp: lookup ledger-db.shop on 10.96.0.10:53: no such host'), 'named_in_message')
  for (const text of ['my-ledger-db failed', 'ledger-db2 failed', 'ledger failed'])
    assert.equal(said(text), 'only_time')
})

test('a workload that complains of a service that failed before it is a consequence, and no cause', () => {
  const said = (summary: string, minute: number) => {
    const own = alert('ledger', 'DiskFull', minute, { severity: 'critical', inIncident: true })
    const complaint = alert('pay', 'PayTimeouts', 1, { severity: 'critical', summary, inIncident: true })
    const ranked = rankSuspects(facts({ alerts: [own, complaint], of: 'ledger' }))
    return connectionOf(ranked.find(({ serviceId }) => serviceId === 'pay'))?.text
  }
  for (const text of ['pay cannot write: ledger:9092 timed out', 'no answer of ledger', 'waits for ledger.bank.svc']) {
    assert.equal(said(text, 0), 'one of its alerts or events names ledger, which failed first', text)
    assert.equal(said(text, 2), 'one of its alerts or events names ledger', text)
  }
  assert.doesNotMatch(said('my-ledger2 times out', 0) ?? '', /names ledger/)
})

test('the first reason of a suspect connected only by timing says so, and the others are brief', () => {
  const alerts = [alert('pay', 'PayDown', 0, { severity: 'critical' })]
  const [suspect] = changesOf(facts({ alerts, changes: [deploy('pay', -2)], of: 'ledger' }))
  const [first, , third, ...more] = suspect?.reasons.map(({ text }) => text) ?? []
  assert.equal(first, 'only the time connects it to ledger, and the two are in different namespaces')
  assert.equal(third, 'PayDown in pay began 2 min after the change started')
  assert.deepEqual(more, [])
})

test('a suspect connected only by timing ranks below a likely one with another connection', () => {
  const own = alert('web', 'HighErrorRate', 0, { severity: 'error', inIncident })
  const worse = alert('pay', 'PayDown', 0, { severity: 'critical' })
  assert.deepEqual(refs(facts({ alerts: [own, worse] })), ['shop/web', 'shop/pay'])
})

test('suspects connected only by timing keep their order and rank below possible ones with another connection', () => {
  const named = alert('pay', 'HighLatency', 0, { labels: { upstream: 'web' } })
  const others = [alert('cart', 'CartDown', 0), alert('search', 'SearchDown', 0, { severity: 'critical' })]
  const ranked = refs(facts({ alerts: [alert('pay', 'PayDown', 0), named, ...others] }))
  assert.deepEqual(ranked.slice(-3), ['shop/pay', 'shop/search', 'shop/cart'])
})

test('missing service accounts of several workloads are blamed on their namespace', () => {
  const missing = (name: string) => {
    const text = `Error creating: pods "${name}-1" is forbidden: error looking up service account shop/${name}: serviceaccount "${name}" not found`
    return event(name, 'FailedCreate', 0, { object: `ReplicaSet/${name}-5d4f8c7b9`, text })
  }
  const [namespace] = rankSuspects(facts({ events: ['cart', 'pay', 'web'].map(missing) }))
  assert.equal(namespace?.ref, 'namespace/shop')
  assert.equal(namespace?.reasons.at(-1)?.text, 'pods of web have this problem')
  assert.deepEqual(refs(facts({ events: [missing('cart')] })), ['shop/cart'])
})

test('service accounts that were missing for seconds, as during an installation, weigh less', () => {
  const text = 'error looking up service account shop/x: serviceaccount "x" not found'
  const accused = (minutes: number) => {
    const missing = { text, count: 3, firstSeenAt: at(0) }
    const events = ['cart', 'pay'].map((id) => event(id, 'FailedCreate', minutes, { ...missing, alertId: id }))
    const ended = { source: 'cluster', endsAt: at(minutes), resolution: 'reported' } as const
    const alerts = ['cart', 'pay'].map((id) => alert(id, 'FailedCreate', 0, { ...ended, id }))
    return rankSuspects(facts({ events, alerts }))[0]
  }
  assert.match(accused(0.1)?.reasons[1]?.text ?? '', /resolved within a minute, as during an installation/)
  assert.doesNotMatch(accused(2)?.reasons[1]?.text ?? '', /installation/)
  assert.ok((accused(0.1)?.score ?? 1) < (accused(2)?.score ?? 0))
})

test('HTTP 500 weighs less than HTTP 503', () => {
  const failing = (name: string, summary: string) => alert(name, `Errors${name}`, 0, { summary })
  const alerts = [failing('pay', '500 Internal Server Error'), failing('cart', '503 Service Unavailable')]
  assert.deepEqual(refs(facts({ alerts })), ['shop/cart', 'shop/pay'])
})

test('a process that is starting and not listening yet weighs less than one with wrong responses', () => {
  const started = (name: string) =>
    event(name, 'ScalingReplicaSet', 0, {
      kind: 'change',
      object: `Deployment/${name}`,
      text: `Scaled up replica set ${name}-5d4f8c7b9 to 1`,
    })
  const probe = (name: string, text: string) =>
    event(name, 'Unhealthy', 0.5, { text: `Liveness probe failed: ${text}` })
  const events = [started('pay'), started('cart'), probe('pay', 'connection refused'), probe('cart', 'statuscode: 500')]
  assert.deepEqual(refs(facts({ events })), ['shop/cart', 'shop/pay'])
})

test('a reason has its condition and its short text as data, and the text contains both', () => {
  const found = changesOf(
    facts({ changes: [deploy('pay', -3)], alerts: [alert('pay', 'Payment success ratio', 0)], of: 'pay' }),
  )
  const reasons = found.flatMap((suspect) => suspect.reasons).filter(({ condition }) => condition !== undefined)
  assert.deepEqual(
    reasons.map(({ condition, short }) => [condition, short]),
    [['Payment success ratio', 'began 3 min after the change started']],
  )
  for (const { text, condition = '', short = '' } of reasons)
    assert.ok(text.includes(condition) && text.includes(short))
})
