/**
 * Who is the target of an alert: the labels that name the service, the namespace and the node, and the programs whose
 * labels name themselves instead. To teach incmon another label, add a row. exporter.ts lists these programs, and
 * described-object.ts lists the labels that describe an object.
 */

import type { Labels } from '../event/event.ts'
import type { GeneratedKind } from './pod-name.ts'

/** How to read a label's value. */
export type Reader =
  | 'name'
  | 'deployment'
  | 'autoscaler'
  | 'service'
  /** A name only in alerts about containers; see `CONTAINER_JOB`. */
  | 'container name'
  | GeneratedKind
  | 'node'
  | 'instance'
  | 'job label'

/** The labels that name a target, most reliable first. Labels in one row have the same meaning, most common first. */
export const TARGETS: readonly (readonly [Reader, string])[] = [
  // DeploymentConfig is OpenShift's, Rollout is Argo's. OpenTelemetry and Fluent Bit append `_name`.
  ['deployment', 'deployment deployment_name rollout deploymentconfig'],
  ['name', 'statefulset statefulset_name'],
  ['name', 'daemonset daemonset_name'],
  ['name', 'cronjob cronjob_name'],
  // The things that Argo Workflows, Tekton, Airflow and Knative run again and again.
  ['name', 'cron_workflow cronworkflow workflows_argoproj_io_cron_workflow tekton_dev_pipeline dag_id'],
  ['name', 'serving_knative_dev_service'],
  // Altinity's operator: one installation of ClickHouse
  ['name', 'chi clickhouse_altinity_com_chi'],
  ['job', 'job_name'],
  ['pod', 'pod pod_name'],
  // AKS names the controller of a pod.
  ['replicaset', 'replicaset replicaset_name ControllerName'],
  ['controller', 'replicationcontroller'],
  ['autoscaler', 'horizontalpodautoscaler hpa hpa_name scaledobject scaledObject verticalpodautoscaler'],
  ['claim', 'persistentvolumeclaim pvc'],
  ['name', 'ingress ingress_name'],
  ['name', 'poddisruptionbudget'],
  // Strimzi's rules for a whole component, and the operator of Redis by Spotahome
  ['name', 'strimzi_io_name redisfailover redisfailovers_databases_spotahome_com_name'],
  ['name', 'app_kubernetes_io_name'],
  ['name', 'app'],
  // `rollout_group`: Grafana's rollout operator, for the StatefulSets of several zones. Google Cloud calls what controls a
  // pod `top_level_controller`.
  ['name', 'workload workload_name rollout_group top_level_controller_name'],
  // Azure Application Insights calls the service a role.
  ['service', 'service_name cloud_role_name app_role_name'],
  ['name', 'sloth_service'],
  // Istio's canonical service is the workload's.
  ['name', 'canonical_service'],
  ['name', 'application'],
  // cAdvisor without Kubernetes
  ['name', 'container_label_com_docker_compose_service container_label_com_docker_swarm_service_name'],
  // Kafka's exporters, for the lag of a consumer
  ['name', 'consumergroup consumer_group'],
  // Proxies: Envoy Gateway, HAProxy
  ['service', 'envoy_cluster_name proxy'],
  // `kubernetes_name` is from the scrape configuration in the Prometheus repository.
  ['service', 'service kubernetes_name'],
  ['name', 'container container_name'],
  ['container name', 'name'],
  // A scrape configuration that keeps all labels of a pod, and a pod that has no name of its own
  ['name', 'app_kubernetes_io_instance'],
  // Rancher's alerts about the control plane
  ['name', 'component_name'],
  // Kong and NGINX. Resolvers call the servers that they ask the same.
  ['service', 'upstream'],
  // Azure and Google: Grafana's labels of resources. AWS: the dimensions of CloudWatch as Grafana, YACE (`dimension_…`)
  // and the CloudWatch exporter write them.
  ['name', 'resourceName resource_name database_id'],
  ['service', 'resourceID resource_arn'],
  ['name', 'DBInstanceIdentifier DBClusterIdentifier dbinstance_identifier dbcluster_identifier'],
  ['service', 'TargetGroup target_group LoadBalancer LoadBalancerName load_balancer load_balancer_name'],
  ['name', 'QueueName FunctionName CacheClusterId'],
  ['name', 'queue_name function_name cache_cluster_id'],
  ['name', 'topic_id subscription_id backend_target_name'],
  ['name', 'ServiceName TableName StreamName DeliveryStreamName DomainName ApiName BucketName FileSystemId InstanceId'],
  ['job label', 'job'],
  // Pyrra
  ['name', 'slo'],
  // Network devices: SNMP's name of the system, what the collectors of switches call it, and the device that Telegraf or
  // Alloy asks. Machines of Azure and Google.
  ['node', 'node nodename node_name kubernetes_host hostname Hostname vm_name sysName devicename agent_host'],
  ['node', 'snmp_target computer metric_label_instance_name'],
  // Telegraf and other agents write `host`, OpenTelemetry `host.name`.
  ['instance', 'host host_name instance'],
]

