/**
 * Random histories of alerts that move: users merge incidents and services, rename services, set and remove an alias,
 * acknowledge and silence. What fires is told once for each time it begins, whatever it is called, and nothing is said to be
 * over that goes on. INCMON_HISTORIES sets the number of histories.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { createChannel } from '../../src/actions/channels.ts'
import { recordSent, retake, settleMessage, takeMessage } from '../../src/actions/messages.ts'
import { remind } from '../../src/actions/notifications.ts'
import { OVER } from '../../src/domain/notification/kind.ts'
import { isPartOf } from '../../src/domain/text.ts'
import { listDueChannels } from '../../src/store/notification/outbox.ts'
import {
  changeIncident,
  createSilence,
  expireSilence,
  mergeIncidents,
  mergeServices,
  updateService,
} from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { inCi } from '../helpers/in-ci.ts'
import { testHistories } from '../helpers/random-histories.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const HISTORIES = Number(process.env.INCMON_HISTORIES ?? inCi(100, 25))
const STEP = 10_000
const LENGTH = 25 * MINUTE
/** What is new beside an opening is told after a minute, and what a message waited for, such as a silence, a little later. */
const NAMED_WITHIN = 2 * MINUTE + 3 * STEP
const SETTLED = MINUTE + 2 * STEP
const BURNING: ReadonlySet<string> = new Set(['opened', 'group', 'worse', 'again', 'reminder'])

/** The alerts, and their services. `Lone` has none unless an alias gives it one. */
const NAMES = ['A', 'B', 'C', 'Lone'] as const
type Name = (typeof NAMES)[number]
const SERVICE_OF: Readonly<Record<Name, string>> = { A: 'a', B: 'b', C: 'b', Lone: '' }

const DEEDS = [
  ...(['fire', 'fire', 'fire', 'end', 'ack', 'merge', 'merge', 'silence', 'unsilence'] as const),
  ...(['services', 'back', 'rename', 'alias', 'unalias'] as const),
] as const
const MOVES: ReadonlySet<string> = new Set(['merge', 'services', 'back', 'alias', 'unalias'])
/** Who was told that something is over hears that a merge has brought it back, and what leaves an incident opens another. */
const MOVED_FOR = 2 * MINUTE
const step = fc.integer({ min: 0, max: LENGTH / STEP - 25 })
const deeds = fc.record({ at: step, deed: fc.constantFrom(...DEEDS), name: fc.constantFrom(...NAMES) })
const histories = fc.array(deeds, { minLength: 3, maxLength: 10 })
type History = ReturnType<typeof histories.generate>['value']

type Firing = { readonly since: number; told: boolean }
type World = {
  readonly id: string
  readonly history: History
  readonly firing: Map<Name, Firing>
  readonly silences: Map<Name, string>
  /** When nothing fired any more; 0 if nothing has fired. */
  emptyAt: number
  /** When users last merged something, or changed an alias, which takes alerts that have moved out of their incidents. */
  movedAt: number
  /** What was named since everything was over. */
  readonly had: Set<Name>
}
type Flow = ReturnType<typeof makeFlow>

function send(flow: Flow, { id }: World, name: Name, since: number, endsAt?: number) {
  const service = SERVICE_OF[name]
  const labels = { world: id, ...(service === '' ? { team: id } : { service: `${service}-${id}` }), namespace: '' }
  const item = alert(
    named(id, name),
    { severity: 'critical', ...labels },
    { startsAt: since, ...(endsAt ? { endsAt } : {}) },
  )
  return flow.send('metrics', alertmanager([item], { groupKey: `${id} ${name}` }))
}

/** The alerts without a service have incidents by their names. */
const named = (id: string, name: Name) => `${name}${id}`

const isFree = (world: World, name: Name) => world.firing.has(name) && !world.silences.has(name)

async function happen(flow: Flow, world: World, { deed, name }: History[number]): Promise<void> {
  const { deps, acme } = flow
  const now = flow.clock.now
  const { id, firing, silences } = world
  const own = flow.incidents().filter(({ title }) => NAMES.some((one) => title.includes(named(id, one))))
  const open = own.filter(({ status }) => status !== 'resolved')
  const serviceId = (service: string) => flow.service(`${service}-${id}`)?.id
  if (MOVES.has(deed)) world.movedAt = now
  const [a, b] = [serviceId('a'), serviceId('b') ?? serviceId('renamed')]
  const isRefused = (error: { readonly code?: string }) => assert.equal(error.code, 'conflict')
  const alias = (values: string[]) => {
    const aliases = values.map((value) => ({ kind: 'label' as const, value }))
    return updateService(deps, acme.key, (name === 'B' ? b : a) ?? '', { aliases }).catch(isRefused)
  }
  if (deed === 'fire' && !firing.has(name)) {
    if (firing.size === 0 && now - world.emptyAt > SETTLED) world.had.clear()
    firing.set(name, { since: now, told: false })
    await send(flow, world, name, now)
  } else if (deed === 'end' && firing.has(name)) {
    const since = firing.get(name)?.since ?? now
    firing.delete(name)
    if (firing.size === 0) world.emptyAt = now
    await send(flow, world, name, since, now)
  } else if (deed === 'ack') {
    const first = open.find(({ status }) => status === 'open')
    if (first) await changeIncident(deps, acme.key, first.id, { status: 'investigating' }, 'Ann')
  } else if (deed === 'merge') {
    const [first, second] = name < 'B' ? open : open.toReversed()
    if (first && second) await mergeIncidents(deps, acme.key, { from: second.id, into: first.id }, 'Ann')
  } else if (deed === 'silence' && !silences.has(name)) {
    const matchers = [{ name: 'alertname', op: '=' as const, value: named(id, name) }]
    const period = { startsAt: now, endsAt: now + 240 * MINUTE, schedule: null, comment: 'work' }
    silences.set(name, await createSilence(deps, acme.key, { matchers, ...period } as never, 'Ann'))
  } else if (deed === 'unsilence' && silences.has(name)) {
    await expireSilence(deps, acme.key, silences.get(name) ?? '')
    silences.delete(name)
    if (firing.has(name)) firing.set(name, { since: now, told: false })
  } else if ((deed === 'services' || deed === 'back') && a !== undefined && b !== undefined) {
    await (deed === 'services' ? mergeServices(deps, acme.key, b, a) : mergeServices(deps, acme.key, a, b))
  } else if (deed === 'rename' && serviceId('b') !== undefined) {
    await updateService(deps, acme.key, serviceId('b') ?? '', { name: `renamed-${id}` })
  } else if ((deed === 'alias' || deed === 'unalias') && (name === 'B' ? b : a) !== undefined) {
    await alias(deed === 'alias' ? [`team=${id}`] : [])
  }
}

