/** Plays a story about one service through the rules for incidents. tests/domain/problem-stories.test.ts explains it. */

import { healthOf } from '../../src/domain/health/health.ts'
import { acknowledged, onAgain } from '../../src/domain/incident/acknowledgement.ts'
import { decide } from '../../src/domain/incident/incident.ts'
import type { Ended } from '../../src/domain/incident/problem.ts'
import { left, NO_PROBLEM, observeLeft, type Problem, reopened } from '../../src/domain/incident/problem.ts'
import type { CurrentIncident, SituationAlert, Step } from '../../src/domain/incident/situation.ts'
import { MINUTE, NOON, situationAlert } from './signals.ts'

type World = {
  now: number
  incident: (CurrentIncident & { acknowledgedAt: number | null }) | null
  suppressed: boolean
  silenced: boolean
  resolveAfter: number | null
  /** Whether the silence has just ended. */
  freed: boolean
  readonly firing: Map<string, SituationAlert>
  ended: Ended[]
  news: string[]
  /** New conditions that are told later. They are told once, while they fire. */
  gathered: { readonly names: readonly string[]; readonly toldAt: number }[]
}

/** Returns the status and the messages after each step, and those that the story expects. */
export function play(story: string) {
  const world: World = {
    ...{ now: NOON, incident: null, suppressed: false, silenced: false, freed: false, resolveAfter: 30 * MINUTE },
    ...{ firing: new Map(), ended: [], news: [], gathered: [] },
  }
  const told: string[] = []
  const expected: string[] = []
  for (const line of story.split('; ')) {
    if (line === 'off') world.resolveAfter = null
    else if (line.startsWith('resolve ')) world.resolveAfter = Number(line.slice(8)) * MINUTE
    else {
      const [what = '', then = ''] = line.split(' → ')
      const [minute = '', ...deeds] = what.split(' ')
      world.now = NOON + Number(minute) * MINUTE
      world.news = []
      for (const deed of deeds) happen(world, deed)
      evaluate(world)
      told.push(`${minute}: ${world.incident?.status ?? 'none'} ${world.news.join(', ')}`)
      const [status = '', news = ''] = then.split(': ')
      expected.push(`${minute}: ${status} ${news}`)
    }
  }
  return { told, expected, problem: world.incident?.problem ?? null, now: world.now }
}

function happen(world: World, deed: string): void {
  const { incident, now, firing } = world
  const name = deed.replace(/^[-~=]/, '')
  const touched = incident && { ...incident, touchedAt: now }
  if (deed === 'now') return
  if (deed === 's' || deed === '-s') Object.assign(world, { silenced: deed === 's', freed: deed === '-s' })
  else if (deed === 'note') world.incident = touched
  else if (deed === 'ack' || deed === 'monitor') acknowledge(world, deed === 'ack' ? 'investigating' : 'monitoring')
  else if (deed === 'resolve' && touched) {
    world.incident = { ...touched, status: 'resolved', problem: left(touched.problem, now) }
    world.suppressed = true
    world.news.push('resolved')
  } else if (deed === 'reopen' && touched) {
    const problem = reopened(touched.problem, 'automatic', now)
    world.incident = { ...touched, status: 'open', problem }
    world.news.push('reopened')
  } else if (deed.startsWith('-') || deed.startsWith('~')) {
    firing.delete(name)
    world.ended = [{ name, endsAt: now, isGuess: deed.startsWith('~') }]
  } else {
    const startsAt = deed.startsWith('=') ? NOON : now
    const hasIncident = firing.get(name)?.hasIncident ?? false
    const alert = {
      uuid: name,
      name,
      severity: 'critical',
      startsAt,
      since: startsAt,
      onset: startsAt,
      freed: null,
      begunAt: startsAt,
      wasSilenced: false,
      hasIncident,
    } as const
    if (!firing.has(name)) firing.set(name, situationAlert(alert))
  }
}

