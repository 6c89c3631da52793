/** Messages about several incidents: who is working on them, and which began first. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestTextOf } from '../../src/domain/notification/digest.ts'
import { namedIn } from '../../src/domain/notification/digest-order.ts'
import type { MessageItem } from '../../src/domain/notification/words.ts'
import { burning, CONTEXT, healed, messageItem as item, messageAlert, withSilence } from '../helpers/messages.ts'

const LETTERS = [...'abcdefghi']
const URLS = { ...CONTEXT, cause: '', acknowledgeUrls: {} }

function taken(name: string, by: string | null): MessageItem {
  const service = { name, namespace: 'shop', cluster: '' }
  const incident = { id: name, status: 'investigating', acknowledgedAt: CONTEXT.now, acknowledgedBy: by } as const
  return item({ kind: 'acknowledged', actor: by, service }, incident)
}

function opened(name: string): MessageItem {
  return item({ service: { name, namespace: 'shop', cluster: '' } }, { id: name })
}

for (const [what, name, minutes] of [
  ['the incident that began first', 'cart', 2],
  ['the leader, if it began at the same time as another', 'postgres', 0],
] as const) {
  test(`the message about a group names ${what}`, () => {
    const member = (service: string, startedAt: number) => ({
      ...({ id: service, number: 1, title: service, severity: 'critical', status: 'open', startedAt } as const),
      ...({ acknowledgedBy: null, problem: 'on', isFiring: true } as const),
      service: { name: service, namespace: 'shop', cluster: '' },
    })
    const leader = member('postgres', CONTEXT.now)
    const incidents = [member('cart', CONTEXT.now - minutes * 60_000), leader, member('web', CONTEXT.now)]
    const group = { leader, cause: 'postgres', incidents }
    const { body } = digestTextOf([{ ...opened('web'), kind: 'group', group }], URLS)
    assert.ok(body.includes(`First: shop/${name} since 14:0${6 - minutes} UTC.`), body)
  })
}

test('acknowledged incidents are not reported as new alarms', () => {
  const { title, body, tone } = digestTextOf([taken('cart', 'ann'), taken('web', 'ann')], URLS)
  assert.equal(title, 'ann is working on 2 incidents (2 critical): cart and web.')
  assert.deepEqual([body.includes('Worst'), tone], [false, 'acknowledged'])
})

test('a channel that was not reachable hears who works on what opened meanwhile', () => {
  const late = ['cart', 'web'].map((name) => ({ ...taken(name, 'ann'), kind: 'opened' as const }))
  const { title, tone } = digestTextOf(late, URLS)
  assert.deepEqual([title, tone], ['ann is working on 2 incidents (2 critical): cart and web.', 'acknowledged'])
})

test('each person who acknowledged one of the incidents is named once', () => {
  const { title } = digestTextOf([taken('cart', 'ann'), taken('web', 'bob'), taken('till', 'ann')], URLS)
  assert.equal(title, 'ann and bob are working on 3 incidents (3 critical): cart, web and till.')
})

test('without a name, a user is working on the incidents', () => {
  const { title } = digestTextOf([taken('cart', null), taken('web', null)], URLS)
  assert.equal(title, 'A user is working on 2 incidents (2 critical): cart and web.')
})

test('a new incident comes before those that somebody is working on, and sets the tone', () => {
  const { title, body, tone } = digestTextOf([taken('cart', 'ann'), opened('web')], URLS)
  assert.equal(title, '1 new incident (1 critical): web.')
  assert.match(body, / ann is working on 1 incident \(1 critical\): cart\./)
  assert.equal(tone, 'critical')
})

test('an acknowledged incident that has recovered is reported as recovered', () => {
  const resolved = { ...taken('cart', 'ann').incident, status: 'resolved' as const }
  const { title, tone } = digestTextOf([{ ...taken('cart', 'ann'), incident: resolved }, taken('web', 'ann')], URLS)
  assert.equal(title, 'ann is working on 1 incident (1 critical): web.')
  assert.equal(tone, 'acknowledged')
})

function about(kind: MessageItem['kind'], ...names: readonly string[]): MessageItem[] {
  return names.map((name) => ({ ...opened(name), kind }))
}

for (const [what, items, title, body] of [
  [
    'a digest of reminders is a reminder',
    about('reminder', 'cart', 'web'),
    'Nobody has acknowledged this yet: 2 incidents (2 critical): cart and web.',
    /^Worst: /,
  ],
  [
    'a digest of escalations says that nobody has acknowledged the incidents',
    about('escalation', 'cart', 'web'),
    'Nobody has acknowledged this yet: 2 incidents (2 critical): cart and web.',
    /^Worst: /,
  ],
  [
    'what came back is not new',
    [...about('again', 'cart'), ...about('worse', 'web')],
    '1 incident came back (1 critical): cart.',
    / 1 earlier incident \(1 critical\): web\.$/,
  ],
  [
    'what is new comes before what came back and what nobody works on',
    [...about('reminder', 'web'), ...about('again', 'cart'), ...about('opened', 'till')],
    '1 new incident (1 critical): till.',
    / 1 incident came back \(1 critical\): cart\. Nobody has acknowledged this yet: 1 incident \(1 critical\): web\.$/,
  ],
] as const) {
  test(what, () => {
    const text = digestTextOf(items, URLS)
    assert.equal(text.title, title)
    assert.match(text.body, body)
  })
}

const ofWeb = { service: { name: 'web', namespace: 'shop', cluster: '' } }
const over = (name: string) => item({ ...opened(name), kind: 'recovered' }, { id: name, problem: healed() })
const declared = { origin: 'manual', title: 'Typo on the start page' } as const
const queue = `QueueStuck: ${'500 messages wait in the queue and nobody takes them '.repeat(2)}`
const eu = { service: { name: 'api', namespace: '', cluster: 'eu' } }

for (const [what, items, expected] of [
  [
    'counts a name of two clusters twice',
    [...about('opened', 'web', 'a', 'b', 'c'), item(eu, { id: 'eu' }), item(eu, { id: 'us' })],
    /^6 new incidents \(6 critical\): web, a, b and 3 other incidents\. /,
  ],
  [
    'names it once, with its number',
    [item(eu, { id: 'eu' }), item(eu, { id: 'us' }), ...about('opened', 'web')],
    /^3 new incidents \(3 critical\): api ×2 and web\. /,
  ],
  [
    'counts other services whose names differ',
    about('opened', 'web', 'a', 'b', 'c', 'd'),
    /^5 new incidents \(5 critical\): web, a, b and 2 other services\. /,
  ],
  [
    'tells a declared incident from the alerts of its service',
    [item(ofWeb, { ...declared, id: 'd', problem: burning(3, { firing: [] }) }), over('web')],
    /^1 new incident \(1 critical\): “Typo on the start page” \(web\)\. .* web has recovered/,
  ],
  [
    'ends a long title before the next sentence',
    [item(ofWeb, { id: 'q', title: queue, problem: burning(3, { firing: [] }) }), over('cart')],
    /Worst: “QueueStuck: [^”]+…”\. cart has recovered/,
  ],
] as const) {
  test(`a digest ${what}`, () => {
    const { title, body } = digestTextOf(items, URLS)
    assert.match(`${title} ${body}`, expected)
    assert.doesNotMatch(`${title} ${body}`, /…\.|\.\./)
  })
}

for (const [what, isSilenced, said] of [
  ['recovered', false, 'not critical now'],
  ['a silence covers', true, 'under a silence now'],
] as const)
  test(`the message about a group says of what ${what} that it is ${said}`, () => {
    const group = groupOf(['web', 'till'], false)
    const incidents = group.incidents.map((one) => ({ ...one, isSilenced: isSilenced && !one.isFiring }))
    const of = { ...group, leader: incidents[0] ?? group.leader, incidents }
    const { body } = digestTextOf([{ ...opened('web'), kind: 'group', group: of }], URLS)
    assert.ok(body.includes(` First: shop/postgres since 14:06 UTC, ${said}. `), body)
    assert.match(body, / Incidents #2 and #3\.$/)
  })

test('the message about a group names all alerts of a service', () => {
  const names = ['A', 'B', 'C', 'D', 'E']
  const alerts = names.map((name) => messageAlert({ id: name, name, condition: name, summary: '' }))
  const problem = { ...opened('web').incident.problem, firing: names }
  const web = item({ ...opened('web'), kind: 'group', group: groupOf(['web', 'till']), alerts }, { id: 'web', problem })
  assert.match(digestTextOf([web], URLS).body, /^web: A; B; C\. Also firing: D and E\. Also critical: postgres/)
})

test('the alerts of services that the message about a group only counts are told later', () => {
  const group = groupOf(LETTERS)
  const items = LETTERS.map((name) => ({ ...opened(name), kind: 'group' as const, group }))
  assert.match(digestTextOf(items, URLS).body, / e: [^.]+\. 4 more\. /)
  assert.deepEqual(Object.keys(namedIn(items, CONTEXT.now)), ['a', 'b', 'c', 'd', 'e'])
})

function groupOf(names: readonly string[], isFiring = true) {
  const member = (service: string, number: number, fires: boolean) => ({
    ...({ id: service, number, title: service, severity: 'critical', status: 'open' } as const),
    ...{ startedAt: CONTEXT.now, acknowledgedBy: null, problem: 'on' as const, isFiring: fires },
    service: { name: service, namespace: 'shop', cluster: '' },
  })
  const leader = member('postgres', 1, isFiring)
  return {
    leader,
    cause: 'postgres',
    incidents: [leader, ...names.map((name, index) => member(name, index + 2, true))],
  }
}

const storm = (kind: MessageItem['kind'], ...names: readonly string[]) => {
  const group = groupOf(names)
  return about(kind, ...names).map((one) => ({ ...one, group }))
}

for (const [what, items, title, body] of [
  [
    'a storm that returns comes before one small new incident',
    [...about('opened', 'legacy'), ...storm('again', 'a', 'b', 'c')],
    '3 incidents came back (3 critical), probably because of postgres: a, b and c.',
    /^Worst: a: Down\. Because\. 1 new incident \(1 critical\): legacy\.$/,
  ],
  [
    'what else came back has not this cause',
    [...about('again', 'slow'), ...storm('again', 'a', 'b', 'c')],
    '4 incidents came back (4 critical), 3 of them probably because of postgres: slow, a, b and c.',
    /^Worst: slow: Down\. Because\.$/,
  ],
  [
    'a new storm comes before one that returns and is smaller',
    [...storm('opened', 'a', 'b', 'c', 'd'), ...about('again', 'e', 'f', 'g')],
    '4 new incidents (4 critical), probably because of postgres: a, b, c and d.',
    /3 incidents came back \(3 critical\): e, f and g\.$/,
  ],
  [
    'two incidents with a cause in common are no storm',
    [...about('opened', 'legacy'), ...storm('again', 'a', 'b')],
    '1 new incident (1 critical): legacy.',
    /2 incidents came back \(2 critical\): a and b\.$/,
  ],
] as const) {
  test(`in a digest, ${what}`, () => {
    const text = digestTextOf(items, { ...URLS, cause: 'Because.' })
    assert.equal(text.title, title)
    assert.match(text.body, body)
  })
}

test('a digest of what has recovered names no likely cause', () => {
  assert.doesNotMatch(digestTextOf([over('cart'), over('web')], { ...URLS, cause: 'Because.' }).body, /Because/)
})

test('messages about an alert that a user resolved do not call its service recovered', () => {
  const problem = healed()
  const ended = (resolution: 'manual' | 'reported') => [messageAlert({ endsAt: problem.endedAt, resolution })]
  const of = (name: string, resolution: 'manual' | 'reported') =>
    item({ ...opened(name), kind: 'recovered', alerts: ended(resolution) }, { id: name, problem })
  const byHand = digestTextOf([of('cart', 'manual')], URLS)
  assert.match(byHand.title, /^A user resolved the alert of cart: it was critical for 4 min, until 14:04 UTC\.$/)
  assert.match(digestTextOf([of('cart', 'reported')], URLS).title, /^cart has recovered: /)
  const { title } = digestTextOf([of('cart', 'manual'), of('web', 'manual')], URLS)
  assert.equal(title, 'A user resolved the alerts of cart and web.')
  const both = digestTextOf([of('cart', 'manual'), of('web', 'reported')], URLS)
  assert.equal(`${both.title} ${both.body}`, 'web has recovered after 4 min. A user resolved the alerts of cart.')
})

test('time under a silence is the difference of the times that people see', () => {
  const title = (ms: number) =>
    digestTextOf([item({ kind: 'recovered' }, { problem: withSilence(healed(), ms) })], URLS).title
  assert.match(title(179_900), /, not counting 3 min under a silence\.$/)
  assert.match(title(119_000), /, not counting 1 min 59 s under a silence\.$/)
  assert.doesNotMatch(title(0), /silence/)
})

for (const [what, kind, names, firing, said] of [
  ['got worse', 'worse', ['DiskFull'], ['Down', 'DiskFull'], 'web got worse: DiskFull is firing.'],
  ['got worse twice', 'worse', ['A', 'B'], ['A', 'B'], 'web got worse: A and B are firing.'],
  ['was reopened', 'reopened', [], ['Down'], 'web was reopened.'],
  ['got worse by what has ended since', 'worse', ['DiskFull'], ['Down'], ''],
  ['was only acknowledged', 'acknowledged', [], ['Down'], ''],
] as const)
  test(`a digest about an incident that somebody works on and that ${what} says ${said || 'only who'}`, () => {
    const web = taken('web', 'ann')
    const problem = { ...web.incident.problem, firing }
    const { title, body } = digestTextOf(
      [taken('cart', 'ann'), { ...web, kind, names, incident: { ...web.incident, problem } }],
      URLS,
    )
    const whole = `${title} ${body}`
    assert.ok(whole.includes('ann is working on 2 incidents (2 critical): cart and web.'), whole)
    assert.equal(/web (?:got worse|was reopened)[^.]*\./.exec(whole)?.[0] ?? '', said)
  })

/** Acknowledged incidents, each of which got worse by the condition that `nameOf` returns. */
function worsened(services: readonly string[], nameOf: (service: string) => string): MessageItem[] {
  return services.map((service) => {
    const of = taken(service, 'ann')
    const problem = { ...of.incident.problem, firing: ['Down', nameOf(service)] }
    return { ...of, kind: 'worse', names: [nameOf(service)], incident: { ...of.incident, problem } }
  })
}

