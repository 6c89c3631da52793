/** Finds the labels of an alert that identify the exporter instead of the target. */
import type { Labels } from '../event/event.ts'
import { cacheByName, cacheLast } from '../memoize.ts'
import { isInCluster } from './backend.ts'
import { hostOf } from './host.ts'
import { isAsked, isDatabase } from './last-name.ts'
import { type Label, labelValue, type Reading, read } from './reading.ts'
import { type ExporterKind, list } from './target.ts'

/** Labels that the scrape adds to every metric. */
const SCRAPE = ['job', 'service', 'endpoint', 'instance', 'pod', 'container'] as const

export type Exporter = {
  readonly kind: ExporterKind
  /** The names of the labels that identify the exporter. */
  readonly own: ReadonlySet<string>
  /**
   * Whether an `exported_…` label takes precedence over the label without this prefix. Prometheus renames a label of
   * the target if it clashes with a label of the scrape (`honor_labels: false`), but an application can use the
   * `service` label for something else.
   */
  readonly prefersExported: boolean
}

/** Words in the labels of a scraped program that identify an exporter, and the labels that then name the exporter. */
const EXPORTERS: readonly {
  readonly kind: ExporterKind
  readonly words: readonly string[]
  readonly own: readonly string[]
}[] = [
  {
    kind: 'state',
    words: ['kube-state-metrics', 'kube_state_metrics', 'longhorn-'],
    own: ['job', 'service', 'endpoint', 'instance'],
  },
  {
    kind: 'events',
    words: list('event-exporter event_exporter eventrouter kubernetes_events kubernetes-events kube-events'),
    own: [...SCRAPE, 'app', 'app_kubernetes_io_name', 'service_name'],
  },
  { kind: 'kubelet', words: ['kubelet', 'cadvisor', 'kubernetes-nodes'], own: ['job', 'service', 'endpoint'] },
  {
    kind: 'host',
    words: list(`node-exporter node_exporter windows-exporter windows_exporter integrations/unix telegraf snmp netdata
      systemd-exporter systemd_exporter smartctl ipmi dcgm process-exporter vmware zfs-exporter zfs_exporter collectd
      kured node-problem-detector chrony nvidia-gpu nvidia_gpu ethtool harvest idrac redfish`),
    own: ['job', 'service', 'endpoint', 'pod', 'container', 'namespace'],
  },
  { kind: 'probe', words: ['blackbox'], own: ['job', 'endpoint'] },
  // Nomad names its own jobs in `job`, which Prometheus renames. Another Prometheus can be the scraped program, too.
  { kind: 'gateway', words: ['pushgateway', 'nomad', 'federat'], own: SCRAPE },
  {
    kind: 'cloud',
    words: list('yace cloudwatch stackdriver azure-metrics azure_metrics rds-exporter rds_exporter openstack-exporter'),
    own: [...SCRAPE, 'namespace', 'app', 'app_kubernetes_io_name', 'node'],
  },
  { kind: 'manager', words: ['ceph-mgr', 'ceph-exporter'], own: ['pod', 'container', 'endpoint', 'instance', 'node'] },
  { kind: 'queue', words: ['kafka-exporter', 'kafka_exporter', 'kminion', 'kafka-lag-exporter'], own: SCRAPE },
  {
    kind: 'proxy',
    words: list('ingress-nginx nginx-ingress traefik istio envoy-stats kong haproxy kubernetes-ingress'),
    own: [...SCRAPE, 'app', 'app_kubernetes_io_name', 'node', 'host', 'hostname'],
  },
]

/** A fast check of whether any of the words occurs. Cached, because few programs send all alerts. */
const ANY_WORD = new RegExp(EXPORTERS.flatMap(({ words }) => words).join('|'))
const namesExporter = cacheByName((value) => ANY_WORD.test(value.toLowerCase()))

/** Labels with the name of the scraped program, most reliable first. */
const PROGRAM = ['job', 'service', 'app_kubernetes_io_name', 'app', 'k8s_app', 'kubernetes_name'] as const

/** The labels in which to look for the words, in order. */
const TOLD_BY = [...PROGRAM, 'container'] as const

const OWN = new Map(EXPORTERS.map(({ kind, own }) => [kind, own]))
const NO_NAMES: ReadonlySet<string> = new Set()
const NO_EXPORTER: Exporter = { kind: 'other', own: NO_NAMES, prefersExported: false }

type Detected = { readonly kind: ExporterKind; readonly word: string | null }
const UNDETECTED: Detected = { kind: 'other', word: null }

/** Returns an alert's exporter and the labels that identify it. Placeholders are ignored. */
export const exporterOf: (labels: Labels) => Exporter = cacheLast((labels) => findExporter(labels, read(labels)))

/**
 * Returns the labels of the original scrape. A Prometheus that reads the metrics of another one without `honor_labels`
 * renames those that its own scrape also has.
 */
