/** The rows of a postmortem's timeline. */
import { isLostNode } from '../event/lasting.ts'
import { otherText, timelineOf } from '../incident/timeline.ts'
import { sortRows, type TimelineRow } from '../incident/timeline-rows.ts'
import { distinct } from '../order.ts'
import { subjectName } from '../sender/sender-name.ts'
import { joinNames } from '../text.ts'
import { type GroupedFacts, senderOf, silentSenders } from './groups.ts'

/** Returns the rows. Alerts of one name that several services had at the same second share one, and so do their ends. */
export function rowsOf(facts: GroupedFacts): ReturnType<typeof timelineOf> {
  const senders = new Map(facts.alerts.map((alert) => [`alert/${alert.uuid}`, senderOf(alert)]))
  // The cordon of a node is no alert of its own.
  const events = [...facts.events, ...(facts.cordons ?? []).map((one) => ({ ...one, alertId: null }))]
  const rows = timelineOf({ ...facts, events, correlations: [] })
  const all = [...together(rows, facts), ...silenceRows(facts), ...replacedRows(facts)]
  return sortRows(
    all.map((row) => (row.source === 'metrics' ? { ...row, actor: directOf(senders.get(row.ref)) } : row)),
  )
}

const NEWS = { code: null, actor: null, source: null, count: 1, seen: 1 } as const

/** Returns rows for when the heartbeats of senders were missing. */
function silenceRows(facts: GroupedFacts): readonly TimelineRow[] {
  return silentSenders(facts).flatMap(({ ref, sender, from, to }) => {
    const row = (at: number, text: string) => ({ ...NEWS, at, until: at, kind: 'gap', text, ref })
    const back = to === null ? [] : [row(to, `the heartbeats of ${sender} are back`)]
    return [row(from, `last heartbeat of ${sender}`), ...back]
  })
}

/** Returns a row for each pod that was scheduled and started after pods were lost with their node. */
function replacedRows({ events }: GroupedFacts): readonly TimelineRow[] {
  const lost = events.find(
    ({ kind, name, object }) => kind === 'firing' && LOSSES.has(name) && object.startsWith('Pod/'),
  )
  const placed = events.filter(({ name, at }) => lost !== undefined && name === 'Scheduled' && at >= lost.at)
  const pods = new Set(placed.map(({ object }) => object))
  const started = events.filter(({ name, object }) => name === 'Started' && pods.has(object))
  return started.map(({ uuid, at, object, source }) => {
    return {
      ...NEWS,
      source,
      at,
      until: at,
      kind: 'event',
      text: `replacement ${object} started`,
      ref: `event/${uuid}`,
    }
  })
}

/** What Kubernetes reports about the pods on a lost node. */
const LOSSES: ReadonlySet<string> = new Set(['NodeNotReady', 'TaintManagerEviction'])

/** Returns the name of a sender that is not named after its webhook. */
function directOf(sender: string | undefined): string | null {
  return sender === 'Prometheus' ? sender : null
}

function together(rows: readonly TimelineRow[], facts: GroupedFacts): readonly TimelineRow[] {
  const names = new Map<string, string>([
    ...facts.events.flatMap(({ alertId, name }) => (alertId === null ? [] : [[`alert/${alertId}`, name] as const])),
    ...facts.alerts.map(({ uuid, name }) => [`alert/${uuid}`, name] as const),
  ])
  const others = new Map<string, string>([
    ...facts.events.map(({ alertId, incident }) => [`alert/${alertId}`, otherText(incident)] as const),
    ...facts.alerts.map(({ uuid }) => [`alert/${uuid}`, ''] as const),
  ])
  const keyOf = ({ kind, at, text, source, ref }: TimelineRow, index: number) => {
    if (kind === 'ended') return JSON.stringify([kind, Math.floor(at / 1000), text, source])
    const name = kind === 'alert' ? names.get(ref) : undefined
    return name === undefined ? index : JSON.stringify([kind, Math.floor(at / 1000), name, source, others.get(ref)])
  }
  return [
    ...Map.groupBy(
      rows.map((row, index) => ({ row, key: keyOf(row, index) })),
      ({ key }) => key,
    ).values(),
  ].flatMap((same) => {
    const [first, ...more] = same.map(({ row }) => row)
    if (!first || more.length === 0) return first ?? []
    const all = [first, ...more]
    const sum = (of: (row: TimelineRow) => number) => all.reduce((total, row) => total + of(row), 0)
    const services = servicesOf(all, facts)
    // Alerts of one service have texts that differ. Alerts of other incidents have no known service.
    if (first.kind === 'alert' && services.length === 1) return all
    const on = services.length === 0 ? '' : ` in ${joinNames(services)}`
    const name = names.get(first.ref) ?? ''
    const what = isLostNode(name) ? `pods${on} are on a node that is not ready` : `${name}${on}`
    const started = `${what}${others.get(first.ref) ?? ''}`
    const text = first.kind === 'ended' ? `${first.text}${services.length < 2 ? '' : on}` : started
    const isOne = text === started && isLostNode(name)
    const [count, seen] = isOne ? [1, 1] : [sum((row) => row.count), sum((row) => row.seen)]
    return { ...first, text, count, seen, until: Math.max(...all.map(({ until }) => until)) }
  })
}

/** Returns the names of the services of these alerts; none if the alerts belong to other incidents. */
function servicesOf(rows: readonly TimelineRow[], { alerts, incident, services }: GroupedFacts): readonly string[] {
  const known = new Map([incident.service, ...services].map((one) => [one.uuid, subjectName(one)]))
  const byRef = new Map<string, string | undefined>(
    alerts.map(({ uuid, serviceId }) => [`alert/${uuid}`, known.get(serviceId)]),
  )
  return distinct(rows.flatMap(({ ref }) => byRef.get(ref) ?? []))
}
