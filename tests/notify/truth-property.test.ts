/**
 * Random histories of services: alerts fire and end, and people acknowledge, silence, resolve and reopen, while the
 * server restarts now and then. No message says that a problem goes on that is over, and no critical condition is
 * missing from the messages. INCMON_HISTORIES sets the number of histories.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { createChannel } from '../../src/actions/channels.ts'
import { recordSent, retake, settleMessage, takeMessage } from '../../src/actions/messages.ts'
import { remind } from '../../src/actions/notifications.ts'
import { listDueChannels } from '../../src/store/notification/outbox.ts'
import { changeIncident, createSilence, expireSilence } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Messages that are true only while the problem is on. */
const BURNING: ReadonlySet<string> = new Set(['opened', 'group', 'worse', 'again', 'reminder', 'escalation'])

const HISTORIES = Number(process.env.INCMON_HISTORIES ?? 200)
const AT_ONCE = 50
const STEP = 10_000
const LENGTH = 50 * MINUTE
const NAMED_WITHIN = 2 * MINUTE + 3 * STEP
const NAMES = ['Down', 'Slow'] as const

type Deed = 'fire' | 'end' | 'ack' | 'resolve' | 'reopen' | 'silence' | 'unsilence'
type Act = { readonly at: number; readonly deed: Deed; readonly name: (typeof NAMES)[number] }

const deeds = fc.record({
  at: fc.integer({ min: 0, max: LENGTH / STEP - 20 }),
  deed: fc.constantFrom<Deed>('fire', 'fire', 'fire', 'end', 'end', 'ack', 'resolve', 'reopen', 'silence', 'unsilence'),
  name: fc.constantFrom(...NAMES),
})
const histories = fc.array(deeds, { minLength: 1, maxLength: 8 })

/** What the senders and people of one service did, which the messages are compared with. */
type World = {
  readonly service: string
  readonly acts: readonly Act[]
  /** When each condition that fires began to fire, or to fire without a silence. */
  readonly firing: Map<string, number>
  /** The conditions that messages have named since the problem last began. */
  readonly named: Set<string>
  readonly opened: Set<string>
  silence: string | null
  /** When the last condition ended. */
  emptyAt: number | null
  /** Whether a person has resolved the incident since the condition began. */
  isResolved: boolean
}

async function play(t: TestContext, all: readonly (readonly Act[])[]): Promise<string[]> {
  const flow = makeFlow(t)
  const faults: string[] = []
  const worlds = all.map((acts, index): World => {
    const service = `service-${index}`
    const rules = [{ services: [service] }]
    createChannel(flow.deps, flow.acme.key, { name: service, kind: 'webhook', target: 'https://a.example/', rules })
    return {
      service,
      acts,
      firing: new Map(),
      named: new Set(),
      opened: new Set(),
      silence: null,
      emptyAt: null,
      isResolved: false,
    }
  })
  for (let step = 0; step * STEP < LENGTH; step += 1) {
    const now = NOON + step * STEP
    flow.clock.now = now
    for (const world of worlds) {
      for (const act of world.acts.filter(({ at }) => at === step)) await happen(flow, world, act)
    }
    while (await flow.deps.engine.sweep());
    if (step % 60 === 59) flow.restart()
    remind(flow.deps)
    for (const found of pump(flow)) check(worlds, found, now, faults)
    for (const world of worlds) missing(world, now, faults)
  }
  return faults
}

