/**
 * Random histories of services: alerts fire, rise from warning to critical and end, from one sender or two, and people
 * acknowledge, silence, resolve, reopen, declare and merge, while the server restarts now and then. Each service has up to
 * three channels with up to two rules, quiet hours and receivers that fail, which are added, changed, disabled and
 * deleted. No message says that a problem goes on that is over, or that it was critical for longer than it was, and no
 * critical condition is missing from the messages of a channel that wants it. INCMON_HISTORIES sets the number of
 * histories.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { changeChannel, createChannel, removeChannel } from '../../src/actions/channels.ts'
import { recordSent, retake, settleMessage, takeMessage } from '../../src/actions/messages.ts'
import { remind } from '../../src/actions/notifications.ts'
import { OVER } from '../../src/domain/notification/kind.ts'
import type { Rule } from '../../src/domain/notification/rule.ts'
import { TRY_EVERY } from '../../src/domain/notification/schedule.ts'
import { listDueChannels } from '../../src/store/notification/outbox.ts'
import { changeIncident, createIncident, createSilence, expireSilence, mergeIncidents } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { inCi } from '../helpers/in-ci.ts'
import { criticalMsOf } from '../helpers/lengths.ts'
import { testHistories } from '../helpers/random-histories.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Messages that are true only while the problem is on. */
const BURNING: ReadonlySet<string> = new Set(['opened', 'group', 'worse', 'again', 'reminder', 'escalation'])

/** Messages whose text names all that fires, and not only what is new. */
const ALL_NAMED: ReadonlySet<string> = new Set(['opened', 'again', 'reminder', 'escalation'])

const HISTORIES = Number(process.env.INCMON_HISTORIES ?? inCi(200, 50))
const STEP = 10_000
const LENGTH = 50 * MINUTE
const NAMED_WITHIN = 2 * MINUTE + 3 * STEP
const NAMES = ['Down', 'Slow'] as const
/** The label by which rules tell the two alerts apart. */
const TEAM = { Down: 'a', Slow: 'b' } as const

const DEEDS = [
  ...(['warn', 'fire', 'fire', 'fire', 'end', 'end', 'calm', 'ack', 'lower', 'resolve', 'reopen'] as const),
  ...(['silence', 'unsilence', 'declare', 'merge'] as const),
] as const
type Act = { readonly at: number; readonly deed: (typeof DEEDS)[number]; readonly name: (typeof NAMES)[number] }

const step = fc.integer({ min: 0, max: LENGTH / STEP - 20 })
const deeds = fc.record({ at: step, deed: fc.constantFrom(...DEEDS), name: fc.constantFrom(...NAMES) })
const period = fc.record({ from: fc.integer({ min: 0, max: 150 }), length: fc.integer({ min: 1, max: 90 }) })
const rules = fc.array(
  fc.record({
    by: fc.constantFrom('service', 'service', 'team a', 'team b', 'namespace', 'another namespace'),
    /** Whether the rule wants only what is critical, and whether it has quiet hours. */
    isStrict: fc.boolean(),
    isQuiet: fc.constantFrom(true, false, false),
  }),
  { minLength: 1, maxLength: 2 },
)
const channels = fc.record({
  rules,
  /** When the channel is added, gets other rules, and is deleted, in steps. */
  addedAt: fc.oneof(fc.constant(0), fc.constant(0), step),
  change: fc.option(fc.record({ at: step, rules })),
  deletedAt: fc.option(step, { freq: 5 }),
  /** When the receiver fails, and when the channel is disabled, in steps. */
  down: fc.option(period),
  off: fc.option(period),
})
const histories = fc.record({
  acts: fc.array(deeds, { minLength: 1, maxLength: 8 }),
  channels: fc.array(channels, { minLength: 1, maxLength: 3 }),
  /** Whether a second sender reports each alert and each end, too, a step later. */
  isTwice: fc.boolean(),
})
type History = ReturnType<typeof histories.generate>['value']
type Wanted = History['channels'][number]['rules'][number]

const QUIET_UNTIL = NOON + 20 * MINUTE
const QUIET = { from: '12:05', to: '12:20', timeZone: 'UTC' }

/** A channel, and what it was told. */
type Listening = {
  readonly wanted: History['channels'][number]
  readonly name: string
  /** When the receiver fails, and when the channel is disabled, as Unix times in milliseconds. */
  readonly down: { readonly from: number; readonly until: number }
  readonly off: { readonly from: number; readonly until: number }
  id: string | null
  rules: readonly Wanted[]
  /** When the channel was added, or last got other rules. */
  since: number
  /** The conditions that messages have named since the problem last began. */
  readonly named: Set<string>
  readonly opened: Set<string>
  /** Whether the last message was an all-clear. */
  isClear: boolean
}

