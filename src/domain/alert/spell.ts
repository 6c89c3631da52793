/** Spells: from when to when each object shows a condition, out of the evidence for it. */
import { quietAfter } from '../event/lasting.ts'
import type { Evidence, Mark, Sighting } from './evidence.ts'

const SECOND = 1_000
/**
 * How long a pod may still show trouble while it is shut down: probes go on until its containers have ended, by default
 * within 30 seconds (`terminationGracePeriodSeconds`), and the kubelet needs a moment more.
 */
const SHUTDOWN = 60 * SECOND
/** Events closer to each other belong to one attempt: the kubelet's first back-off and a probe's period are 10 seconds. */
const ATTEMPT = 10 * SECOND

/** The latest period in which an object showed a condition. Times in milliseconds UTC. */
export type Spell = {
  readonly object: string
  /** Its first occurrence in this spell. */
  readonly since: number
  readonly lastAt: number
  /** How often it was seen in this spell, at least 1. */
  readonly count: number
  /** When the object recovered or was deleted; null if neither was reported. */
  readonly recoveredAt: number | null
  /** When it is over if nothing repeats it. */
  readonly quietAt: number
}

/** What decides about spells beside the evidence: the condition's reason group, and whether its sender reports repeats. */
export type SpellRules = { readonly name: string; readonly repeats: boolean }

/** Returns the latest spell of each object, in order of their start. */
export function spellsOf(evidence: Evidence, rules: SpellRules): Spell[] {
  const byObject = Map.groupBy(evidence.seen, ([, object]) => object)
  const spells = [...byObject].map(([object, seen]) => latestSpell(object, seen, endsOf(evidence, object), rules))
  return spells.sort((a, b) => a.since - b.since || (a.object < b.object ? -1 : 1))
}

/** Returns the spells that continue at `now`. `lasts`: spells without repeats continue too. */
export function ongoing(spells: readonly Spell[], now: number, lasts = false): Spell[] {
  return spells.filter(({ recoveredAt, quietAt }) => recoveredAt === null && (lasts || quietAt > now))
}

/** When an object recovered and when it was deleted, each in order of time. */
type Ends = { readonly recovered: readonly number[]; readonly gone: readonly number[] }

function endsOf({ recovered, gone }: Evidence, object: string): Ends {
  const isOwn = (name: string) => (name.endsWith('*') ? `${object}-`.startsWith(name.slice(0, -1)) : name === object)
  const own = (marks: readonly Mark[]) => marks.flatMap(([at, name]) => (isOwn(name) ? [at] : []))
  return { recovered: own(recovered), gone: own(gone) }
}

type Building = {
  readonly since: number
  readonly lastAt: number
  readonly count: number
  readonly attempts: number
  /** Of each series of repeats, by its first time, how many belong to earlier spells. */
  readonly earlier: ReadonlyMap<number, number>
}

function latestSpell(object: string, seen: readonly Sighting[], ends: Ends, rules: SpellRules): Spell {
  let spell: Building | null = null as Building | null
  const counted = new Map<number, number>()
  for (const sighting of seen) {
    spell =
      spell && continues(spell, sighting, ends, rules, counted)
        ? extended(spell, sighting)
        : begun(sighting, counted, rules)
    counted.set(sighting[2], Math.max(counted.get(sighting[2]) ?? 0, sighting[3]))
  }
  const { since = 0, lastAt = 0 } = spell ?? {}
  const count = attemptsOf(spell)
  const recovered = ends.recovered.filter((at) => at >= lastAt)
  const gone = ends.gone.filter((at) => at >= since && at + SHUTDOWN >= lastAt)
  const first = Math.min(...recovered, ...gone)
  const quietAt = lastAt + quietAfter(rules.name, { count }, rules.repeats)
  return { object, since, lastAt, count, recoveredAt: first === Number.POSITIVE_INFINITY ? null : first, quietAt }
}

/** Returns the number of attempts. Events of several containers within a short time are one attempt. */
function attemptsOf(spell: Building | null): number {
  if (!spell) return 1
  const lasted = spell.lastAt - spell.since
  // Without a first time nothing is known but the count.
  return lasted === 0 ? spell.count : Math.min(spell.count, 1 + Math.floor(lasted / ATTEMPT))
}

/** Returns whether the condition did not end between the two sightings. */
function continues(
  spell: Building,
  [at, , since, count]: Sighting,
  ends: Ends,
  rules: SpellRules,
  counted: ReadonlyMap<number, number>,
): boolean {
  if (ends.recovered.some((end) => end >= spell.lastAt && end < at)) return false
  if (ends.gone.some((end) => end >= spell.since && end + SHUTDOWN < at)) return false
  // Of a series that was counted before, the new repeats lie between its last count and this one.
  const from = counted.has(since) ? spell.lastAt : since
  const repeats = counted.has(since) ? count - (counted.get(since) ?? 0) : count - 1
  const gap = (at - from) / Math.max(1, repeats)
  const isDense = gap <= quietAfter(rules.name, { count: attemptsOf(spell) }, rules.repeats)
  const begins = isDense && !counted.has(since) ? since : isDense ? spell.lastAt : at
  return begins <= spell.lastAt + quietAfter(rules.name, { count: attemptsOf(spell) }, rules.repeats)
}

function extended(spell: Building, [at, , since, count]: Sighting): Building {
  const attempts = at - spell.lastAt >= ATTEMPT ? spell.attempts + 1 : spell.attempts
  const own = count - (spell.earlier.get(since) ?? 0)
  return { ...spell, lastAt: at, attempts, count: Math.max(spell.count, own, attempts) }
}

/**
 * A spell that begins with this sighting. Kubernetes counts an event on for as long as it remembers it, also after quiet
 * days: if its repeats are further apart than the condition lasts, or were counted in an earlier spell, the spell begins
 * with the last of them.
 */
function begun([at, , since, count]: Sighting, counted: ReadonlyMap<number, number>, rules: SpellRules): Building {
  const gap = (at - since) / Math.max(1, count - 1)
  const isDense = !counted.has(since) && gap <= quietAfter(rules.name, { count }, rules.repeats)
  const own = isDense ? count : 1
  const earlier = new Map(counted).set(since, count - own)
  return { since: isDense ? since : at, lastAt: at, count: own, attempts: 1, earlier }
}