for (const [what, items, said] of [
  ['three got worse by the same', worsened(['a', 'b', 'c'], () => 'Disk'), 'a, b and c got worse: Disk is firing.'],
  [
    'nine got worse by the same',
    worsened(LETTERS, () => 'Disk'),
    'a, b, c and 6 other services got worse: Disk is firing.',
  ],
  [
    'six got worse by different alerts',
    worsened(LETTERS.slice(0, 6), (service) => `Disk ${service}`),
    'e got worse: Disk e is firing. f got worse: Disk f is firing. ann ',
  ],
  [
    'nine got worse by different alerts',
    worsened(LETTERS, (service) => `Disk ${service}`),
    'e got worse: Disk e is firing. f, g, h and i got worse, too. ann ',
  ],
  ['a user reopened eight of', about('reopened', ...LETTERS.slice(1)), 'b, c, d and 5 other services were reopened.'],
  [
    'several alerts of each fire that are the same',
    worsened(LETTERS, () => 'Disk').map((one) => opening(one)),
    'Worst: a: Down and Disk. b, c, d and 5 other services: Down and Disk.',
  ],
  [
    'several alerts of each fire',
    worsened(LETTERS, (service) => `Disk ${service}`).map((one) => opening(one)),
    'f: Down and Disk f. g, h and i: several alerts.',
  ],
  [
    'the sender of each was not heard for the same time',
    LETTERS.map((service) => unheard(service, 60)),
    ' a, b, c and 6 other services: not heard since 13:06 UTC.',
  ],
  [
    'the sender of each was not heard',
    LETTERS.map((service, index) => unheard(service, 60 + index)),
    ' e: not heard since 13:02 UTC. f, g, h and i: not reported lately either.',
  ],
] as const)
  test(`a digest of incidents of which ${what} leaves none out`, () => {
    const { title, body } = digestTextOf(items, URLS)
    assert.ok(`${title} ${body}`.includes(said), `${title} ${body}`)
  })