/** What the senders and people of one service did, which the messages are compared with. */
type World = {
  readonly service: string
  readonly history: History
  readonly channels: readonly Listening[]
  /** The conditions that fire as a warning. */
  readonly warned: Set<string>
  /** For how long the service has been critical without a silence. */
  criticalMs: number
  /** When each condition that fires began to fire, or to fire without a silence. */
  readonly firing: Map<string, number>
  silence: string | null
  /** When the last condition ended. */
  emptyAt: number | null
  /** Whether a person has resolved the incident since the condition began. */
  isResolved: boolean
  /** Whether a person has declared an incident: its problem goes on until a person resolves it. */
  hasDeclared: boolean
  /** What had fired when a user lowered the severity. A channel that wants only what is critical hears no more of it. */
  readonly lowered: Set<string>
  /** What the second sender still has to send. */
  readonly pending: { readonly at: number; readonly body: ReturnType<typeof alertmanager> }[]
}

type Flow = ReturnType<typeof makeFlow>

async function play(t: TestContext, all: readonly History[]): Promise<string[]> {
  const flow = makeFlow(t)
  const faults: string[] = []
  const worlds = all.map((history, index) => worldOf(history, `service-${index}`))
  for (let step = 0; step * STEP < LENGTH; step += 1) {
    const now = NOON + step * STEP
    flow.clock.now = now
    for (const world of worlds) {
      for (const channel of world.channels) change(flow, world, channel, step)
      for (const { body } of world.pending.filter(({ at }) => at === now)) await flow.send('metrics', body)
      for (const act of world.history.acts.filter(({ at }) => at === step)) await happen(flow, world, act)
    }
    while (await flow.deps.engine.sweep());
    if (step % 60 === 59) flow.restart()
    remind(flow.deps)
    for (const found of pump(flow, worlds)) check(worlds, found, now, faults)
    for (const world of worlds) for (const channel of world.channels) missing(world, channel, now, faults)
    for (const world of worlds) if (world.firing.size > 0 && world.silence === null) world.criticalMs += STEP
  }
  return faults
}

function worldOf(history: History, service: string): World {
  const listening = history.channels.map((wanted, index): Listening => {
    const [down, off] = [periodOf(wanted.down), periodOf(wanted.off)]
    const told = { named: new Set<string>(), opened: new Set<string>(), isClear: false }
    return { wanted, name: `${service} ${index}`, down, off, id: null, rules: wanted.rules, since: 0, ...told }
  })
  const sets = { warned: new Set<string>(), lowered: new Set<string>(), firing: new Map<string, number>() }
  const state = { criticalMs: 0, silence: null, emptyAt: null, isResolved: false, hasDeclared: false, pending: [] }
  return { service, history, channels: listening, ...sets, ...state }
}

function periodOf(steps: History['channels'][number]['down']) {
  const from = steps === null ? Number.POSITIVE_INFINITY : NOON + steps.from * STEP
  return { from, until: from + (steps?.length ?? 0) * STEP }
}

function rulesOf(wanted: readonly Wanted[], service: string): Rule[] {
  return wanted.map(({ by, isStrict, isQuiet }) => {
    const team = by.startsWith('team') ? by.slice(-1) : null
    return {
      services: [service],
      ...(isStrict ? { minSeverity: 'critical' as const } : {}),
      ...(isQuiet ? { quietHours: QUIET } : {}),
      ...(team === null ? {} : { matchers: [{ name: 'team', op: '=' as const, value: team }] }),
      ...(by.endsWith('namespace') ? { namespaces: [by === 'namespace' ? 'shop' : 'bank'] } : {}),
    }
  })
}

/** Adds, changes and deletes a channel. */
function change({ deps, acme }: Flow, { service }: World, channel: Listening, step: number): void {
  const { wanted, name, off } = channel
  const now = NOON + step * STEP
  if (step === wanted.addedAt) {
    const rules = rulesOf(channel.rules, service)
    channel.id = createChannel(deps, acme.key, { name, kind: 'webhook', target: 'https://a.example/', rules }).id
    channel.since = now
  }
  if (channel.id === null) return
  if (now === off.from) changeChannel(deps, acme.key, channel.id, { enabled: false })
  if (now === off.until) changeChannel(deps, acme.key, channel.id, { enabled: true })
  if (step === wanted.change?.at) {
    channel.rules = wanted.change.rules
    channel.since = now
    changeChannel(deps, acme.key, channel.id, { rules: rulesOf(channel.rules, service) })
  }
  if (step === wanted.deletedAt) {
    removeChannel(deps, acme.key, channel.id)
    channel.id = null
  }
}

