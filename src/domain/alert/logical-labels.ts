/** Selects the labels of an alert that survive a restart of its exporter. */

import type { AlertDraft, Labels } from '../event/event.ts'
import { cacheByName } from '../memoize.ts'
import { exporterOf } from '../service/exporter.ts'
import type { Attribution } from '../service/service.ts'

/** Labels that can change while the condition stays the same. */
const VOLATILE = new Set([
  ...['severity', 'uid', 'endpoint', 'prometheus', 'prometheus_replica', 'replica', 'container_id'],
])

const NONE: ReadonlySet<string> = new Set()

/**
 * Matches the name of a rule that uses a label, such as `label pod: deployment pod`. The name can also start with
 * `alias` or `exporter`.
 */
const CHOSEN = /^(alias |exporter )?label (.[^:=]*)/s
const readRule = cacheByName((rule) => CHOSEN.exec(rule) ?? [])

/**
 * Returns the sorted names of the labels in the logical key. Leaves out volatile labels and labels that identify the
 * exporter. Keeps the label that determined the service, and the target's own `pod` label.
 */
export function logicalNames(draft: AlertDraft, attribution: Attribution): string[] {
  const [, how, chosen] = readRule(attribution.rule)
  const exporters = how === 'exporter ' ? NONE : exporterLabels(draft.labels, chosen)
  const stays = (name: string) => name === chosen || !(VOLATILE.has(name) || exporters.has(name))
  const names = Object.keys(draft.labels).filter(stays)
  // Prometheus sends sorted labels. Sorting the labels again would allocate a kilobyte for each alert.
  return isSorted(names) ? names : names.sort()
}

function isSorted(names: readonly string[]): boolean {
  return names.every((name, index) => index === 0 || (names[index - 1] ?? '') < name)
}

/**
 * Returns the labels that identify the exporter. For exporters on a node, the `instance` label is included if another
 * label determined the service.
 */
function exporterLabels(labels: Labels, chosen: string | undefined): ReadonlySet<string> {
  const { own, kind } = exporterOf(labels)
  const address = (kind === 'host' || kind === 'kubelet') && chosen !== undefined && chosen !== 'instance'
  return address ? new Set([...own, 'instance']) : own
}
