/** The labels that describe a Kubernetes object or another object. To teach incmon another program, add a row. */

/** Labels that, with `kind`, `name` and `namespace` appended, describe a Kubernetes object. */
export const OBJECT_PREFIXES = [
  ...['involved_object_', 'involvedObject_', 'involvedobject_', 'event_involvedObject_', 'object_involvedObject_'],
  // `event_`: the metric kubernetes_events
  ...['regarding_', 'k8s_object_', 'object_', 'resource_', 'involved_', 'event_'],
] as const

const DOMAIN_ALERT = /(?:cert|certificate|ssl|tls|domain)_?(?:expir|regist)/i

/**
 * Programs whose alerts name an object without its kind. `marker`: a label that only this program writes. `alerts`: how
 * its alerts are called. `jobs`: how its scrape job is called. `name`, `namespace`: the labels with the object's name
 * and namespace, surest first.
 */
export const OBJECTS_OF: readonly {
  readonly marker?: string
  readonly alerts?: RegExp
  readonly jobs?: RegExp
  readonly kind: string
  readonly name: string
  readonly namespace: string
}[] = [
  // cert-manager's metric certmanager_certificate_expiration_timestamp_seconds. Its mixin keeps only these labels.
  { marker: 'issuer_kind', kind: 'Certificate', name: 'name', namespace: 'exported_namespace' },
  { alerts: /^cert-?manager/i, kind: 'Certificate', name: 'name', namespace: 'exported_namespace namespace' },
  // x509-certificate-exporter
  { marker: 'secret_name', kind: 'Secret', name: 'secret_name', namespace: 'secret_namespace' },
  // Argo CD's metric argocd_app_info
  // Crossplane's composed resources name the claim of their user.
  { marker: 'claim_name', kind: 'Claim', name: 'claim_name', namespace: 'claim_namespace' },
  { marker: 'dest_server', kind: 'Application', name: 'name', namespace: 'dest_namespace' },
  { alerts: /^argo-?(?:cd|app)/i, kind: 'Application', name: 'name', namespace: 'dest_namespace' },
  // Longhorn's metric longhorn_volume_robustness
  { marker: 'pvc_namespace', kind: 'PersistentVolumeClaim', name: 'pvc', namespace: 'pvc_namespace' },
  // The ingress controller of NGINX Inc.
  { marker: 'resource_namespace', kind: 'Ingress', name: 'resource_name', namespace: 'resource_namespace' },
  // Tempo's graph of services: the client calls the server.
  { marker: 'client', kind: 'Service', name: 'server', namespace: 'server_service_namespace namespace' },
  // Tekton
  { marker: 'pipelinerun', kind: 'PipelineRun', name: 'pipelinerun', namespace: 'exported_namespace namespace' },
  { jobs: /tekton/, kind: 'Pipeline', name: 'pipeline', namespace: 'exported_namespace namespace' },
  // elasticsearch_exporter: the cluster, although the label `name` is one of its nodes
  ...['es_data_node', 'es_master_node', 'es_ingest_node', 'es_client_node'].map((marker) => {
    return { marker, kind: 'Elasticsearch', name: 'cluster name', namespace: 'namespace' }
  }),
  // kafka-lag-exporter
  { alerts: /^kafka.*lag/i, kind: 'ConsumerGroup', name: 'group', namespace: 'namespace' },
  // KubeVirt: virt-handler reports about the machines on its node.
  { jobs: /kubevirt/, kind: 'VirtualMachine', name: 'name', namespace: 'exported_namespace namespace' },
  // Proxmox VE: a guest's name, else `qemu/102`, `lxc/110`, `node/pve1`; its own metrics, in which the guest is the host;
  // libvirt; Incus and LXD. The scraped instance is a host.
  { jobs: /^(?:pve|proxmox)/i, kind: 'Guest', name: 'name id', namespace: '' },
  { alerts: /^(?:pve|proxmox)/i, kind: 'Guest', name: 'name id', namespace: '' },
  { marker: 'vmid', kind: 'Guest', name: 'name host vmid', namespace: '' },
  { jobs: /libvirt/, kind: 'Guest', name: 'instance_name domain', namespace: '' },
  { jobs: /^(?:incus|lxd)/, kind: 'Guest', name: 'name', namespace: '' },
  // Programs that ask devices: UniFi's access points and switches, routers of MikroTik, the things of Home Assistant and
  // of FRITZ!Box, power supplies of NUT and apcupsd. Two devices of one program are two services.
  { jobs: /unpoller|unifi(?!ed|c)/, kind: 'Device', name: 'name', namespace: '' },
  { alerts: /^(?:unpoller|unifi(?!ed|c))/i, kind: 'Device', name: 'name', namespace: '' },
  { marker: 'routerboard_name', kind: 'Device', name: 'routerboard_name', namespace: '' },
  { jobs: /^mikrotik/, kind: 'Device', name: 'name', namespace: '' },
  { marker: 'friendly_name', kind: 'Device', name: 'friendly_name', namespace: '' },
  // Exporters that log in to network devices: junos_exporter, cisco_exporter, Oxidized
  { jobs: /^(?:junos|cisco|arista|fortigate|panos|netconf|oxidized)/, kind: 'Node', name: 'target', namespace: '' },
  { marker: 'ups', kind: 'Device', name: 'ups', namespace: '' },
  // Cloudflare's zones, and its tunnels, which have none
  { jobs: /cloudflare/, kind: 'Zone', name: 'zone zone_name tunnel_name', namespace: '' },
  { alerts: /^cloudflare/i, kind: 'Zone', name: 'zone zone_name tunnel_name', namespace: '' },
  // smokeping_prober and ping_exporter: the address that they ask
  { jobs: /^(?:smokeping|ping[-_]exporter)/, kind: 'Check', name: 'host target', namespace: '' },
  // Programs that check addresses: Gatus and Healthchecks name the check.
  { jobs: /gatus|healthchecks/, kind: 'Check', name: 'name', namespace: '' },
  // LINSTOR's controller reports about the nodes of a storage cluster, gNMI collectors about the devices that they ask.
  { jobs: /linstor|piraeus/, kind: 'Node', name: 'node', namespace: '' },
  { jobs: /gnmi/, kind: 'Node', name: 'source target', namespace: '' },
  // Programs with namespaces of their own: Prometheus renames the label.
  { jobs: /temporal/, kind: 'Pod', name: 'pod', namespace: 'namespace' },
  // domain_exporter, and alerts about certificates that name only the domain
  { alerts: DOMAIN_ALERT, jobs: /^domain/, kind: 'Domain', name: 'domain domain_name', namespace: '' },
  // OpenShift's ClusterOperatorDown and ClusterOperatorDegraded
  { alerts: /^ClusterOperator/, kind: 'ClusterOperator', name: 'name', namespace: '' },
]
