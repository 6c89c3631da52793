/** Why an item belongs to a service, as data. `ruleText` is the only place that turns it into a sentence. */

import type { AliasRef } from './service.ts'

/** How a name was read: the shape of a generated name, a known workload, the owner of an object, a project's slug. */
type How = string

export type ServiceRule = (
  | { readonly by: 'label'; readonly label: string; readonly how?: How }
  /** The alert is about the exporter itself. */
  | { readonly by: 'exporter label'; readonly label: string; readonly how?: How }
  | { readonly by: 'object' | 'project'; readonly how: How }
  /** `label`: the name of the label that an alias for a label names. */
  | { readonly by: 'alias'; readonly alias: AliasRef['kind']; readonly label?: string; readonly value?: string }
  | { readonly by: 'none' }
  /** A sentence that an older version stored. */
  | { readonly code: 'text'; readonly text: string }
) & {
  /** How a missing cluster was found: the service exists in only one cluster, or was adopted into the item's cluster. */
  readonly cluster?: { readonly by: 'only' | 'adopted'; readonly name: string }
  /** The namespace of the only service with this name, if the item names none. */
  readonly namespace?: string
}

/** Returns the rule as shown to people, for example `label pod: deployment pod`. */
export function ruleText(rule: ServiceRule): string {
  const { cluster, namespace } = rule
  if (namespace !== undefined) return `${wayText(rule)}; the only service with this name is in ${namespace}`
  if (!cluster) return wayText(rule)
  const found = cluster.by === 'only' ? 'the only cluster with this service is' : 'adopted into the cluster'
  return `${wayText(rule)}; ${found} ${cluster.name}`
}

function wayText(rule: ServiceRule): string {
  if ('code' in rule) return rule.text
  switch (rule.by) {
    case 'label':
    case 'exporter label':
      return rule.how ? `${rule.by} ${rule.label}: ${rule.how}` : `${rule.by} ${rule.label}`
    case 'alias':
      return rule.label === undefined ? `alias ${rule.alias}` : `alias label ${rule.label}=${rule.value ?? ''}`
    case 'none':
      return 'unattributed'
    default:
      return rule.how
  }
}

/** Returns the code of a rule for a pipeline, such as `alias` or `slug`. */
export function ruleCode(rule: ServiceRule): string {
  return 'code' in rule ? rule.code : rule.by === 'project' ? rule.how : rule.by
}

/** Returns the label that chose the service, also by an alias, or null. */
export function chosenLabel(rule: ServiceRule): string | null {
  return 'by' in rule && 'label' in rule ? (rule.label ?? null) : null
}
