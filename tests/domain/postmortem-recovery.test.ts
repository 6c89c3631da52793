/** What a postmortem says about recoveries: replaced pods, later rounds, images, and incidents with the cause. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EventFact, type PostmortemFacts, withImages } from '../../src/domain/incident/facts.ts'
import { merge } from '../../src/domain/postmortem/edits.ts'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { generate } from '../../src/domain/postmortem/postmortem.ts'
import { MINUTE } from '../../src/domain/units.ts'
import { contradictionsIn, unfoundedIn } from '../helpers/postmortem-checker.ts'
import { factsOf } from './postmortem-goldens.ts'

const IMAGE = factsOf('bad-image-tag')
const FIRST = IMAGE.alerts[0]!
const { startedAt, createdAt } = IMAGE.incident
const END = IMAGE.incident.resolvedAt ?? 0
const BARE = { ...IMAGE, changes: [], correlations: [], suspects: [], events: [], entries: [] }

function textOf(facts: Partial<PostmortemFacts>): string {
  const all = { ...BARE, ...facts }
  const document = generate(all)
  assert.deepEqual([...unfoundedIn(all, document), ...contradictionsIn(document)], [])
  return markdown(document)
}

const event = (name: string, minutes: number, object: string, text = name): EventFact => ({
  ...{ uuid: `${name}-${object}`, at: startedAt + minutes * MINUTE, source: 'cluster', alertId: null },
  ...{ kind: 'info', name, object, text },
})
const entry = (kind: string, minutes: number, actor: string | null, code: string | null = null, text = '') => ({
  ...{ at: createdAt + minutes * MINUTE, kind, code, text, actor, ref: null },
})

test('what a pod had on a lost node ends with its replacement, whose start has a row', () => {
  const at = startedAt + 5 * MINUTE
  const lost = { ...FIRST, name: 'NodeNotReady (pod)', endsAt: at, resolution: 'reported' as const }
  const evicted = { ...event('TaintManagerEviction', 4, 'Pod/cart-1'), kind: 'firing' as const, alertId: 'x' }
  const events = [evicted, event('Scheduled', 5, 'Pod/cart-2'), event('Started', 6, 'Pod/cart-2')]
  const text = textOf({ alerts: [lost], events })
  assert.match(text, /NodeNotReady \(pod\) ended at .*, when replacement pods were assigned to nodes/)
  assert.match(text, /\| replacement Pod\/cart-2 started \| Kubernetes/)
  assert.match(text, /TaintManagerEviction.* – not part of this incident/)
  const other = textOf({ alerts: [lost], events: [event('Started', 6, 'Pod/cart-2')] })
  assert.match(other, /NodeNotReady \(pod\) ended at .*, as reported by Kubernetes/)
  assert.doesNotMatch(other, /replacement/)
})

test('a crash that ends with the start of a container says so', () => {
  const ended = { ...FIRST, endsAt: startedAt + 5 * MINUTE, resolution: 'reported' as const }
  const text = textOf({ alerts: [ended], events: [event('Started', 5, 'Pod/cart-2')] })
  assert.match(text, /ended at .*, when Kubernetes reported the start of a container/)
})

test('an end that follows from a scale-down says so, and ends at different times have a sentence each', () => {
  const ended = { ...FIRST, endsAt: startedAt + 5 * MINUTE, resolution: 'reported' as const }
  const later = { ...ended, uuid: 'later', name: 'CrashLoopBackOff', endsAt: startedAt + 6 * MINUTE }
  const scaled = (text: string) => ({ ...event('ScalingReplicaSet', 5, 'Deployment/cart'), text })
  const down = scaled('Scaled down replica set cart-7c9f6d5b8 to 0 from 1')
  const text = textOf({ alerts: [ended, later], events: [down] })
  const what = `${FIRST.name} ended at [-0-9: ]+ UTC`
  assert.match(text, new RegExp(`${what}, when Kubernetes reported a scale-down`))
  assert.match(text, /CrashLoopBackOff ended at .*, as reported by Kubernetes/)
  assert.match(
    textOf({ alerts: [ended], events: [scaled('Scaled up replica set cart-1 to 1')] }),
    /, as reported by Kube/,
  )
  const pods = ['1', '2', '3'].map((pod) => ({ ...ended, uuid: pod, objects: [`Pod/cart-${pod}`] }))
  const two = textOf({ alerts: [...pods, later] })
  assert.match(two, new RegExp(`${FIRST.name} ×3 ended at [-0-9: ]+ UTC, as reported by Kubernetes`))
  assert.doesNotMatch(two, /ended between/)
})

test('the detection says who was told first and when, or that there is no channel', () => {
  const told = { hasChannel: true, names: ['mail', 'pager'], firstAt: createdAt + MINUTE }
  const text = (more: { hasChannel?: boolean; names?: string[]; firstAt?: null; quiet?: string[] }) =>
    markdown(generate({ ...BARE, told: { ...told, ...more } }))
  assert.match(text({}), /- Told: mail and pager, the first of them at 2026-03-14 [0-9:]+ UTC \(E1\)\./)
  assert.match(text({ names: ['mail'] }), /- Told: mail, first at 2026-03-14 [0-9:]+ UTC \(E1\)\./)
  assert.match(text({ hasChannel: false, firstAt: null }), /- There is no notification channel \(E1\)\./)
  assert.match(
    text({ firstAt: null }),
    /- No channel had got a message about the incident by 2026-03-14 [0-9:]+ UTC \(E1\)\./,
  )
  assert.match(text({ firstAt: null, quiet: ['mail'] }), /by 2026-03-14 [0-9:]+ UTC; mail had quiet hours \(E1\)\./)
  assert.doesNotMatch(text({ quiet: ['mail'] }), /quiet/)
  assert.doesNotMatch(markdown(generate(BARE)), /Told:|channel/)
})

test('the paging is to be checked only if somebody was told, and nobody answered in time', () => {
  const late = {
    ...BARE.incident,
    acknowledgedAt: null,
    resolvedAt: createdAt + 60 * MINUTE,
    critical: { ms: 50 * MINUTE, until: createdAt + 50 * MINUTE },
  }
  const idsOf = (told: NonNullable<PostmortemFacts['told']>) =>
    generate({ ...BARE, alerts: [], incident: late, told }).actions.map(({ id }) => id)
  assert.deepEqual(idsOf({ hasChannel: true, names: ['mail'], firstAt: createdAt }), ['paging'])
  assert.deepEqual(idsOf({ hasChannel: true, names: [], firstAt: null }), ['channels'])
  assert.deepEqual(idsOf({ hasChannel: false, names: [], firstAt: null }), ['channels'])
  assert.deepEqual(idsOf({ hasChannel: true, names: [], firstAt: null, quiet: ['mail'] }), ['quiet-hours'])
  assert.deepEqual(idsOf({ hasChannel: true, names: ['mail'], firstAt: createdAt, quiet: ['mail'] }), ['paging'])
})

test('channels are to be set up if there are none, even if somebody answered in time', () => {
  const idsOf = (told: NonNullable<PostmortemFacts['told']>) =>
    generate({ ...BARE, incident: { ...BARE.incident, acknowledgedAt: createdAt }, told }).actions.map(({ id }) => id)
  assert.ok(idsOf({ hasChannel: false, names: [], firstAt: null }).includes('channels'))
  assert.ok(!idsOf({ hasChannel: true, names: [], firstAt: null }).includes('channels'))
})

test('an end that follows from another event is not called reported', () => {
  const at = createdAt + 9 * MINUTE
  const ended = { ...FIRST, endsAt: at, resolution: 'reported' as const, objects: ['Pod/cart-1'] }
  const event = {
    uuid: 'k',
    at,
    source: 'cluster',
    kind: 'info',
    name: 'Killing',
    object: 'Pod/cart-1',
    text: 'Killing',
    alertId: null,
  } as const
  const text = (one: Partial<PostmortemFacts['events'][number]>) =>
    textOf({ alerts: [ended], events: [{ ...event, ...one }] })
  assert.match(text({}), /ended at .*, when Kubernetes reported that a container was stopped/)
  assert.match(text({ object: 'Pod/pay-1' }), /ended at .*, as reported by Kubernetes/)
  assert.match(text({ name: 'Pulled' }), /ended at .*, when Kubernetes reported that an image was pulled/)
  const named = (name: string) => textOf({ alerts: [{ ...ended, name }], events: [{ ...event, name: 'Pulled' }] })
  assert.match(named('InvalidImageName'), /, when Kubernetes reported that an image was pulled/)
  assert.match(named('ImageGCFailed'), /, as reported by Kubernetes/)
  assert.match(text({ name: 'Completed' }), /ended at .*, when Kubernetes reported that a job completed/)
  assert.match(text({ name: 'Pulled', at: at - 1000 }), /ended at .*, as reported by Kubernetes/)
})

test('an alert that was not reported again after an assumed end is not said to have been', () => {
  const ref = `alert/${FIRST.uuid}`
  const again = (at: number) => ({ ...entry('alert', at, null, 'again', FIRST.name), ref })
  const ended = (at: number) => ({ ...entry('ended', at, null, 'expired', FIRST.name), ref })
  const alerts = [
    { ...FIRST, endsAt: createdAt + 5 * MINUTE, lastSeenAt: createdAt + 5 * MINUTE, resolution: 'expired' as const },
  ]
  const both = textOf({ alerts, entries: [ended(1), again(4), ended(4), again(5), ended(5)] })
  assert.match(both, /was last reported twice [^;]*, but was reported again each time/)
  const once = textOf({ alerts, entries: [ended(1), again(5), ended(5)] })
  assert.match(once, /was last reported at [^;]*, but was reported again \(/)
  assert.doesNotMatch(textOf({ alerts, entries: [ended(5)] }), /reported again/)
})

test('each round has its end, its acknowledgement and its place in the order', () => {
  const ref = `alert/${FIRST.uuid}`
  const entries = [
    entry('status', 1, 'Tom', 'investigating'),
    { ...entry('ended', 2, null, 'reported', FIRST.name), ref },
    entry('status', 3, 'Tom', 'resolved'),
    { ...entry('alert', 4, null, 'again', FIRST.name), ref },
    entry('reopened', 4, null, 'open', 'the problem came back'),
    entry('status', 5, 'Lucia', 'investigating'),
    { ...entry('status', 0, 'Lucia', 'resolved'), at: END },
  ]
  const incident = { ...IMAGE.incident, acknowledgedAt: createdAt + MINUTE, acknowledgedBy: 'Tom', hasLapsed: true }
  const text = textOf({ entries, incident })
  assert.match(
    text,
    /- Tom acknowledged the incident at .*\n- This acknowledgement lapsed .*\n- Lucia acknowledged it again/,
  )
  assert.match(
    text,
    /but fired again .*\n- Tom resolved the incident .*\n- incmon reopened .*because the problem came back/,
  )
  assert.equal(text.match(/\| acknowledged \|/g)?.length, 2)
})

test('the images of a rollout are those that its own pods pulled', () => {
  const [rollout] = IMAGE.changes.filter(({ kind }) => kind === 'rollout')
  assert.ok(rollout)
  const message = (image: string) => `Container image "registry.test/shop/${image}" already present on machine`
  const hash = rollout.ref.slice(rollout.ref.indexOf('@') + 1)
  const pulled = [
    event('Pulled', 1, `Pod/cart-${hash}-a1b2c`, message('cart:2.0')),
    event('Pulled', 1, 'Pod/cart-other-a1b2c', message('cart:1.0')),
  ]
  assert.equal(withImages([rollout], pulled)[0]?.template, 'cart:2.0')
  assert.equal(withImages([{ ...rollout, template: 'app: cart:1.0' }], pulled)[0]?.template, 'app: cart:1.0')
  assert.equal(withImages([rollout], pulled.slice(1))[0]?.template, undefined)
})

test('a rollout that did not change the image says so', () => {
  const [rollout] = IMAGE.changes.filter(({ kind }) => kind === 'rollout')
  assert.ok(rollout)
  const message = (image: string) => `Container image "registry.test/shop/${image}" already present on machine`
  const templates = (first: string, second: string) => {
    const pulled = [
      event('Pulled', 1, 'Pod/cart-one-a1b2c', message(first)),
      event('Pulled', 9, 'Pod/cart-two-a1b2c', message(second)),
    ]
    const both = ['shop/cart@one', 'shop/cart@two'].map((ref) => ({ ...rollout, ref }))
    return withImages(both, pulled).map(({ template }) => template)
  }
  assert.deepEqual(templates('cart:1.0', 'cart:1.0'), ['cart:1.0', 'same image cart:1.0'])
  assert.deepEqual(templates('cart:1.0', 'cart:2.0'), ['cart:1.0', 'cart:2.0'])
})

/** Returns the fact about the fix, of a deploy and a rollout that began some minutes after the incident. */
function fixWith(rolloutAt: number, entries: readonly PostmortemFacts['entries'][number][] = []): string {
  const [known] = IMAGE.changes.filter(({ kind }) => kind === 'rollout')
  assert.ok(known)
  const at = (minutes: number) => createdAt + minutes * MINUTE
  const deploy = { ...IMAGE.changes.find(({ kind }) => kind === 'pipeline')!, outcome: 'deployed' as const }
  const pipeline = { ...deploy, ref: 'shop/cart#12', eventId: 'c12', startsAt: at(2), endsAt: at(5) }
  const rollout = { ...known, ref: 'shop/cart@7f9b6d5c4', eventId: 'r', startsAt: at(rolloutAt), endsAt: at(rolloutAt) }
  const alerts = [{ ...FIRST, endsAt: at(18), resolution: 'reported' as const }]
  const text = textOf({ alerts, entries, changes: [pipeline, rollout] })
  return /\*\*Fix:\*\* (.*) \(E/.exec(text)?.[1] ?? ''
}

test('a deploy and the rollout that it caused are one fix', () => {
  assert.equal(fixWith(3), 'probably pipeline shop/cart#12 and rollout shop/cart@7f9b6d5c4')
})

test('a rollout long after a deploy is the fix without the deploy, which did not end the problem', () => {
  assert.equal(fixWith(14), 'probably rollout shop/cart@7f9b6d5c4')
})

test('a deploy after which the problem came back is no fix', () => {
  const back = entry('status', 16, null, 'open', 'the problem came back')
  const tried = 'pipeline shop/cart#12 and rollout shop/cart@7f9b6d5c4'
  assert.equal(fixWith(3, [back]), `not known; during the incident: ${tried}`)
  assert.equal(fixWith(14, [back]), 'probably rollout shop/cart@7f9b6d5c4')
})

test('the fix refers to what people wrote after it', () => {
  assert.match(fixWith(14, [entry('note', 15, 'Ann', null, 'Ben raised the limit.')]), /; the notes may say more$/)
  assert.doesNotMatch(fixWith(14, [entry('note', 1, 'Ann', null, 'Looking.')]), /notes/)
})

test('killed pods have a row only if no rollout replaced them', () => {
  const rollout = IMAGE.changes.filter(({ kind }) => kind === 'rollout').map((one) => ({ ...one, startsAt: startedAt }))
  const killed = [event('Killing', 1, 'Pod/cart-7d9f5b6c8-x2kqp', 'Stopping container cart')]
  assert.doesNotMatch(textOf({ changes: rollout, events: killed }), /\| Killing:/)
  assert.match(textOf({ events: killed }), /\| Killing: Stopping container cart \(Pod\/cart-7d9f5b6c8-x2kqp\)/)
})

test('killed pods of two templates have two rows', () => {
  const killed = ['Pod/cart-7d9f5b6c8-x2kqp', 'Pod/cart-6c9f7d8b5-m8d7q'].map((pod, index) =>
    event('Killing', index * 10, pod, 'Stopping container cart'),
  )
  assert.equal(textOf({ events: killed }).match(/\| Killing:/g)?.length, 2)
})

test('an incident that followed another one refers to it', () => {
  const led = { ref: 'incident/led', title: 'postgres: Down', createdAt: startedAt, startedAt }
  const group = {
    cause: 'postgres',
    leader: led.ref,
    others: [{ ...led, service: { namespace: '', name: 'postgres' } }],
  }
  const facts = { ...BARE, group }
  const text = markdown(generate(facts))
  assert.match(text, /\*\*Cause:\*\* the incident probably followed from “postgres: Down”/)
  assert.match(text, /\*\*Fix:\*\* not known \(/)
  assert.doesNotMatch(text, /may name/)
  assert.match(text, /This incident probably followed from “postgres: Down”/)
  assert.doesNotMatch(text, /No change that could have caused/)
})

test('an own action about an alert takes the place of the proposed one', () => {
  const facts = { ...BARE, alerts: [], incident: { ...IMAGE.incident, origin: 'manual' as const } }
  const document = generate(facts)
  const own = (text: string) => merge(document, { actions: [{ id: 'own', text }] }).actions.map(({ id }) => id)
  assert.ok(own('Buy a second disk').includes('alert-coverage'))
  assert.ok(!own('Alert on every certificate').includes('alert-coverage'))
})

test('the detection says when the first report arrived only if it did so late', () => {
  const arrived = (minutes: number) =>
    markdown(generate({ ...BARE, arrival: { at: startedAt, receivedAt: startedAt + minutes * MINUTE } }))
  assert.match(arrived(20), /- The first report of ImagePullBackOff arrived only at 2026-03-14 02:31:09 UTC \(E2\)\./)
  for (const text of [arrived(4), markdown(generate(BARE))]) assert.doesNotMatch(text, /arrived only/)
})

test('the head names the number of the incident, if it is known', () => {
  assert.match(markdown(generate({ ...BARE, incident: { ...BARE.incident, number: 12 } })), /\n- Incident: 12\n/)
  assert.doesNotMatch(markdown(generate(BARE)), /- Incident:/)
})
