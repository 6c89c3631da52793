/** Logical labels: what stays of an alert's labels when its exporter restarts. */

import type { AlertDraft, Labels } from '../event/event.ts'
import { exporterOf } from '../service/exporter.ts'
import type { Attribution } from '../service/service.ts'

/** Labels that change while the trouble stays the same, whatever measured it. */
const VOLATILE = new Set([
  ...['severity', 'uid', 'endpoint', 'prometheus', 'prometheus_replica', 'replica', 'container_id'],
])

const NONE: ReadonlySet<string> = new Set()

/** The attribution's rule where a label chose the service, the rules' own or a person's alias: `label pod: deployment pod`. */
const CHOSEN = /^(alias |exporter )?label (.[^:=]*)/s

/**
 * The names of the labels of the logical key, sorted: without the volatile ones and without those that name the
 * exporter. The label that chose the service stays, and so does the target's own pod.
 */
export function logicalNames(draft: AlertDraft, attribution: Attribution): string[] {
  const [, how, chosen] = CHOSEN.exec(attribution.rule) ?? []
  const exporters = how === 'exporter ' ? NONE : exporterLabels(draft.labels, chosen)
  const stays = (name: string) => name === chosen || !(VOLATILE.has(name) || exporters.has(name))
  return Object.keys(draft.labels).filter(stays).sort()
}

/** The exporter's labels; where it sits on the node, its address says nothing more once a better label chose. */
function exporterLabels(labels: Labels, chosen: string | undefined): ReadonlySet<string> {
  const { own, kind } = exporterOf(labels)
  const address = (kind === 'host' || kind === 'kubelet') && chosen !== undefined && chosen !== 'instance'
  return address ? new Set([...own, 'instance']) : own
}