async function happen(flow: Flow, world: World, { deed, name }: Act): Promise<void> {
  const { service, firing, warned, channels: listening } = world
  const now = flow.clock.now
  const own = flow.incidents().filter(({ title }) => title.startsWith(`${service}: `))
  const open = own.filter(({ status }) => status !== 'resolved')
  const [first, second] = open
  const labels = { service, team: TEAM[name] }
  const warning = () => (warned.has(name) ? [alert(name, { ...labels, severity: 'warning' }, { startsAt: NOON })] : [])
  const send = async (items: ReturnType<typeof warning>) => {
    const groupKey = `${service} ${name}`
    await flow.send('metrics', alertmanager(items, { groupKey }))
    if (!world.history.isTwice) return
    world.pending.push({ at: now + STEP, body: alertmanager(items, { groupKey, receiver: 'second' }) })
  }
  const item = (more: object) => send([alert(name, labels, more), ...warning()])
  if (deed === 'warn' && !warned.has(name) && !firing.has(name)) {
    warned.add(name)
    await send(warning())
  } else if (deed === 'calm' && warned.has(name) && !firing.has(name)) {
    warned.delete(name)
    await send([alert(name, { ...labels, severity: 'warning' }, { startsAt: NOON, endsAt: now })])
  } else if (deed === 'fire' && !firing.has(name)) {
    // After the settle time, the problem is over, and what fires next is news, unless a declared incident goes on.
    const isOver = firing.size === 0 && world.emptyAt !== null && now - world.emptyAt > MINUTE + STEP
    const isDeclared = open.some(
      ({ origin, problem }) => origin === 'manual' || JSON.parse(problem).declared.length > 0,
    )
    // A channel that was off when it was over, and is off still, knows nothing of that.
    const isNews = ({ off }: Listening) => (world.emptyAt ?? 0) + MINUTE < off.from || now >= off.until
    if (isOver && !isDeclared) for (const one of listening) if (isNews(one)) one.named.delete(name)
    firing.set(name, now)
    await item({ startsAt: now })
  } else if (deed === 'end' && firing.has(name)) {
    firing.delete(name)
    if (firing.size === 0) Object.assign(world, { isResolved: false, emptyAt: now })
    await item({ startsAt: now - 1000, endsAt: now })
  } else if (deed === 'silence' && world.silence === null) {
    const period = { startsAt: now, endsAt: now + 4 * 60 * MINUTE, schedule: null, comment: 'work' }
    const matchers = [{ name: 'service', op: '=' as const, value: service }]
    world.silence = await createSilence(flow.deps, flow.acme.key, { ...period, matchers } as never, 'Dana')
  } else if (deed === 'unsilence' && world.silence !== null) {
    await expireSilence(flow.deps, flow.acme.key, world.silence)
    world.silence = null
    for (const one of firing.keys()) firing.set(one, now)
  } else if (deed === 'declare') {
    const serviceId = flow.service(service)?.id
    const title = `${service}: declared`
    if (serviceId === undefined || first?.title === title || second?.title === title) return
    await createIncident(flow.deps, flow.acme.key, { title, serviceId, severity: 'critical' }, 'Dana')
    world.hasDeclared = true
  } else if (deed === 'merge' && first && second) {
    const [from, into] = name === 'Down' ? [first.id, second.id] : [second.id, first.id]
    await mergeIncidents(flow.deps, flow.acme.key, { from, into }, 'Dana')
  } else if (first && deed === 'lower') {
    await changeIncident(flow.deps, flow.acme.key, first.id, { severity: 'warning' }, 'Dana')
    for (const one of JSON.parse(first.problem).had) world.lowered.add(one)
  } else if (first && (deed === 'ack' || deed === 'resolve')) {
    const status = deed === 'ack' ? 'investigating' : 'resolved'
    await changeIncident(flow.deps, flow.acme.key, first.id, { status }, 'Dana')
    if (deed === 'resolve') world.isResolved = true
  } else if (!first && own[0] && deed === 'reopen') {
    const isRefused = (error: { readonly code?: string }) => assert.equal(error.code, 'conflict') === undefined
    const done = changeIncident(flow.deps, flow.acme.key, own[0].id, { status: 'open' }, 'Dana')
    // A merged incident cannot be reopened.
    if (await done.then(() => false, isRefused)) return
    world.isResolved = false
    for (const one of firing.keys()) firing.set(one, now)
  }
}