function check(flow: Flow, world: World, faults: string[]): void {
  const { deps, clock } = flow
  const now = clock.now
  for (const { channelId, items } of pump(flow, world)) {
    assert.ok(channelId > 0)
    for (const { kind, incident, names } of items) {
      const at = `${(now - NOON) / MINUTE} min: ${kind} of ${incident.title} ${JSON.stringify(world.history)}`
      const burning = NAMES.filter((name) => isFree(world, name))
      const isPast = items.some((one) => one.incident.id === incident.id && OVER.has(one.kind))
      if (BURNING.has(kind) && burning.length === 0 && !isPast) faults.push(`false, ${at}`)
      const ofIncident = (name: string): Name[] =>
        NAMES.filter((one) => name === named(world.id, one) || isPartOf(name, named(world.id, one)))
      const fires = incident.problem.firing.flatMap(ofIncident)
      if (kind === 'recovered') {
        const going = deps.db.all(
          deps.db.sql
            .selectFrom('alerts')
            .innerJoin('incidents', 'incidents.id', 'alerts.incident_id')
            .select('alerts.name')
            .where('incidents.number', '=', incident.number)
            .where('ends_at', 'is', null),
        )
        const still = going.flatMap(({ name }) => ofIncident(name)).filter((name) => isFree(world, name))
        if (still.length > 0) faults.push(`all-clear while ${still} burns, ${at}`)
        continue
      }
      const news = kind === 'worse' ? names.flatMap(ofIncident) : kind === 'opened' || kind === 'again' ? fires : []
      const isMoved = kind !== 'worse' && now - world.movedAt <= MOVED_FOR
      const isKnown = news.length > 0 && news.every((name) => world.firing.get(name)?.told)
      if (isKnown && !isMoved) faults.push(`twice, ${at}`)
      if (!BURNING.has(kind)) continue
      for (const name of [...fires, ...names.flatMap(ofIncident)]) {
        world.had.add(name)
        const one = world.firing.get(name)
        if (one) one.told = true
      }
    }
  }
  for (const [name, one] of world.firing) {
    if (one.told || world.had.has(name) || world.silences.has(name) || now - one.since < NAMED_WITHIN) continue
    one.told = true
    faults.push(`missing at ${(now - NOON) / MINUTE} min: ${name} ${JSON.stringify(world.history)}`)
  }
}

function pump({ deps }: Flow, { id }: World) {
  const found = []
  for (const { channelId } of listDueChannels(deps.db, deps.now())) {
    for (let taken = takeMessage(deps, channelId); taken; taken = takeMessage(deps, channelId)) {
      const message = retake(deps, taken)
      if (!message) continue
      recordSent(deps, message, { title: 'x', body: '' })
      settleMessage(deps, message, { status: 200, detail: null, remoteId: null, retryAfter: 0 }, 0)
      found.push({ channelId, name: message.channel.name, items: message.items })
    }
  }
  waiting.push(...found)
  return waiting.splice(0).filter((one) => one.name === id || !waiting.push(one))
}

const waiting: { channelId: number; name: string; items: NonNullable<ReturnType<typeof retake>>['items'] }[] = []

async function play(t: TestContext, all: readonly History[]): Promise<string[]> {
  const flow = makeFlow(t)
  const faults: string[] = []
  const worlds = all.map((history, index): World => {
    const sets = { firing: new Map(), silences: new Map(), had: new Set<Name>() }
    return { id: `w${index}x`, history, emptyAt: 0, movedAt: 0, ...sets }
  })
  for (const { id } of worlds) {
    const rules = [{ matchers: [{ name: 'world', op: '=' as const, value: id }] }]
    const target = { kind: 'webhook', target: 'https://a.example/', remindAfter: 5, remindEvery: 5 } as const
    createChannel(flow.deps, flow.acme.key, { name: id, ...target, rules })
  }
  for (let at = 0; at * STEP < LENGTH; at += 1) {
    flow.clock.now = NOON + at * STEP
    for (const world of worlds) {
      for (const act of world.history.filter((one) => one.at === at)) await happen(flow, world, act)
      if (at % 6 === 5) for (const [name, { since }] of world.firing) await send(flow, world, name, since)
    }
    while (await flow.deps.engine.sweep());
    if (at % 60 === 59) flow.restart()
    remind(flow.deps)
    for (const world of worlds) check(flow, world, faults)
  }
  return faults
}

testHistories(
  `${HISTORIES} random histories tell once of what moves`,
  histories,
  { count: HISTORIES, atOnce: 25 },
  play,
)
