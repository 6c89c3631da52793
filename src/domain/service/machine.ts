/** Recognizes alerts about a machine or a network device by their labels. To teach incmon more of them, add a row. */

import type { Labels } from '../event/event.ts'
import type { Label, Reading } from './reading.ts'
import { list } from './target.ts'

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
export function isMachine(labels: Labels, { labels: found, aboutMachine }: Reading): boolean {
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

export function isNode({ known }: Label): boolean {
  return known.reads === 'node' || known.reads === 'instance'
}
