/**
 * Random histories of services: alerts fire, rise from warning to critical and end, and people acknowledge, silence,
 * resolve and reopen, while the server restarts now and then, channels have quiet hours and receivers fail. No message
 * says that a problem goes on that is over, or that it was critical for longer than it was, and no critical condition is
 * missing from the messages. INCMON_HISTORIES sets the number of histories.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { changeChannel, createChannel } from '../../src/actions/channels.ts'
import { recordSent, retake, settleMessage, takeMessage } from '../../src/actions/messages.ts'
import { remind } from '../../src/actions/notifications.ts'
import { criticalMsOf } from '../../src/domain/incident/problem.ts'
import { TRY_EVERY } from '../../src/domain/notification/schedule.ts'
import { listDueChannels } from '../../src/store/notification/outbox.ts'
import { changeIncident, createSilence, expireSilence } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { inCi } from '../helpers/in-ci.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Messages that are true only while the problem is on. */
const BURNING: ReadonlySet<string> = new Set(['opened', 'group', 'worse', 'again', 'reminder', 'escalation'])

const HISTORIES = Number(process.env.INCMON_HISTORIES ?? inCi(200, 50))
const AT_ONCE = 50
const STEP = 10_000
const LENGTH = 50 * MINUTE
const NAMED_WITHIN = 2 * MINUTE + 3 * STEP
const NAMES = ['Down', 'Slow'] as const

type Deed = 'warn' | 'fire' | 'end' | 'calm' | 'ack' | 'lower' | 'resolve' | 'reopen' | 'silence' | 'unsilence'
type Act = { readonly at: number; readonly deed: Deed; readonly name: (typeof NAMES)[number] }

const deeds = fc.record({
  at: fc.integer({ min: 0, max: LENGTH / STEP - 20 }),
  deed: fc.constantFrom<Deed>(
    ...([
      'warn',
      'fire',
      'fire',
      'fire',
      'end',
      'end',
      'calm',
      'ack',
      'lower',
      'resolve',
      'reopen',
      'silence',
      'unsilence',
    ] as const),
  ),
  name: fc.constantFrom(...NAMES),
})
const histories = fc.record({
  acts: fc.array(deeds, { minLength: 1, maxLength: 8 }),
  /** Whether the channel has quiet hours. */
  isQuiet: fc.constantFrom(true, false, false),
  /** Whether the channel wants only what is critical. */
  isStrict: fc.boolean(),
  /** When the receiver fails, and when the channel is disabled, in steps. */
  down: fc.option(fc.record({ from: fc.integer({ min: 0, max: 150 }), length: fc.integer({ min: 1, max: 90 }) })),
  off: fc.option(fc.record({ from: fc.integer({ min: 0, max: 150 }), length: fc.integer({ min: 1, max: 90 }) })),
})
type History = ReturnType<typeof histories.generate>['value']

const QUIET_UNTIL = NOON + 20 * MINUTE
const QUIET = { from: '12:05', to: '12:20', timeZone: 'UTC' }

/** What the senders and people of one service did, which the messages are compared with. */
type World = {
  readonly service: string
  readonly history: History
  readonly isQuiet: boolean
  /** When the receiver fails, as Unix times in milliseconds. */
  readonly down: { readonly from: number; readonly until: number }
  readonly channelId: string
  readonly off: { readonly from: number; readonly until: number }
  /** The conditions that fire as a warning. */
  readonly warned: Set<string>
  /** For how long the service has been critical without a silence. */
  criticalMs: number
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
  /** Whether the last message was an all-clear. */
  isClear: boolean
  /** What had fired when a user lowered the severity. A channel that wants only what is critical hears no more of it. */
  readonly lowered: Set<string>
}

async function play(t: TestContext, all: readonly History[]): Promise<string[]> {
  const flow = makeFlow(t)
  const faults: string[] = []
  const worlds = all.map((history, index): World => {
    const { isQuiet, isStrict, down, off } = history
    const service = `service-${index}`
    const severity = isStrict ? ({ minSeverity: 'critical' } as const) : {}
    const rules = [{ services: [service], ...severity, ...(isQuiet ? { quietHours: QUIET } : {}) }]
    const wanted = { name: service, kind: 'webhook', target: 'https://a.example/', rules } as const
    return {
      service,
      history,
      isQuiet,
      down: periodOf(down),
      off: periodOf(off),
      channelId: createChannel(flow.deps, flow.acme.key, wanted).id,
      warned: new Set(),
      criticalMs: 0,
      firing: new Map(),
      named: new Set(),
      opened: new Set(),
      silence: null,
      emptyAt: null,
      isResolved: false,
      isClear: false,
      lowered: new Set(),
    }
  })
  for (let step = 0; step * STEP < LENGTH; step += 1) {
    const now = NOON + step * STEP
    flow.clock.now = now
    for (const world of worlds) {
      const { off, channelId } = world
      if (now === off.from) changeChannel(flow.deps, flow.acme.key, channelId, { enabled: false })
      if (now === off.until) changeChannel(flow.deps, flow.acme.key, channelId, { enabled: true })
      for (const act of world.history.acts.filter(({ at }) => at === step)) await happen(flow, world, act)
    }
    while (await flow.deps.engine.sweep());
    if (step % 60 === 59) flow.restart()
    remind(flow.deps)
    for (const found of pump(flow, worlds)) check(worlds, found, now, faults)
    for (const world of worlds) missing(world, now, faults)
    for (const world of worlds) if (world.firing.size > 0 && world.silence === null) world.criticalMs += STEP
  }
  return faults
}

