/**
 * Who is the target of an alert: the labels that name the service, the namespace and the node, and the programs whose
 * labels name themselves instead. To teach incmon another label or program, add a row. described-object.ts lists the
 * labels that describe an object.
 */

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
  ['replicaset', 'replicaset replicaset_name'],
  ['controller', 'replicationcontroller'],
  ['autoscaler', 'horizontalpodautoscaler hpa hpa_name scaledobject scaledObject'],
  ['claim', 'persistentvolumeclaim pvc'],
  ['name', 'ingress ingress_name'],
  ['name', 'poddisruptionbudget'],
  ['name', 'app_kubernetes_io_name'],
  ['name', 'app'],
  ['name', 'workload workload_name'],
  ['service', 'service_name'],
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
  // Rancher's alerts about the control plane
  ['name', 'component_name'],
  // Azure and Google: Grafana's labels of resources. AWS: the dimensions of CloudWatch as Grafana, YACE (`dimension_…`)
  // and the CloudWatch exporter write them.
  ['name', 'resourceName database_id'],
  ['name', 'DBInstanceIdentifier DBClusterIdentifier dbinstance_identifier dbcluster_identifier'],
  ['service', 'TargetGroup target_group LoadBalancer LoadBalancerName load_balancer load_balancer_name'],
  ['name', 'QueueName FunctionName CacheClusterId'],
  ['name', 'queue_name function_name cache_cluster_id'],
  ['name', 'topic_id subscription_id backend_target_name'],
  ['name', 'ServiceName TableName StreamName DeliveryStreamName DomainName ApiName BucketName FileSystemId InstanceId'],
  ['job label', 'job'],
  // Pyrra
  ['name', 'slo'],
  // Network devices: SNMP's name of the system, what the collectors of switches call it, and the device that Telegraf
  // asks.
  ['node', 'node nodename node_name kubernetes_host hostname Hostname vm_name sysName devicename agent_host'],
  // Telegraf and other agents write `host`, OpenTelemetry `host.name`.
  ['instance', 'host host_name instance'],
]

/**
 * Prefixes that senders put before the names in `TARGETS`: OpenTelemetry, Fluent Bit, kube-state-metrics, YACE, service
 * meshes, cAdvisor, and Prometheus for labels that clash with the scrape's.
 */
export const PREFIXES = [
  ...['k8s_', 'kubernetes_', 'kubernetes_labels_', 'label_', 'dimension_', 'destination_', 'dst_', 'exported_'],
  // cAdvisor, for the labels of a container
  ...['container_label_io_kubernetes_', 'container_label_'],
] as const
/** Service meshes name the callee with these prefixes: Istio and Hubble, Linkerd. The other labels name the caller. */
export const CALLEE = /^(?:destination|dst)_/

/** The labels with the namespace, most reliable first. After these, any label that ends in `NAMESPACE_ENDS`. */
export const NAMESPACES = list(`namespace kubernetes_namespace k8s_namespace_name kubernetes_namespace_name k8s_ns_name
  destination_workload_namespace destination_service_namespace destination_namespace dst_namespace exported_namespace
  service_namespace container_label_com_docker_stack_namespace container_label_com_docker_compose_project`)
export const NAMESPACE_ENDS = ['namespace', 'namespace_name'] as const
/** Namespaces of a program that only reports about the target, or that calls it. */
export const FOREIGN_NAMESPACE = /^(?:source|controller|client|scrape|prometheus|exporter|agent|collector|monitor)_/

/**
 * Values that name no service: scrape jobs that cover many services, the sandbox of a pod, Falco's container outside of
 * all containers, Istio's unknown targets.
 */
export const NO_NAMES: ReadonlySet<string> = new Set(
  list(`kubernetes-pods kubernetes-pods-slow kubernetes-service-endpoints kubernetes-service-endpoints-slow
    kubernetes-services kubernetes-ingresses POD host PassthroughCluster BlackHoleCluster`),
)

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