async function happen(flow: ReturnType<typeof makeFlow>, world: World, { deed, name }: Act): Promise<void> {
  const { service, firing } = world
  const now = flow.clock.now
  const own = flow.incidents().filter(({ title }) => title.startsWith(`${service}: `))
  const open = own.find(({ status }) => status !== 'resolved')
  const item = (more: object) => alertmanager([alert(name, { service }, more)], { groupKey: `${service} ${name}` })
  if (deed === 'fire' && !firing.has(name)) {
    // After the settle time, the problem is over, and what fires next is news.
    if (firing.size === 0 && world.emptyAt !== null && now - world.emptyAt > MINUTE + STEP) world.named.delete(name)
    firing.set(name, now)
    await flow.send('metrics', item({ startsAt: now }))
  } else if (deed === 'end' && firing.has(name)) {
    firing.delete(name)
    if (firing.size === 0) Object.assign(world, { isResolved: false, emptyAt: now })
    await flow.send('metrics', item({ startsAt: now - 1000, endsAt: now }))
  } else if (deed === 'silence' && world.silence === null) {
    const period = { startsAt: now, endsAt: now + 4 * 60 * MINUTE, schedule: null, comment: 'work' }
    const matchers = [{ name: 'service', op: '=' as const, value: service }]
    world.silence = await createSilence(flow.deps, flow.acme.key, { ...period, matchers } as never, 'Dana')
  } else if (deed === 'unsilence' && world.silence !== null) {
    await expireSilence(flow.deps, flow.acme.key, world.silence)
    world.silence = null
    for (const one of firing.keys()) firing.set(one, now)
  } else if (open && (deed === 'ack' || deed === 'resolve')) {
    const status = deed === 'ack' ? 'investigating' : 'resolved'
    await changeIncident(flow.deps, flow.acme.key, open.id, { status }, 'Dana')
    if (deed === 'resolve') world.isResolved = true
  } else if (!open && own[0] && deed === 'reopen') {
    await changeIncident(flow.deps, flow.acme.key, own[0].id, { status: 'open' }, 'Dana')
    world.isResolved = false
    for (const one of firing.keys()) firing.set(one, now)
  }
}

/** Sends what is due, and returns the notifications of each message. */
function pump({ deps }: ReturnType<typeof makeFlow>) {
  return listDueChannels(deps.db, deps.now()).flatMap(({ channelId }) => {
    const found = []
    for (let taken = takeMessage(deps, channelId); taken; taken = takeMessage(deps, channelId)) {
      const message = retake(deps, taken)
      if (!message) continue
      recordSent(deps, message, { title: 'x', body: '' })
      settleMessage(deps, message, { status: 200, detail: null, remoteId: null, retryAfter: 0 }, 0)
      found.push(...message.items)
    }
    return found
  })
}

type Item = ReturnType<typeof pump>[number]

function check(worlds: readonly World[], item: Item, now: number, faults: string[]): void {
  const { kind, service, incident, names, isDigest } = item
  const world = worlds.find((one) => one.service === service.name)
  if (!world) return
  const at = `${(now - NOON) / MINUTE} min: ${kind} about ${service.name} ${JSON.stringify(world.acts)}`
  const isOn = world.firing.size > 0 && world.silence === null
  if (BURNING.has(kind) && !isDigest && !isOn) faults.push(`false, ${at}`)
  if (kind === 'opened' && world.opened.has(incident.id)) faults.push(`twice, ${at}`)
  if (kind === 'opened') world.opened.add(incident.id)
  if (kind === 'recovered' && !isDigest && isOn) faults.push(`all-clear while it burns, ${at}`)
  for (const name of [...names, ...(isDigest ? incident.problem.firing : [])]) world.named.add(name)
}

function missing(world: World, now: number, faults: string[]): void {
  const { firing, named, service, silence, isResolved, acts } = world
  if (silence !== null || isResolved) return
  for (const [name, since] of firing) {
    if (now - since < NAMED_WITHIN || named.has(name)) continue
    faults.push(`missing at ${(now - NOON) / MINUTE} min: ${name} of ${service} ${JSON.stringify(acts)}`)
    named.add(name)
  }
}

test(`${HISTORIES} random histories have no false and no missing message`, { timeout: 3_600_000 }, async (t) => {
  const seed = Number(process.env.INCMON_SEED ?? 7)
  const all = fc.sample(histories, { numRuns: HISTORIES, seed })
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const faults = await play(t, all.slice(from, from + AT_ONCE))
    assert.deepEqual(faults.slice(0, 5), [], `${faults.length} faults with the seed ${seed}`)
  }
})