function periodOf(steps: History['down']) {
  const from = steps === null ? Number.POSITIVE_INFINITY : NOON + steps.from * STEP
  return { from, until: from + (steps?.length ?? 0) * STEP }
}

async function happen(flow: ReturnType<typeof makeFlow>, world: World, { deed, name }: Act): Promise<void> {
  const { service, firing, warned } = world
  const now = flow.clock.now
  const own = flow.incidents().filter(({ title }) => title.startsWith(`${service}: `))
  const open = own.find(({ status }) => status !== 'resolved')
  const warning = () => (warned.has(name) ? [alert(name, { service, severity: 'warning' }, { startsAt: NOON })] : [])
  const group = (items: ReturnType<typeof warning>) => alertmanager(items, { groupKey: `${service} ${name}` })
  const item = (more: object) => group([alert(name, { service }, more), ...warning()])
  if (deed === 'warn' && !warned.has(name) && !firing.has(name)) {
    warned.add(name)
    await flow.send('metrics', group(warning()))
  } else if (deed === 'calm' && warned.has(name) && !firing.has(name)) {
    warned.delete(name)
    const ended = { startsAt: NOON, endsAt: now }
    await flow.send('metrics', group([alert(name, { service, severity: 'warning' }, ended)]))
  } else if (deed === 'fire' && !firing.has(name)) {
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
  } else if (open && deed === 'lower') {
    await changeIncident(flow.deps, flow.acme.key, open.id, { severity: 'warning' }, 'Dana')
    for (const one of JSON.parse(open.problem).had) world.lowered.add(one)
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

/** Sends what is due, and returns the notifications of each message. A receiver that is down gets nothing. */
function pump({ deps }: ReturnType<typeof makeFlow>, worlds: readonly World[]) {
  return listDueChannels(deps.db, deps.now()).flatMap(({ channelId }) => {
    const found = []
    for (let taken = takeMessage(deps, channelId); taken; taken = takeMessage(deps, channelId)) {
      const message = retake(deps, taken)
      if (!message) continue
      recordSent(deps, message, { title: 'x', body: '' })
      const world = worlds.find(({ service }) => service === message.channel.name)
      const isDown = world !== undefined && deps.now() >= world.down.from && deps.now() < world.down.until
      const status = isDown ? 503 : 200
      settleMessage(deps, message, { status, detail: null, remoteId: null, retryAfter: 0 }, 0)
      found.push(...message.items.map((item) => ({ ...item, isDelivered: !isDown })))
    }
    return found
  })
}

type Item = ReturnType<typeof pump>[number]

function check(worlds: readonly World[], item: Item, now: number, faults: string[]): void {
  const { kind, service, incident, names, isDigest, isDelivered } = item
  const world = worlds.find((one) => one.service === service.name)
  if (!world) return
  const at = `${(now - NOON) / MINUTE} min: ${kind} about ${service.name} ${JSON.stringify(world.history)}`
  const isOn = world.firing.size > 0 && world.silence === null
  if (BURNING.has(kind) && !isDigest && !isOn) faults.push(`false, ${at}`)
  // Each of at most eight periods is known with the precision of a step.
  const extra = criticalMsOf(incident.problem, now) - world.criticalMs
  if (extra > 8 * STEP) faults.push(`critical for ${extra / 1000} s too long, ${at}`)
  if (!isDelivered) return
  if (kind === 'opened' && world.opened.has(incident.id)) faults.push(`twice, ${at}`)
  if (kind === 'opened') world.opened.add(incident.id)
  if (kind === 'recovered' && !isDigest && isOn) faults.push(`all-clear while it burns, ${at}`)
  if (kind === 'recovered' && !isDigest && world.isClear) faults.push(`two all-clears, ${at}`)
  world.isClear = kind === 'recovered' && !isDigest
  if (world.isClear) world.lowered.clear()
  for (const name of [...names, ...(isDigest ? incident.problem.firing : [])]) world.named.add(name)
}

function missing(world: World, now: number, faults: string[]): void {
  const { firing, named, service, silence, isResolved, history, isQuiet, down, off } = world
  if (silence !== null || isResolved) return
  for (const [name, began] of firing) {
    const heard = isQuiet && began < QUIET_UNTIL ? Math.max(began, QUIET_UNTIL - NAMED_WITHIN + TRY_EVERY) : began
    const since = now >= off.from ? Math.max(heard, off.until) : heard
    if (now - since < NAMED_WITHIN || named.has(name) || (history.isStrict && world.lowered.has(name))) continue
    // What the receiver missed waits for the next attempt. What began later does not.
    if (began < down.until && now >= down.from) continue
    faults.push(`missing at ${(now - NOON) / MINUTE} min: ${name} of ${service} ${JSON.stringify(history)}`)
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
