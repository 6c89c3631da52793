/** The groups of Alertmanager's API as JSON. An alert with several receivers is in the groups of all of them. */
import type { Labels } from '../../domain/event/event.ts'
import { receiverTest } from '../../domain/notification/audience.ts'
import type { Db } from '../sqlite/open.ts'
import { type Shown, separated, shownAlerts, sizeLimit, type Wanted } from './alerts.ts'
import { createTexts, type Texts } from './texts.ts'

type Group = Labelled & { readonly receiver: string; readonly alerts: Shown[] }

/**
 * `groupBy`: the labels of a group, or `...` for all labels. `muted`: whether groups of nothing but muted alerts are
 * wanted.
 */
type WantedGroups = Wanted & { readonly groupBy: readonly string[]; readonly muted: boolean }

/** Returns a JSON list of the groups, by their labels. @throws IncmonError `invalid` if it would be too large */
export function findGroupsJson(db: Db, organizationId: number, wanted: WantedGroups): Uint8Array<ArrayBuffer> {
  const texts = createTexts()
  const groups = groupsOf(shownAlerts(db, organizationId, wanted, texts), wanted, texts)
  const shown = groups.filter(({ alerts }) => wanted.muted || alerts.some(({ isMuted }) => !isMuted))
  const sorted = shown.sort((a, b) => compareLabels(a, b) || compare(a.receiver, b.receiver))
  const parts = sorted.flatMap(({ labels, receiver, alerts }, index) => {
    const head = JSON.stringify({ labels, routeLabels: {}, receiver: { name: receiver } })
    const members = alerts.length === 1 ? alerts : inGroupOrder(alerts)
    return [`${index === 0 ? '' : ','}${head.slice(0, -1)},"alerts":[`, ...separated(members), ']}']
  })
  return texts.joined(['[', ...parts, ']'])
}

function groupsOf(alerts: readonly Shown[], { receiver: wanted, groupBy }: WantedGroups, texts: Texts): Group[] {
  const isOfReceiver = receiverTest(wanted)
  const groups = new Map<string, Group>()
  const grow = sizeLimit('groups')
  for (const alert of alerts) {
    const labels: Labels = JSON.parse(alert.labels)
    const names = groupBy.includes('...') ? namesOf(labels) : groupBy
    const values = names.flatMap((name) => (Object.hasOwn(labels, name) ? [name, labels[name]] : []))
    for (const receiver of alert.receivers.filter(isOfReceiver)) {
      grow(texts.size(alert.text))
      const key = JSON.stringify([receiver, ...values])
      const group = groups.get(key)
      if (group) group.alerts.push(alert)
      else groups.set(key, { ...groupLabels(labels, names), receiver, alerts: [alert] })
    }
  }
  return [...groups.values()]
}

function groupLabels(all: Labels, groupBy: readonly string[]): Labelled {
  const labels = Object.fromEntries(
    groupBy.flatMap((name) => (Object.hasOwn(all, name) ? [[name, all[name] ?? '']] : [])),
  )
  return { labels, names: namesOf(labels) }
}

/** Sorts the alerts of a group like Alertmanager: by job, by instance, then by all labels. */
function inGroupOrder(alerts: readonly Shown[]): readonly Shown[] {
  const members = alerts.map((alert) => {
    const labels: Labels = JSON.parse(alert.labels)
    return { alert, labels, names: namesOf(labels), job: labels.job, instance: labels.instance }
  })
  members.sort((a, b) => missingLast(a.job, b.job) || missingLast(a.instance, b.instance) || compareLabels(a, b))
  return members.map(({ alert }) => alert)
}

function missingLast(one: string | undefined, other: string | undefined): number {
  if (one === other) return 0
  return one === undefined ? 1 : other === undefined ? -1 : compare(one, other)
}

type Labelled = { readonly labels: Labels; readonly names: readonly string[] }

/** Returns the names of labels in order. Most senders sort them. */
function namesOf(labels: Labels): readonly string[] {
  const names = Object.keys(labels)
  return names.every((name, index) => index === 0 || (names[index - 1] ?? '') < name) ? names : names.sort()
}

/** Sorts label sets like Prometheus: fewer labels first, then by the first difference. A missing label comes first. */
function compareLabels(one: Labelled, other: Labelled): number {
  const { labels, names } = one
  if (names.length !== other.names.length) return names.length - other.names.length
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] ?? ''
    const order = compare(other.names[index] ?? '', name) || compare(labels[name] ?? '', other.labels[name] ?? '')
    if (order !== 0) return order
  }
  return 0
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
