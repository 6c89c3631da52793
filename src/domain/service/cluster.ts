/** Finds the cluster name in labels, and matches items to services with and without a cluster. */
import type { Labels } from '../event/event.ts'
import { labelValue } from './reading.ts'
import type { ServiceRule } from './service.ts'

/** The conventional `external_labels` in Prometheus, and the labels used by common agents. */
const LABELS = [
  'cluster',
  'cluster_name',
  'k8s_cluster',
  'k8s_cluster_name',
  'kubernetes_cluster',
  'cluster_id',
  'k8s.cluster.name',
  'resource.label.cluster_name',
  'Cluster',
] as const

/**
 * Databases whose exporters write the name of the database's own cluster into these labels. The words occur in
 * the name of the scrape job, and at the beginning of the names of alerts.
 */
const DATABASES = [
  ...['cnpg', 'cloudnative-pg', 'cloudnativepg', 'elastic', 'opensearch', 'ceph', 'rook-ceph', 'kafka', 'strimzi'],
  ...['cassandra', 'scylla', 'mongo', 'redis', 'galera', 'mysql-?galera', 'pxc', 'patroni', 'tidb', 'tikv', 'crunchy'],
  ...['cockroach', 'pulsar'],
]
const DATABASE_JOB = new RegExp(DATABASES.join('|'), 'i')
const DATABASE_ALERT = new RegExp(`^(?:${DATABASES.join('|')})`, 'i')
/** Labels that only the exporters of these databases write. */
const DATABASE_LABEL =
  /^(?:(?:label_)?cnpg_io_|es_cluster|es_client_node|es_data_node|strimzi_io_cluster|strimzi_cluster|ceph_|cassandra_|scylla_|redis_cluster|mongodb_cluster|rs_nm$|(?:label_)?spilo_role$|galera_|wsrep_|patroni_)/

/** The labels in which exporters of databases write the name of the database's own cluster. */
const OF_DATABASES: ReadonlySet<string> = new Set(['cluster', 'cluster_name'])
/**
 * Labels that name a database's own cluster and nothing else: `rabbitmq_cluster`, `cnpg_io_cluster`, and those of other
 * operators: `postgres_operator_crunchydata_com_cluster`, `elasticsearch_k8s_elastic_co_cluster_name`.
 */
const OWN_CLUSTER = new RegExp(
  `^(?:label_)?(?:${[...DATABASES, 'rabbitmq', 'valkey', 'mysql', 'mariadb', 'postgres(?:ql)?', 'pg', 'es'].join('|')})[a-z]*(?:(?:_[a-z\\d]+)*_(?:com?|io))?_cluster(?:_name)?$`,
)
/** Patroni calls the cluster `scope`. */
const PATRONI = /^patroni/i

/** Returns the cluster named in the labels, or ''. */
export function clusterInLabels(labels: Labels): string {
  for (const label of LABELS) {
    const value = labelValue(labels, label)
    if (value && !(OF_DATABASES.has(label) && namesDatabase(labels))) return value
  }
  return ''
}

/** Returns the label that names a database's own cluster and not the Kubernetes cluster, or null. */
export function databaseCluster(labels: Labels): string | null {
  const label = LABELS.find((name) => OF_DATABASES.has(name) && labelValue(labels, name) !== undefined)
  return label !== undefined && namesDatabase(labels) ? label : null
}

/** Returns the label with the name of a database's own cluster, or null. */
export function databaseLabel(labels: Labels): string | null {
  const own = Object.keys(labels).find((name) => OWN_CLUSTER.test(name) && labelValue(labels, name) !== undefined)
  if (own !== undefined) return own
  const isPatroni = PATRONI.test(labels.alertname ?? '') && labelValue(labels, 'scope') !== undefined
  return isPatroni ? 'scope' : databaseCluster(labels)
}

function namesDatabase(labels: Labels): boolean {
  if (DATABASE_JOB.test(labels.job ?? '') || DATABASE_ALERT.test(labels.alertname ?? '')) return true
  for (const name in labels) if (DATABASE_LABEL.test(name)) return true
  return false
}

/** How an item's cluster was matched; `rule` is undefined for an exact match. */
export type Match<Service> = { readonly service: Service; readonly rule?: ServiceRule['cluster'] }

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
  if (exact) return { service: exact }
  const [only, second] = alike
  if (!only || second) return null
  if (cluster === '') return { service: only, rule: { by: 'only', name: only.cluster } }
  return only.cluster === '' ? { service: only, rule: { by: 'adopted', name: cluster } } : null
}

/** Returns whether two clusters differ. A sender that does not name its cluster could be in any cluster. */
export function areApart(one: string, other: string): boolean {
  return one !== other && one !== '' && other !== ''
}
