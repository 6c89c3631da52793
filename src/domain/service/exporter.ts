/** Finds the labels of an alert that identify the exporter instead of the target. */

import type { Labels } from '../event/event.ts'
import { cacheLast } from '../memoize.ts'

/**
 * `state` is kube-state-metrics.
 * `host` is node-exporter or windows-exporter. The target is the node.
 * `kubelet` is the kubelet or cAdvisor. The target is the node or a pod on the node.
 * `probe` is the blackbox exporter. The target is the probed URL.
 * `gateway` is the Pushgateway. The target is the job that pushed the metrics.
 * `other` means that the scraped program is probably the target itself.
 */
export type ExporterKind = 'state' | 'host' | 'kubelet' | 'probe' | 'gateway' | 'other'

export type Exporter = {
  readonly kind: ExporterKind
  /** The names of the labels that identify the exporter. */
  readonly own: ReadonlySet<string>
  /**
   * Whether Prometheus renamed some labels of the target to `exported_…` because they clashed with labels of the scrape
   * (`honor_labels: false`).
   */
  readonly renamed: boolean
  /** The names of the renamed labels, without `exported_`. */
  readonly exported: ReadonlySet<string>
}

const EXPORTED = 'exported_'

/**
 * Words in labels that identify an exporter. The most reliable label decides. If that label contains several words, the
 * first word in this list is used.
 */
const WORDS: readonly { readonly kind: ExporterKind; readonly words: readonly string[] }[] = [
  { kind: 'state', words: ['kube-state-metrics', 'kube_state_metrics'] },
  { kind: 'kubelet', words: ['kubelet', 'cadvisor', 'kubernetes-nodes'] },
  {
    kind: 'host',
    words: ['node-exporter', 'node_exporter', 'windows-exporter', 'windows_exporter', 'integrations/unix'],
  },
  { kind: 'probe', words: ['blackbox'] },
  { kind: 'gateway', words: ['pushgateway'] },
]

/** A fast check of whether any of the words occurs. */
const ANY_WORD = new RegExp(WORDS.flatMap(({ words }) => words).join('|'))

/** Labels with the name of the scraped program, most reliable first. */
const PROGRAM = ['job', 'service', 'app_kubernetes_io_name', 'app', 'k8s_app'] as const

/** The labels in which to look for these words, in order. */
const TOLD_BY = [...PROGRAM, 'container'] as const

/** Labels that the scrape adds to every metric. */
const SCRAPE = ['job', 'service', 'endpoint', 'instance', 'pod', 'container'] as const

/**
 * Labels that kube-state-metrics uses for objects other than workloads. An alert with one of these labels is not about
 * the exporter itself.
 */
const STATE_OBJECTS = [
  'resourcequota',
  'persistentvolume',
  'storageclass',
  'limitrange',
  'configmap',
  'secret',
  'phase',
]

/** The labels that identify each kind of exporter. */
const OWN: Readonly<Record<ExporterKind, readonly string[]>> = {
  state: ['job', 'service', 'endpoint', 'instance'],
  host: ['job', 'service', 'endpoint', 'pod', 'container', 'namespace'],
  kubelet: ['job', 'service', 'endpoint'],
  probe: ['job', 'endpoint'],
  gateway: SCRAPE,
  other: [],
}

const NO_NAMES: ReadonlySet<string> = new Set()
const NO_EXPORTER: Exporter = { kind: 'other', own: NO_NAMES, renamed: false, exported: NO_NAMES }
const UNDETECTED = { kind: 'other', word: null } as const

/** Returns an alert's exporter and the labels that identify it. Blank labels are ignored. */
export const exporterOf: (labels: Labels) => Exporter = cacheLast(findExporter)

function findExporter(labels: Labels): Exporter {
  const { kind, word } = detect(labels)
  const exported = exportedNames(labels)
  if (kind === 'other' && exported.size === 0) return NO_EXPORTER
  const renamed = ['namespace', 'pod'].some((it) => exported.has(it) && has(labels, it) && has(labels, EXPORTED + it))
  const own = [...ownLabels(kind, labels)]
  if (word) own.push(...[...PROGRAM, 'container', 'pod'].filter((name) => contains(labels, name, word)))
  if (renamed) own.push(...SCRAPE, 'namespace')
  return { kind, own: new Set(own.filter((name) => has(labels, name))), renamed, exported }
}