export const withoutFederation = cacheLast((labels: Labels): Labels => {
  if (labels.exported_job === undefined || !readsPrometheus(labels)) return labels
  const kept = Object.entries(labels).filter(
    ([name]) => !(SCRAPE as readonly string[]).includes(name) && !Object.hasOwn(labels, `exported_${name}`),
  )
  return Object.fromEntries(kept.map(([name, value]) => [name.replace(/^exported_/, ''), value]))
})

/** The job can have any name. Prometheus and VictoriaMetrics have their ports. */
function readsPrometheus({ job = '', instance = '', exported_instance }: Labels): boolean {
  if (exported_instance === undefined) return /federat/i.test(job)
  return /federat|prometheus(?!.*(?:gateway|exporter))/i.test(job) || /:(?:9090|8428)$/.test(instance)
}

function findExporter(labels: Labels, reading: Reading): Exporter {
  const { exported } = reading
  const { kind, word } = detect(labels, reading)
  if (kind === 'other' && exported.size === 0) return NO_EXPORTER
  const renamed = ['namespace', 'pod'].some((it) => exported.has(it) && has(labels, it))
  const own = (OWN.get(kind) ?? []).filter((name) => isOfExporter(kind, name, labels, reading))
  // dcgm-exporter names the pod that uses the GPU, which belongs to the node.
  if (kind === 'host' && reading.labels.some(({ known }) => known.reads === 'node'))
    own.push('exported_pod', 'exported_container', 'exported_namespace')
  // What watches a device calls its checks services.
  if (kind === 'host' && reading.aboutMachine) own.push('service_name')
  if (kind !== 'other') own.push('app_kubernetes_io_instance')
  // kube-state-metrics can have another name. The pods of the scraped Service are its own.
  if (kind === 'state' && has(labels, 'service') && labels.pod?.startsWith(`${labels.service}-`)) own.push('pod')
  if (word && kind !== 'manager')
    own.push(...[...PROGRAM, 'container', 'pod'].filter((name) => contains(labels, name, word)))
  if (renamed) own.push(...SCRAPE, 'namespace')
  if (kind === 'proxy' && hasForeignNamespace(labels, reading, word)) own.push('namespace')
  if (kind === 'host' && word === null) own.push(...reading.labels.filter((it) => !isNode(it)).map(({ name }) => name))
  const names = own.filter((name) => has(labels, name))
  const prefersExported = renamed || kind === 'gateway' || kind === 'state' || kind === 'proxy'
  return { kind, own: new Set(names), prefersExported }
}

function detect(labels: Labels, reading: Reading): Detected {
  if (reading.object) return { kind: 'events', word: null }
  for (const name of TOLD_BY) {
    const value = labels[name]
    if (value === undefined || !namesExporter(value)) continue
    const text = value.toLowerCase()
    for (const { kind, words } of EXPORTERS) {
      // The `container` label usually names the measured target and not the scraped program.
      const word = name === 'container' && kind !== 'state' ? undefined : words.find((it) => text.includes(it))
      if (word) return { kind, word }
    }
  }
  if (reading.marker) return { kind: reading.marker, word: null }
  if (isProbe(labels, reading)) return { kind: 'probe', word: null }
  return isMachine(labels, reading) ? { kind: 'host', word: null } : byPodAlone(labels)
}

/** The port of the blackbox exporter, and how the names of alerts about an address begin. */
const PROBER_PORT = /:9115$/

const PROBE_ALERT = /^(?:blackbox|probe)/i

/** Alerts about a web server's host names, which are no machines: `NGINXCertificateExpiry`. */
const WEB_ALERT = /ingress|certificate|cert_?exp|ssl|tls/i

/**
 * Returns whether an alert is about an address: an exporter asked a URL, or a Service inside the cluster if no label
 * names a workload, or only the address is named.
 */
function isProbe(labels: Labels, { labels: found }: Reading): boolean {
  if (['instance', 'target', 'server', 'addr'].some((name) => labels[name]?.includes('://'))) return true
  const { alertname = '', instance = '' } = labels
  if (PROBER_PORT.test(instance.trim()) && has(labels, 'target')) return true
  if (found.length === 0 || !found.every(({ known }) => known.weak)) return false
  if (WEB_ALERT.test(alertname) && found.every(({ name }) => name === 'host')) return true
  if (isDatabase(labels) && /exporter/i.test(labels.job ?? '')) return true
  return isInCluster(hostOf(instance)) || isAsked(labels) || (PROBE_ALERT.test(alertname) && found.every(isAddress))
}

/** The labels with the address that a prober asked, most reliable first. */
const PROBED = [
  'target',
  'server',
  'monitor_url',
  'monitor_hostname',
  'monitor_name',
  'addr',
  'job',
  'instance',
  'host',
] as const

/** Grafana Alloy names the check in its job, and itself in `instance`. */
const CHECK_OF_ALLOY = /^integrations\/blackbox\/(?=.)/