function acknowledge(world: World, status: 'investigating' | 'monitoring'): void {
  const { incident, now } = world
  if (!incident) return
  const change = acknowledged(incident, status, 'Ann', now)
  if ('acknowledgedAt' in change) world.news.push('acknowledged')
  world.incident = { ...incident, status, touchedAt: now, ...change }
}

/** Follows a problem that goes on after its incident was resolved. */
function followLeft(world: World): void {
  const { now, incident, silenced, firing, ended } = world
  if (incident?.status !== 'resolved' || (incident.problem.since === null && !incident.problem.isMuted)) return
  const all = [...firing.values()].filter(({ hasIncident }) => hasIncident)
  const [known, muted] = silenced ? [[], all] : [all, []]
  const critical = new Set(healthOf(known, now).critical.map(({ alertId }) => alertId))
  const burning = known.filter(({ uuid }) => critical.has(uuid))
  world.incident = { ...incident, problem: observeLeft(incident.problem, { now, burning, ended, muted }) }
}

function evaluate(world: World): void {
  followLeft(world)
  const { now, incident, silenced, firing, suppressed, resolveAfter } = world
  const known = [...firing.values()]
  const alerts = silenced
    ? []
    : known.map((one) => ({ ...one, freed: world.freed ? { startsAt: NOON, endsAt: world.now } : null }))
  const isOpen = incident !== null && incident.status !== 'resolved'
  const { critical } = healthOf(alerts, now)
  const decision = decide({
    ...{ now, opens: true, resolveAfter, serviceName: 'cart', suppressed, about: null, joins: true },
    critical,
    ...{ alerts, candidates: alerts, explained: new Set<string>(), elsewhere: [], ended: world.ended },
    muted: silenced ? known : [],
    current: isOpen ? incident : null,
    last: isOpen || !incident ? null : { ...incident, resolvedAt: null, alertCount: 1 },
  })
  world.suppressed = decision.suppressed
  if (incident && decision.problem) world.incident = { ...incident, problem: decision.problem }
  for (const step of decision.steps) apply(world, step)
  tellGathered(world)
  for (const [name, alert] of firing) {
    if (world.incident && world.incident.status !== 'resolved') firing.set(name, { ...alert, hasIncident: true })
  }
  Object.assign(world, { ended: [], freed: false })
}

/** Tells what was gathered, as a channel does that was told of the opening. */
function tellGathered(world: World): void {
  const { now, incident, gathered, news } = world
  const firing = incident?.problem.firing ?? []
  const isTold = ({ names, toldAt }: World['gathered'][number]) =>
    toldAt <= now && names.some((name) => firing.includes(name))
  if (gathered.some(isTold)) news.push('worse')
  world.gathered = incident?.problem.isOver ? [] : gathered.filter((one) => !isTold(one))
}

function apply(world: World, step: Step): void {
  const { now, incident, news } = world
  const tell = (what: string, { flapsSince }: Problem) =>
    news.push(flapsSince === null ? what : flapsSince === now && what === 'again' ? 'flapping' : 'digest')
  if (step.do === 'open') {
    const kind = { severity: 'critical', origin: 'automatic', cause: 'service' } as const
    const base = { ...kind, touchedAt: null, acknowledgedAt: null }
    world.incident = { ...base, status: 'open', createdAt: now, problem: { ...NO_PROBLEM, ...step.problem } }
    news.push('opened')
    return
  }
  if (!incident) return
  if (step.do === 'worsen') world.gathered.push(step)
  if (step.do === 'uncover') news.push('again')
  if (step.do === 'recover') {
    world.incident = { ...incident, status: 'monitoring', problem: step.problem }
    tell('recovered', step.problem)
  }
  if (step.do === 'resolve') {
    world.incident = { ...incident, status: 'resolved' }
    if (step.isTold) news.push('resolved')
  }
  if (step.do === 'return') {
    world.incident = { ...incident, ...onAgain(incident, now, step.wasWrong), problem: step.problem }
    tell('again', step.problem)
  }
}