/** Sends what is due, and returns the notifications of each message. A receiver that is down gets nothing. */
function pump({ deps }: Flow, worlds: readonly World[]) {
  const listening = new Map(worlds.flatMap(({ channels: all }) => all.map((one) => [one.name, one] as const)))
  return listDueChannels(deps.db, deps.now()).flatMap(({ channelId }) => {
    const found = []
    for (let taken = takeMessage(deps, channelId); taken; taken = takeMessage(deps, channelId)) {
      const message = retake(deps, taken)
      const channel = message && listening.get(message.channel.name)
      if (!message || !channel) continue
      recordSent(deps, message, { title: 'x', body: '' })
      const isDown = deps.now() >= channel.down.from && deps.now() < channel.down.until
      settleMessage(deps, message, { status: isDown ? 503 : 200, detail: null, remoteId: null, retryAfter: 0 }, 0)
      const over = new Set(message.items.flatMap(({ kind, incident }) => (OVER.has(kind) ? [incident.id] : [])))
      const isPast = ({ incident }: (typeof message.items)[number]) => over.has(incident.id)
      found.push(...message.items.map((item) => ({ ...item, channel, isDelivered: !isDown, isPast: isPast(item) })))
    }
    return found
  })
}

type Item = ReturnType<typeof pump>[number]

function check(worlds: readonly World[], item: Item, now: number, faults: string[]): void {
  const { kind, service, incident, names, isDigest, isDelivered, isPast, channel } = item
  const world = worlds.find((one) => one.service === service.name)
  if (!world) return
  const at = `${(now - NOON) / MINUTE} min: ${kind} to ${channel.name} ${JSON.stringify(world.history)}`
  const isFiring = world.firing.size > 0 && world.silence === null
  const isDeclared = incident.origin === 'manual' || incident.problem.declared.length > 0
  // What began and ended before a message could be sent is told with its end.
  if (BURNING.has(kind) && !isDigest && !isFiring && !isDeclared && !(kind === 'opened' && isPast))
    faults.push(`false, ${at}`)
  // Each of at most eight periods is known with the precision of a step.
  const extra = criticalMsOf(incident.problem, now) - world.criticalMs
  if (extra > 8 * STEP && !world.hasDeclared) faults.push(`critical for ${extra / 1000} s too long, ${at}`)
  if (!isDelivered) return
  if (kind === 'opened' && channel.opened.has(incident.id)) faults.push(`twice, ${at}`)
  if (kind === 'opened') channel.opened.add(incident.id)
  const isOver = kind === 'recovered' && !isDigest
  if (isOver && isFiring && !world.hasDeclared) faults.push(`all-clear while it burns, ${at}`)
  if (isOver && !channel.opened.has(incident.id)) faults.push(`all-clear of what was not told, ${at}`)
  if (isOver && channel.isClear && !world.hasDeclared) faults.push(`two all-clears, ${at}`)
  channel.isClear = isOver
  if (isOver) world.lowered.clear()
  // The texts of these messages name all that fires.
  const all = isDigest || ALL_NAMED.has(kind) ? incident.problem.firing : []
  for (const name of [...names, ...all]) channel.named.add(name)
}

function missing(world: World, channel: Listening, now: number, faults: string[]): void {
  const { firing, service, silence, isResolved, history, lowered } = world
  const { named, down, off, rules: own } = channel
  if (silence !== null || isResolved || channel.id === null) return
  for (const [name, began] of firing) {
    // A rule that wants only what is critical hears no more of what a user has lowered.
    const wanting = own.filter((rule) => isAbout(rule, name) && !(rule.isStrict && lowered.has(name)))
    const from = Math.max(began, channel.since)
    const heard = wanting.map(({ isQuiet }) =>
      isQuiet && from < QUIET_UNTIL ? Math.max(from, QUIET_UNTIL - NAMED_WITHIN + TRY_EVERY) : from,
    )
    const earliest = Math.min(...heard)
    const since = now >= off.from ? Math.max(earliest, off.until) : earliest
    if (wanting.length === 0 || now - since < NAMED_WITHIN || named.has(name)) continue
    // What the receiver missed waits for the next attempt. What began later does not.
    if (began < down.until && now >= down.from) continue
    faults.push(
      `missing at ${(now - NOON) / MINUTE} min: ${name} of ${service} ${channel.name} ${JSON.stringify(history)}`,
    )
    named.add(name)
  }
}

function isAbout({ by }: Wanted, name: string): boolean {
  if (by.startsWith('team')) return TEAM[name as keyof typeof TEAM] === by.slice(-1)
  return by !== 'another namespace'
}

testHistories(
  `${HISTORIES} random histories have no false and no missing message`,
  histories,
  { count: HISTORIES, atOnce: 50 },
  play,
)