function opening(one: MessageItem): MessageItem {
  return { ...one, kind: 'opened', incident: { ...one.incident, acknowledgedAt: null, status: 'open' } }
}

function unheard(service: string, minutes: number): MessageItem {
  const delivery = { interval: null, reportsEnds: false, isRepeated: true }
  return { ...opened(service), alerts: [messageAlert({ receivedAt: CONTEXT.now - minutes * 60_000, delivery })] }
}

test('a digest says what got worse of an incident that it reminds of', () => {
  const [web] = worsened(['web'], () => 'Disk').map((one) => ({ ...opening(one), kind: 'worse' as const }))
  const { body } = digestTextOf([...about('reminder', 'cart', 'web'), ...(web ? [web] : [])], URLS)
  assert.match(body, / web got worse: Disk is firing\.$/)
})

test('a digest says that a silence has ended, whoever works on it', () => {
  const problem = burning(4, { covered: { since: CONTEXT.now - 240_000, until: CONTEXT.now } })
  const back = ['cart', 'web'].map((name) => {
    const known = taken(name, 'ann')
    return { ...known, kind: 'again' as const, actor: null, incident: { ...known.incident, problem } }
  })
  const { title, body } = digestTextOf(back, URLS)
  assert.match(`${title} ${body}`, /ann is working on 2 incidents/)
  assert.match(`${title} ${body}`, /A silence has ended that covered cart and web\./)
})

test('a digest of a channel that was not told of all incidents says how many go on', () => {
  const told = [opened('cart'), opened('web')].map((one) => item(one, { id: one.service?.name ?? '' }))
  assert.match(digestTextOf(told, { ...URLS, inAll: 712 }).body, /In all, 712 incidents go on\./)
  for (const inAll of [null, 2]) assert.doesNotMatch(digestTextOf(told, { ...URLS, inAll }).body, /In all/)
})
