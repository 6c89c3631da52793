/** Decides which labels name the cluster, and when a service with a cluster matches one without. */
import type { Labels } from '../event/event.ts'

/** Prometheus' `external_labels` by convention, and the labels of common agents. */
const LABELS = ['cluster', 'cluster_name', 'k8s_cluster'] as const

/** Returns the cluster that the labels name, or ''. */
export function clusterInLabels(labels: Labels): string {
  for (const label of LABELS) {
    const value = labels[label]?.trim()
    if (value) return value
  }
  return ''
}

/** How the cluster of an item was matched: directly, or by a rule about a missing cluster. */
export type Match<Service> = { readonly service: Service; readonly rule: string | null }

/**
 * Returns the service of an item's cluster among services with the same namespace and name; null if there is none.
 * Often only some senders name a cluster. So an item without a cluster belongs to the service of the only cluster, and
 * a service without a cluster belongs to the first cluster that is named for it. With a second cluster the match is
 * ambiguous, and the services stay separate.
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
