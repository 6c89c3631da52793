/** Orders the incidents of a digest by what is to be said about them, and names them. */

import { severityNow } from '../incident/lasted.ts'
import { phaseOf } from '../incident/problem.ts'
import { rank } from '../severity.ts'
import { LEAST_MEMBERS } from '../suspect/group.ts'
import { countOf, joinNames, timesOf } from '../text.ts'
import { hasOwnTitle, saidNames } from './alert-texts.ts'
import type { MessageKind } from './kind.ts'
import { namedUpTo, shortened } from './names.ts'
import { subjectOf } from './sentences.ts'
import type { MessageItem } from './words.ts'

/** Returns the UUID of the incident that a message names first; null if none of its incidents burns. */
export function firstNamed(all: readonly MessageItem[], now: number): string | null {
  const { news, unowned, known } = sorted(all, now)
  return [...news.flatMap(({ of }) => of), ...unowned, ...known][0]?.incident.id ?? null
}

/** Returns the incidents by what is to be said about them, in the order in which they are named. */
export function sorted(all: readonly MessageItem[], now: number) {
  const items = [...new Map(all.map((item) => [item.incident.id, item])).values()]
  const told = Map.groupBy(all, ({ incident }) => incident.id)
  const newsOf = ({ incident }: MessageItem) => {
    const kinds = told.get(incident.id)?.map(({ kind }) => kind) ?? []
    // After a silence, the problem has gone on all the time.
    const isSame = (kind: MessageKind) => kind === 'again' && incident.problem.covered !== null
    return NEWS.find((news) => kinds.some((kind) => NEWS_OF[kind] === news && !isSame(kind)))
  }
  const states = Object.groupBy(items, (item) => {
    const state = stateOf(item, now)
    return state === 'burning' && item.incident.acknowledgedAt !== null ? 'attended' : state
  })
  const { burning = [], attended = [], ending = [], well = [], ended = [] } = states
  const worst = burning.toSorted((a, b) => rank(severityNow(b.incident)) - rank(severityNow(a.incident)))
  const { fresh = [], back = [], unowned = [], known = [] } = Object.groupBy(worst, (item) => newsOf(item) ?? 'known')
  // A storm that returns says more than a small incident that is new.
  const news = commonOf(back).count > commonOf(fresh).count ? ([back, fresh] as const) : ([fresh, back] as const)
  return { news: news.map((of) => ({ of, isBack: of === back })), unowned, known, attended, ending, well, ended }
}

/** What is new about an incident that burns: it opened, it came back, or nobody has acknowledged it. */
const NEWS = ['fresh', 'back', 'unowned'] as const
const NEWS_OF: Readonly<Partial<Record<MessageKind, (typeof NEWS)[number]>>> = {
  ...{ opened: 'fresh', group: 'fresh', 'sender-silent': 'fresh', again: 'back' },
  ...{ reminder: 'unowned', escalation: 'unowned' },
}

/** Returns the group of most of the incidents, and how many it has; 0 if no three have a cause in common. */
export function commonOf(items: readonly MessageItem[]): { readonly cause: string; readonly count: number } {
  const groups = Map.groupBy(items, ({ group }) => group)
  groups.delete(null)
  const [largest] = [...groups].toSorted(([, a], [, b]) => b.length - a.length)
  const [group, of] = largest ?? [null, []]
  return group && of.length >= LEAST_MEMBERS ? { cause: group.cause, count: of.length } : { cause: '', count: 0 }
}

const STATES = { on: 'burning', muted: 'burning', settling: 'ending', off: 'well' } as const

function stateOf({ incident: { status, problem } }: MessageItem, now: number) {
  return status === 'resolved' ? 'ended' : STATES[phaseOf(problem, now)]
}

/** The number of sentences of a message about one matter, and of the names in each. */
export const MAX_SAID = 5

/** Returns what a digest says of incidents, the same once, and the incidents of which it says only that there are more. */
export function alikeOf(items: readonly MessageItem[], textOf: (item: MessageItem) => string) {
  const groups = Map.groupBy(items, textOf)
  groups.delete('')
  const all = [...groups].map(([text, of]) => ({ text, of }))
  const said = all.length > MAX_SAID + 1 ? all.slice(0, MAX_SAID) : all
  return { said, rest: all.slice(said.length).flatMap(({ of }) => of) }
}

/** Returns the incidents of which a digest names the conditions: the worst one, and those with several. */
export function listedOf(shown: readonly MessageItem[]) {
  const [worst, ...others] = shown
  const several = others.filter(({ incident: { problem } }) => problem.about === null && problem.firing.length > 1)
  return { worst, ...alikeOf(several, ({ incident }) => namedUpTo(incident.problem.firing, MAX_SAID)) }
}

/** Returns the conditions that a message names as firing, by the UUID of their incident. */
export function namedIn(all: readonly MessageItem[], now: number): Readonly<Record<string, readonly string[]>> {
  const isDigest = all.some(({ incident, kind }) => kind !== 'group' && incident.id !== all[0]?.incident.id)
  const shown = all.at(-1)?.kind === 'group' ? all.slice(0, MAX_SAID) : all
  if (!isDigest) return Object.fromEntries(shown.map((item) => [item.incident.id, saidNames(item)]))
  const { news, unowned, known } = sorted(all, now)
  const { worst, said } = listedOf([...news.flatMap(({ of }) => of), ...unowned, ...known])
  const listed = [...(worst ? [worst] : []), ...said.flatMap(({ of }) => of)]
  return Object.fromEntries(listed.map(({ incident: { id, problem } }) => [id, problem.firing.slice(0, MAX_SAID)]))
}

/** Names an incident by its service or, if a user named it or its service was merged, by its title. */
export function nameOf(item: MessageItem): string {
  return hasOwnTitle(item) ? `“${shortened(item.incident.title)}” (${subjectOf(item)})` : subjectOf(item)
}

/** Names the first incidents, and how many others there are. The same name in two clusters is written `api ×2`. */
export function namesOf(items: readonly MessageItem[]): string {
  const groups = [...Map.groupBy(items, nameOf)].map(([name, alike]) => ({ name, count: alike.length }))
  const rest = groups.slice(3).reduce((sum, { count }) => sum + count, 0)
  const names = groups.map(({ name, count }) => `${name}${timesOf(count)}`)
  if (groups.length <= 4) return joinNames(names)
  return `${names.slice(0, 3).join(', ')} and ${countOf(rest, rest > groups.length - 3 ? 'other incident' : 'other service')}`
}
