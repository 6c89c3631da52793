/** Finds the cluster name in labels, and matches items to services with and without a cluster. */
import type { Labels } from '../event/event.ts'

/** The conventional `external_labels` in Prometheus, and the labels used by common agents. */
const LABELS = ['cluster', 'cluster_name', 'k8s_cluster'] as const

/** Returns the cluster named in the labels, or ''. */
export function clusterInLabels(labels: Labels): string {
  const values = LABELS.map((label) => labels[label]?.trim())
  return values.find(Boolean) ?? ''
}

/** How an item's cluster was matched; `rule` is null for an exact match. */
export type Match<Service> = { readonly service: Service; readonly rule: string | null }

/**
 * Returns the service for an item's cluster, or null if no service matches. Often only some senders name their cluster.
 * Therefore, if only one cluster is known, an item without a cluster belongs to the service in that cluster. Likewise,
 * a service without a cluster is assigned to the first cluster that an item names for the service. Once there is a
 * second cluster, the match is ambiguous and the services stay separate. `alike`: the services with the same namespace
 * and name.
 */
export function matchCluster<Service extends { readonly cluster: string }>(
  cluster: string,
  alike: readonly Service[],
): Match<Service> | null {
  const exact = alike.find((one) => one.cluster === cluster)
  if (exact) return { service: exact, rule: null }
  const [only, second] = alike
  if (!only || second) return null
  if (cluster === '') return { service: only, rule: `the only cluster with this service is ${only.cluster}` }
  return only.cluster === '' ? { service: only, rule: `adopted into the cluster ${cluster}` } : null
}