/** Returns the label with the address that an exporter asked, or with the name of the check, or null. */
export function probed(labels: Labels): { label: string; value: string; reads: 'probe' | 'name' } | null {
  for (const label of PROBED) {
    const said = labelValue(labels, label)
    const value = label !== 'job' ? said : said?.match(CHECK_OF_ALLOY) && said.replace(CHECK_OF_ALLOY, '')
    if (value && hostOf(value) !== '') return { label, value, reads: /_name$|^job$/.test(label) ? 'name' : 'probe' }
  }
  return null
}

/** Returns whether a label can be on an alert about an address: the address itself, and the job that asks it. */
function isAddress({ known }: Label): boolean {
  return known.reads === 'instance' || known.reads === 'job label'
}

/** Returns whether a label that usually names the exporter does so in this alert. */
function isOfExporter(kind: ExporterKind, name: string, labels: Labels, { exported, mesh }: Reading): boolean {
  // With `honor_labels`, the `job` label names the job that pushed the metrics.
  if (kind === 'gateway' && name === 'job') return exported.has('job')
  if (kind !== 'proxy' || name !== 'service') return true
  // The `service` label names the proxy's backend if no other label does.
  const value = labelValue(labels, 'service') ?? ''
  return !value.includes('@') && (exported.has('service') || mesh || namesExporter(value))
}

/** Returns whether the `namespace` label names the proxy's namespace. */
function hasForeignNamespace(labels: Labels, { exported, mesh }: Reading, word: string | null): boolean {
  const namespace = labelValue(labels, 'namespace')
  if (namespace === undefined) return false
  const service = labelValue(labels, 'service') ?? labelValue(labels, 'exported_service') ?? ''
  const isOfController = namespace === labelValue(labels, 'controller_namespace')
  return exported.has('namespace') || mesh || isOfController || service.includes('@') || namespace.includes(word ?? ' ')
}

/**
 * Identifies a node exporter by its pod. Some rules in the node mixin keep the exporter's `pod` label but drop its
 * `job` label. If a rule keeps the `container` label, the alert is about the container.
 */
function byPodAlone(labels: Labels): Detected {
  if (has(labels, 'job') || has(labels, 'service') || has(labels, 'container') || !has(labels, 'instance'))
    return UNDETECTED
  const words = EXPORTERS.find(({ kind }) => kind === 'host')?.words ?? []
  const word = words.find((it) => contains(labels, 'pod', it))
  return word ? { kind: 'host', word } : UNDETECTED
}

function contains(labels: Labels, name: string, word: string): boolean {
  return labels[name]?.toLowerCase().includes(word) ?? false
}

function has(labels: Labels, name: string): boolean {
  return labelValue(labels, name) !== undefined
}

// Recognizes alerts about a machine or a network device. To teach incmon more of them, add a row.

/**
 * The ports of SNMP agents, node-exporter, windows-exporter, process-exporter, systemd_exporter, smartctl_exporter, zfs_exporter,
 * ipmi_exporter, Telegraf and collectd.
 */
const HOST_PORT = /:(?:161|9100|9182|9256|9558|9633|9134|9290|9273|9103)$/

const HOST_JOBS: ReadonlySet<string> = new Set(
  list(`node nodes host hosts server servers machines vms baremetal linux linux-servers windows windows-servers
    varlogs syslog systemd-journal journal zfs pdu pdus switch switches router routers firewall firewalls network`),
)

/**
 * How the names of alerts about a machine begin: `HostOutOfMemory` and `WindowsServerDiskSpaceUsage` in
 * awesome-prometheus-alerts, `NodeFilesystemSpaceFillingUp` in the mixin of node-exporter.
 */
const HOST_ALERT =
  /^(?:(?:Host|Windows)(?=[A-Z])|Node(?:Filesystem|Memory|Network|CPU|Disk|Clock|RAID|Systemd|TextFile|FileDesc|SystemS|HighNumberConntrack))/

/** Labels of Nagios, Icinga, Zabbix and Checkmk, which watch machines and call their checks services. */
const OF_CHECK = list('check_command hostgroup service_description trigger_id')

/** Returns whether an alert is about a machine, whatever the scrape job of its exporter is called. */
function isMachine(labels: Labels, { labels: found, aboutMachine }: Reading): boolean {
  if (!found.some(isNode)) return false
  if (HOST_PORT.test(labels.instance?.trim() ?? '')) return found.every(isAboutMachine)
  const job = labels.job?.trim().toLowerCase() ?? ''
  const isNamed = HOST_JOBS.has(job) || HOST_ALERT.test(labels.alertname ?? '')
  const isChecked = OF_CHECK.some((name) => name in labels) || /\s/.test(labels.service ?? '')
  const others = isChecked ? ['job label', 'service'] : ['job label']
  return (aboutMachine || isNamed || isChecked) && found.every((it) => isNode(it) || others.includes(it.known.reads))
}

/** Returns whether a label can be on an alert about a machine. Such an alert names no workload. */
function isAboutMachine(label: Label): boolean {
  return isNode(label) || label.known.weak
}

function isNode({ known }: Label): boolean {
  return known.reads === 'node' || known.reads === 'instance'
}