function exportedNames(labels: Labels): ReadonlySet<string> {
  let names: Set<string> | null = null
  for (const name in labels) {
    if (name.startsWith(EXPORTED)) names = (names ?? new Set<string>()).add(name.slice(EXPORTED.length))
  }
  return names ?? NO_NAMES
}

/** Returns whether an alert without a target is about the exporter itself, as `TargetDown` is. */
export function concernsExporter(labels: Labels): boolean {
  return !STATE_OBJECTS.some((name) => has(labels, name))
}

/** Returns the value of a target label and the name under which the label was sent, or null. */
export function targetLabel(labels: Labels, exporter: Exporter, name: string): { name: string; value: string } | null {
  const plain = exporter.own.has(name) ? '' : trimmed(labels, name)
  const exported = exporter.exported.has(name) ? trimmed(labels, EXPORTED + name) : ''
  // An application can use the `service` label for something else. Only labels of known exporters are replaced.
  const prefersExported = exporter.renamed || exporter.kind === 'gateway' || exporter.kind === 'state' || plain === ''
  if (exported !== '' && prefersExported) return { name: EXPORTED + name, value: exported }
  return plain === '' ? null : { name, value: plain }
}

/**
 * Returns the host in an address: `10.0.2.15:10250` → `10.0.2.15`, `https://u@Shop.example:443/x` → `shop.example`,
 * `[::1]:9100` → `::1`. Without a scheme, the case is preserved for node names.
 */
export function hostOf(address: string): string {
  const scheme = address.indexOf('://')
  const rest = scheme < 0 ? address : address.slice(scheme + 3).toLowerCase()
  const authority = rest.split(/[/?#]/, 1)[0] ?? ''
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  if (host.startsWith('[') && host.includes(']')) return host.slice(1, host.indexOf(']'))
  const colon = host.indexOf(':')
  return colon < 0 || colon !== host.lastIndexOf(':') ? host : host.slice(0, colon)
}

/** Returns the trimmed value of a label, or ''. */
export function trimmed(labels: Labels, name: string): string {
  return Object.hasOwn(labels, name) ? (labels[name] ?? '').trim() : ''
}

function detect(labels: Labels): { kind: ExporterKind; word: string | null } {
  for (const name of TOLD_BY) {
    const text = trimmed(labels, name).toLowerCase()
    if (!ANY_WORD.test(text)) continue
    for (const { kind, words } of WORDS) {
      // The `container` label usually names the measured target and not the scraped program.
      const word = name === 'container' && kind !== 'state' ? undefined : words.find((it) => text.includes(it))
      if (word) return { kind, word }
    }
  }
  if (contains(labels, 'instance', '://') || contains(labels, 'target', '://')) return { kind: 'probe', word: null }
  return byPodAlone(labels)
}

/**
 * Identifies a node exporter by its pod. Some rules in the node mixin keep the exporter's `pod` label but drop its
 * `job` label. If a rule keeps the `container` label, the alert is about the container.
 */
function byPodAlone(labels: Labels): { kind: ExporterKind; word: string | null } {
  if (has(labels, 'job') || has(labels, 'service') || has(labels, 'container')) return UNDETECTED
  const words = WORDS.find(({ kind }) => kind === 'host')?.words ?? []
  const word = has(labels, 'instance') ? words.find((it) => contains(labels, 'pod', it)) : undefined
  return word ? { kind: 'host', word } : UNDETECTED
}

function ownLabels(kind: ExporterKind, labels: Labels): readonly string[] {
  // With `honor_labels`, the `job` label names the job that pushed the metrics.
  const namesTarget = kind === 'gateway' && !has(labels, 'exported_job')
  return namesTarget ? OWN[kind].filter((name) => name !== 'job') : OWN[kind]
}

function contains(labels: Labels, name: string, word: string): boolean {
  return trimmed(labels, name).toLowerCase().includes(word)
}

function has(labels: Labels, name: string): boolean {
  return trimmed(labels, name) !== ''
}
