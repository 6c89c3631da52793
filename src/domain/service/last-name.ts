/** Names the target of an alert if no label of a workload does, or if an exporter asked it. */

import type { Labels } from '../event/event.ts'
import { databaseLabel } from './cluster.ts'
import type { Exporter } from './exporter.ts'
import { hostOf } from './host.ts'
import { labelValue } from './reading.ts'
import { LAST_NAMES, OF_MIXIN, type Reader } from './target.ts'

export type Choice = { readonly label: string; readonly value: string; readonly reads: Reader | 'probe' }

/** Returns whether the labels name nothing but an exporter. */
export function isExporter(found: Choice | null): boolean {
  return found === null || /exporter/.test(found.value)
}

/** An alert about a whole database can name nothing but the database's own cluster, and the exporter that asks it. */
export function ofDatabase(labels: Labels): Choice | null {
  return nameIn(labels, [databaseLabel(labels) ?? ''])
}

/** Returns a name of last resort, or the program whose own rules keep nothing but the namespace. */
export function lastName(labels: Labels, { kind }: Exporter): Choice | null {
  if (kind !== 'other' && kind !== 'queue') return null
  const program = labelValue(labels, 'namespace') && OF_MIXIN.exec(labels.alertname ?? '')?.[0]
  const byRule = program ? ({ label: 'alertname', value: program.toLowerCase(), reads: 'name' } as const) : null
  return nameIn(labels, LAST_NAMES) ?? byRule
}

/** Returns the first of the labels that has a value, as a name; or null. */
export function nameIn(labels: Labels, names: readonly string[]): Choice | null {
  const label = names.find((name) => labelValue(labels, name) !== undefined)
  return label === undefined ? null : { label, value: labelValue(labels, label) ?? '', reads: 'name' }
}

/** The ports of MySQL, PostgreSQL, Redis, MongoDB, Memcached and SQL Server, which exporters ask. */
const ASKED_PORT = /:(?:3306|5432|6379|27017|11211|1433)$/

/** The labels of the exporters of PostgreSQL and Redis, and of a member of MongoDB's replica set. */
const ADDRESSES = ['server', 'addr', 'target', 'member_idx'] as const
const ADDRESS = /^[a-z\d-]+(?:\.[a-z\d-]+)*:\d{2,5}$/i
const LOCAL = /^(?:127\.|0\.0\.|localhost)/

/** Returns whether the label `server` is the address of another host. */
export function isAsked({ server = '' }: Labels): boolean {
  return isAddress(server) && hostOf(server).includes('.')
}

/** Returns whether the scraped address is a database's, although an exporter was scraped. */
export function isDatabase({ instance = '' }: Labels): boolean {
  return ASKED_PORT.test(instance.trim())
}

/** Returns the address that an exporter asked, or null. A name without dots is a Service in the exporter's namespace. */
export function asked(labels: Labels): Choice | null {
  const label = ADDRESSES.find((name) => isAddress(labelValue(labels, name) ?? '')) ?? 'instance'
  if (label === 'instance' && !isDatabase(labels)) return null
  const host = hostOf(labels[label] ?? '')
  return LOCAL.test(host) ? null : { label, value: host, reads: host.includes('.') ? 'probe' : 'service' }
}

/** Returns whether a pod or an address, which change when the exporter restarts, are an exporter's in this alert. */
export function isOfExporter({ pod = '' }: Labels, chosen: string | null): boolean {
  return pod.includes('exporter') && [...ADDRESSES, 'instance'].some((name) => name === chosen)
}

function isAddress(value: string): boolean {
  return ADDRESS.test(value) && !LOCAL.test(value)
}
