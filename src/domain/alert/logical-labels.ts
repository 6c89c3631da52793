/** The labels of an alert that stay the same when its exporter restarts. */

import type { AlertDraft, Labels } from '../event/event.ts'
import { exporterOf } from '../service/exporter.ts'
import type { Attribution } from '../service/service.ts'

/** Labels that can change while the condition stays the same. */
const VOLATILE = new Set([
  ...['severity', 'uid', 'endpoint', 'prometheus', 'prometheus_replica', 'replica', 'container_id'],
])

const NONE: ReadonlySet<string> = new Set()

/** The rule of an attribution by a label, with or without an alias, for example `label pod: deployment pod`. */
const CHOSEN = /^(alias |exporter )?label (.[^:=]*)/s

/**
 * Returns the sorted names of the labels in the logical key. Omits volatile labels and labels that name the exporter.
 * Keeps the label that chose the service, and the target's own pod.
 */
export function logicalNames(draft: AlertDraft, attribution: Attribution): string[] {
  const [, how, chosen] = CHOSEN.exec(attribution.rule) ?? []
  const exporters = how === 'exporter ' ? NONE : exporterLabels(draft.labels, chosen)
  const stays = (name: string) => name === chosen || !(VOLATILE.has(name) || exporters.has(name))
  return Object.keys(draft.labels).filter(stays).sort()
}

/**
 * Returns the labels that name the exporter. For an exporter on the node, `instance` is one of them if a better label
 * chose the service.
 */
function exporterLabels(labels: Labels, chosen: string | undefined): ReadonlySet<string> {
  const { own, kind } = exporterOf(labels)
  const address = (kind === 'host' || kind === 'kubelet') && chosen !== undefined && chosen !== 'instance'
  return address ? new Set([...own, 'instance']) : own
}