/**
 * What people call their programs in rules without Kubernetes, what Sensu and Telegraf call what they watch, and what a
 * rule can keep of the metrics of RabbitMQ, Celery, Kafka, NATS and Vitess. These labels name the service only if nothing
 * else does.
 */
export const LAST_NAMES = [
  'component',
  'kubernetes_operator_part_of',
  'entity',
  'sql_instance',
  'queue',
  'topic',
  'stream',
  'keyspace',
] as const

/** Programs whose own rules sum by cluster and namespace alone: the mixins of Grafana, such as MimirIngesterUnhealthy. */
export const OF_MIXIN = /^(?:Mimir|Tempo|Loki|Cortex|Pyroscope)(?=[A-Z])/

/**
 * Prefixes that senders put before the names in `TARGETS`: OpenTelemetry, Fluent Bit, kube-state-metrics, YACE, service
 * meshes, cAdvisor, and Prometheus for labels that clash with the scrape's.
 */
export const PREFIXES = [
  ...['k8s_', 'kubernetes_', 'kubernetes_labels_', 'label_', 'dimension_', 'destination_', 'dst_', 'exported_'],
  // cAdvisor, for the labels of a container
  ...['container_label_io_kubernetes_', 'container_label_'],
  // Google Cloud Monitoring: `resource.label.pod_name`
  ...['resource_label_', 'metric_label_', 'metadata_system_labels_', 'metadata_user_labels_'],
] as const
/** Service meshes name the callee with these prefixes: Istio and Hubble, Linkerd. The other labels name the caller. */
export const CALLEE = /^(?:destination|dst)_/
/** Who measured a request, of Istio, Linkerd and Hubble. Linkerd writes `dst_…` only at the caller. */
const MEASURED = /^(?:reporter|(?:traffic_)?direction$|source_|src_|dst_)/
const PROXY = /istio|envoy|linkerd|hubble|cilium|gateway|waypoint|ztunnel/
const WORKLOADS = list('deployment rollout statefulset daemonset cronjob pod workload')

/**
 * Returns whether the labels of a callee name the target of an alert. In the metrics of a mesh, the workload beside them is
 * the one whose proxy measured the requests. In any other alert with a workload, that workload is the target.
 */
export function isOfMesh(labels: Labels): boolean {
  if (Object.keys(labels).some((name) => MEASURED.test(name))) return true
  const beside = WORKLOADS.filter((name) => labels[name] !== undefined)
  return beside.length === 0 || [...beside, 'job', 'container'].some((name) => PROXY.test(labels[name] ?? ''))
}

/** The labels with the namespace, most reliable first. After these, any label that ends in `NAMESPACE_ENDS`. */
export const NAMESPACES = list(`namespace kubernetes_namespace k8s_namespace_name kubernetes_namespace_name k8s_ns_name
  destination_workload_namespace destination_service_namespace destination_namespace dst_namespace exported_namespace
  service_namespace container_label_com_docker_stack_namespace container_label_com_docker_compose_project`)

/**
 * `state`: kube-state-metrics. `host`: node-exporter and its like; the target is the node. `kubelet`: the kubelet or
 * cAdvisor; the target is the node or a pod on it. `probe`: the blackbox exporter; the target is the probed URL.
 * `gateway`: the Pushgateway; the target is the job that pushed. `proxy`: a proxy or service mesh; the target is the
 * backend. `queue`: an exporter of consumer lags; the target is the consumer. `cloud`: an exporter of a cloud's
 * metrics; the target is the cloud's resource. `manager`: the active one of several managers reports about all that they
 * manage; the target is their service. `events`: Kubernetes events as metrics or logs; the target is the event's object.
 * `other`: the scraped program is probably the target itself.
 */
export type ExporterKind =
  | 'state'
  | 'host'
  | 'kubelet'
  | 'probe'
  | 'gateway'
  | 'proxy'
  | 'queue'
  | 'cloud'
  | 'manager'
  | 'events'
  | 'other'

export function list(text: string): readonly string[] {
  return text.split(/\s+/)
}
