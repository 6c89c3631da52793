/** Selects the labels of an alert that survive a restart of its exporter. */

import type { AlertDraft, Labels } from '../event/event.ts'
import { exporterOf } from '../service/exporter.ts'
import { isOfExporter } from '../service/last-name.ts'
import { readPodName } from '../service/pod-name.ts'
import { chosenLabel } from '../service/rule.ts'
import type { Attribution } from '../service/service.ts'

/** Labels that can change while the condition stays the same: the severity, and the name of one of several senders. */
const VOLATILE = new Set([
  ...[
    'severity',
    'Severity',
    'uid',
    'endpoint',
    'prometheus',
    'prometheus_replica',
    'replica',
    '__replica__',
    'container_id',
  ],
  ...['thanos_ruler_replica', 'ruler_replica', 'rule_replica', 'receive_replica'],
])

const NONE: ReadonlySet<string> = new Set()

/** Labels by which alerts about replicas of one thing differ, or that say what is wrong with it. */
const OF_REPLICAS =
  /^(?:container(?:_?(?:name|ip|id|uid))?|uid|id|image|version|reason|phase|condition|status|code|method|path|uri|url|route|handler|le|quantile|.*_hash|alertname|namespace|team|owner|(?:alert)?state|grafana_folder|.*rule_uid__?|.*summary|.*value)$/i

/** Labels that name a pod, and those that name a machine or a process on it. */
const POD = /^(?:exported_|kubernetes_|target_)?pod(?:_?(?:name|ip|id|uid))?$/i
const MACHINE =
  /^(?:(?:exported_|kubernetes_|target_)?(?:instance|node|host)(?:_?(?:name|ip|id|uid))?|nodename|hostname|ip|address)$/i

/**
 * Returns the labels in which an alert differs from all others, as `shard 2`; '' if there are none, or no others.
 * @param hasMachines whether another machine counts, or another pod of a StatefulSet, if nothing else differs
 */
export function differenceOf(labels: Labels, others: readonly Labels[], hasMachines = true): string {
  const subject = differing(labels, others, (name) => ![OF_REPLICAS, POD, MACHINE].some((one) => one.test(name)))
  return (subject.length > 0 || !hasMachines ? subject : machineOf(labels, others)).join(', ')
}

/** Returns the label that names another machine or pod of a StatefulSet. The pods of other workloads replace each other. */
function machineOf(labels: Labels, others: readonly Labels[]): readonly string[] {
  const { own } = exporterOf(labels)
  const pods = Object.keys(labels).filter((name) => POD.test(name) && !own.has(name))
  const isOfSet = pods.some((name) => readPodName(labels[name] ?? '', null, '').how === 'statefulset pod')
  const meant = pods.length === 0 ? MACHINE : isOfSet ? POD : null
  return differing(labels, others, (name) => !own.has(name) && (meant?.test(name) ?? false)).slice(0, 1)
}

function differing(labels: Labels, others: readonly Labels[], isMeant: (name: string) => boolean): readonly string[] {
  if (others.length === 0) return []
  const names = Object.keys(labels).filter((name) => !VOLATILE.has(name) && isMeant(name))
  const own = names.filter((name) => others.every((one) => one[name] !== labels[name]))
  return own.sort().map((name) => `${name} ${labels[name]}`)
}

/**
 * Returns the sorted names of the labels in the logical key. Leaves out volatile labels and labels that identify the
 * exporter. Keeps the label that determined the service, and the target's own `pod` label.
 */
export function logicalNames(draft: AlertDraft, { rule }: Pick<Attribution, 'rule'>): string[] {
  const chosen = chosenLabel(rule)
  const isAboutExporter = 'by' in rule && rule.by === 'exporter label'
  const exporters = isAboutExporter ? NONE : exporterLabels(draft.labels, chosen)
  const names: string[] = []
  let isSorted = true
  for (const name in draft.labels) {
    if (name !== chosen && (VOLATILE.has(name) || exporters.has(name))) continue
    isSorted &&= names.length === 0 || (names.at(-1) ?? '') < name
    names.push(name)
  }
  // Prometheus sends sorted labels. Sorting the labels again would allocate a kilobyte for each alert.
  return isSorted ? names : names.sort()
}

/** A claim can be mounted on several nodes, and follows its pod to another node. */
const CLAIM = /(?:^|_)(?:persistentvolumeclaim|pvc)$/

/**
 * Returns the labels that identify the exporter. For exporters on a node, the `instance` label is included if another
 * label determined the service. The `node` label is included if a claim determined the service.
 */
function exporterLabels(labels: Labels, chosen: string | null): ReadonlySet<string> {
  const { own, kind } = exporterOf(labels)
  const address = (kind === 'host' || kind === 'kubelet') && chosen !== null && chosen !== 'instance'
  if (chosen !== null && CLAIM.test(chosen)) return new Set([...own, ...(address ? ['instance'] : []), 'node'])
  if (isOfExporter(labels, chosen)) return new Set([...own, 'instance', 'pod', 'node'])
  return address ? new Set([...own, 'instance']) : own
}
