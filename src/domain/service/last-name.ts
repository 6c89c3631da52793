/** Names the target of an alert if no label of a workload does. */

import type { Labels } from '../event/event.ts'
import { databaseLabel } from './cluster.ts'
import type { Exporter } from './exporter.ts'
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