/** Labels that the scrape adds to every metric. */
export const SCRAPE = ['job', 'service', 'endpoint', 'instance', 'pod', 'container'] as const

/** Words in the labels of a scraped program that identify an exporter, and the labels that then name the exporter. */
export const EXPORTERS: readonly {
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
      systemd-exporter systemd_exporter smartctl ipmi dcgm process-exporter vmware zfs-exporter zfs_exporter collectd`),
    own: ['job', 'service', 'endpoint', 'pod', 'container', 'namespace'],
  },
  { kind: 'probe', words: ['blackbox'], own: ['job', 'endpoint'] },
  // Nomad names its own jobs in `job`, which Prometheus renames. Another Prometheus can be the scraped program, too.
  { kind: 'gateway', words: ['pushgateway', 'nomad', 'federat'], own: SCRAPE },
  {
    kind: 'cloud',
    words: list('yace cloudwatch stackdriver azure-metrics azure_metrics rds-exporter rds_exporter'),
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

/** Labels that only one kind of exporter writes. */
export const MARKERS: Readonly<Record<string, ExporterKind>> = {
  controller_pod: 'proxy',
  controller_class: 'proxy',
  envoy_cluster_name: 'proxy',
  destination_workload: 'proxy',
  destination_service: 'proxy',
  destination_service_name: 'proxy',
  destination_canonical_service: 'proxy',
  dst_service: 'proxy',
  dst_deployment: 'proxy',
  dst_statefulset: 'proxy',
  // Uptime Kuma, ssl_exporter
  monitor_url: 'probe',
  issuer_cn: 'probe',
}
/** The labels with the address that a prober asked, most reliable first. */
export const PROBED = [
  'target',
  'server',
  'monitor_url',
  'monitor_hostname',
  'monitor_name',
  'instance',
  'host',
] as const
/** The port of the blackbox exporter, and how the names of alerts about an address begin. */
export const PROBER_PORT = /:9115$/
export const PROBE_ALERT = /^(?:blackbox|probe)/i
/** Alerts about a web server's host names, which are no machines: `NGINXCertificateExpiry`. */
export const WEB_ALERT = /ingress|certificate|cert_?exp|ssl|tls/i

/**
 * The ports of node-exporter, windows-exporter, process-exporter, systemd_exporter, smartctl_exporter, zfs_exporter,
 * ipmi_exporter, Telegraf and collectd.
 */
export const HOST_PORT = /:(?:9100|9182|9256|9558|9633|9134|9290|9273|9103)$/
/** Labels of metrics about a machine, and names that people give to the jobs that scrape or read machines. */
export const HOST_LABELS: ReadonlySet<string> = new Set(
  list('device mountpoint fstype cpu nodename zpool ifName ifDescr'),
)
export const HOST_JOBS: ReadonlySet<string> = new Set(
  list(`node nodes host hosts server servers machines vms baremetal linux linux-servers windows windows-servers
    varlogs syslog systemd-journal journal zfs`),
)

/**
 * How the names of alerts about a machine begin: `HostOutOfMemory` and `WindowsServerDiskSpaceUsage` in
 * awesome-prometheus-alerts, `NodeFilesystemSpaceFillingUp` in the mixin of node-exporter.
 */
export const HOST_ALERT =
  /^(?:(?:Host|Windows)(?=[A-Z])|Node(?:Filesystem|Memory|Network|CPU|Disk|Clock|RAID|Systemd|TextFile|FileDesc|SystemS|HighNumberConntrack))/
/** The containers of Docker are named by cAdvisor's label `name`. Which alerts have it: by their job, by their name. */
export const CONTAINER_JOB = /cadvisor|docker/i
export const CONTAINER_ALERT = /^(?:docker[ _-]?)?container/i

/** Labels with which kube-state-metrics names other objects than workloads. Such an alert is not about itself. */
export const STATE_OBJECTS = [
  ...['resourcequota', 'persistentvolume', 'storageclass', 'limitrange', 'configmap', 'secret', 'phase'],
] as const

function list(text: string): readonly string[] {
  return text.split(/\s+/)
}
