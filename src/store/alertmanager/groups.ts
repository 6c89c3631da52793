/** The groups of Alertmanager's API as JSON. An alert with several receivers is in the groups of all of them. */
import { BUDGETS } from '../../domain/budgets.ts'
import type { Labels } from '../../domain/event/event.ts'
import { receiverTest } from '../../domain/notification/receivers.ts'
import type { Db } from '../sqlite/open.ts'
import { encoded, type Shown, shownAlerts, type Wanted } from './alerts.ts'

const LARGEST = BUDGETS['alertmanager-groups'].value

type Group = { readonly labels: Labels; readonly receiver: string; readonly alerts: Shown[] }

/** `groupBy`: the labels of a group. `muted`: whether groups of nothing but muted alerts are wanted. */
type WantedGroups = Wanted & { readonly groupBy: readonly string[]; readonly muted: boolean }

/** Returns a JSON list of the groups, by their labels, or null if it would be too large. */
export function findGroupsJson(db: Db, organizationId: number, wanted: WantedGroups): Uint8Array<ArrayBuffer> | null {
  const groups = groupsOf(shownAlerts(db, organizationId, wanted), wanted)
  if (!groups) return null
  const shown = groups.filter(({ alerts }) => wanted.muted || alerts.some(({ isMuted }) => !isMuted))
  const sorted = shown.sort((a, b) => compareLabels(a.labels, b.labels) || compare(a.receiver, b.receiver))
  const texts = sorted.map(({ labels, receiver, alerts }) => {
    const members = alerts.length === 1 ? alerts : inGroupOrder(alerts)
    const head = JSON.stringify({ labels, routeLabels: {}, receiver: { name: receiver } })
    return `${head.slice(0, -1)},"alerts":[${members.map(({ json }) => json).join(',')}]}`
  })
  return encoded(texts)
}

function groupsOf(alerts: readonly Shown[], wanted: WantedGroups): Group[] | null {
  const isOfReceiver = receiverTest(wanted.receiver)
  const groups = new Map<string, Group>()
  let size = 0
  for (const alert of alerts) {
    const labels = groupLabels(alert.labels(), wanted.groupBy)
    const named = JSON.stringify(labels)
    for (const receiver of alert.receivers.filter(isOfReceiver)) {
      size += alert.json.length
      if (size > LARGEST) return null
      const key = `${receiver}\n${named}`
      const group = groups.get(key)
      if (group) group.alerts.push(alert)
      else groups.set(key, { labels, receiver, alerts: [alert] })
    }
  }
  return [...groups.values()]
}

function groupLabels(labels: Labels, groupBy: readonly string[]): Labels {
  return Object.fromEntries(
    groupBy.flatMap((name) => (Object.hasOwn(labels, name) ? [[name, labels[name] ?? '']] : [])),
  )
}

/** Sorts the alerts of a group like Alertmanager: by job, by instance, then by all labels. */
function inGroupOrder(alerts: readonly Shown[]): readonly Shown[] {
  return alerts.toSorted((a, b) => {
    const [one, other] = [a.labels(), b.labels()]
    for (const name of ['job', 'instance']) {
      const [left, right] = [one[name], other[name]]
      if (left !== right) return left === undefined ? 1 : right === undefined ? -1 : compare(left, right)
    }
    return compareLabels(one, other)
  })
}

/** Sorts label sets like Prometheus: fewer labels first, then by the first difference. */
function compareLabels(one: Labels, other: Labels): number {
  const [left, right] = [Object.keys(one), Object.keys(other)]
  if (left.length !== right.length) return left.length - right.length
  for (const name of [...left, ...right].sort()) {
    if (!Object.hasOwn(one, name)) return -1
    if (!Object.hasOwn(other, name)) return 1
    const order = compare(one[name] ?? '', other[name] ?? '')
    if (order !== 0) return order
  }
  return 0
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
