/** Turns a draft into an event to store and a signal for an alert. */
import { type AlertDraft, type ClusterDraft, type Draft, type Labels, newLabels } from '../event/event.ts'
import { addPart, digest, hexOf, startDigest } from '../event/fingerprint.ts'
import { failureOfAlert, judgeReason, tellsOfEnds } from '../event/reason.ts'
import { plainMessage, withoutPodUid } from '../event/reason-message.ts'
import { exporterOf } from '../service/exporter.ts'
import { isOfExporter } from '../service/last-name.ts'
import { readPodName } from '../service/pod-name.ts'
import { type Attribution, chosenLabel, type Name, nodeOf, UNATTRIBUTED } from '../service/service.ts'
import { severityOf } from '../severity.ts'
import { withoutStop } from '../text.ts'
import type { AlertPart, Signal } from './alert.ts'
import { type DraftJudgement, NO_LABELS, oneLine } from './judgement.ts'
import { judgeCi } from './signal-ci.ts'

/** The service, determined by the rules or by an alias. */
type Target = Name & { readonly cluster: string }

export function judge(draft: Draft, target: Target, attribution: Attribution): DraftJudgement {
  if (draft.source === 'ci') return judgeCi(draft, attribution)
  return draft.source === 'cluster' ? judgeCluster(draft, target, attribution) : judgeAlert(draft, attribution)
}

/**
 * Identifies the alert by service, condition, and container or kind, so that the alert stays the same when a pod
 * restarts.
 */
function judgeCluster(draft: ClusterDraft, target: Target, attribution: Attribution): DraftJudgement {
  const { object } = draft
  const finding = judgeReason({ reason: draft.reason, message: draft.message, type: draft.type, kind: object.kind })
  const summary = withoutPodUid(plainMessage(draft.message)) || finding.group
  const what = { reason: draft.reason, message: draft.message, kind: object.kind, object: object.name }
  const fingerprint = eventFingerprint(target, finding.group, object)
  return {
    event: {
      kind: finding.change ? 'change' : finding.severity === 'info' ? 'info' : 'firing',
      name: draft.reason || finding.group,
      object: `${object.kind}/${object.name}`,
      severity: finding.severity,
      text: oneLine(summary),
    },
    tellsOfEnds: finding.change || tellsOfEnds(what),
    evidenceOf: null,
    signal:
      finding.severity === 'info'
        ? null
        : {
            status: 'firing',
            source: 'cluster',
            name: finding.group,
            severity: finding.severity,
            said: draft.type,
            summary: oneLine(summary),
            labels: clusterLabels(draft, finding.type),
            annotations: finding.hint ? { hint: finding.hint } : NO_LABELS,
            links: {},
            fingerprint,
            logicalKey: fingerprint,
            failure: finding.failure,
            node: nodeOf(draft),
            rules: { service: attribution.rule, severity: finding.rule, identity: 'object' },
            startsAt: draft.startsAt,
            endsAt: null,
            expiry: null,
            at: draft.at,
            sighting: { object: object.name, count: draft.count, escalates: finding.escalates },
          },
  }
}

/**
 * Returns the identity of a condition: its service, its name, and the container, or the object's kind if the container
 * is unknown. For a probe, the kind is always used, because not every probe event names the container.
 */
export function eventFingerprint(target: Target, group: string, { container, kind }: AlertPart): string {
  const part = group.startsWith('Unhealthy') ? kind : (container ?? kind)
  return digest(target.cluster, target.namespace, target.name, group, part)
}

function clusterLabels({ object, reason }: ClusterDraft, type: string): Labels {
  const labels = Object.assign(newLabels(), { reason, type, kind: object.kind, name: object.name })
  if (object.namespace) labels.namespace = object.namespace
  if (object.container) labels.container = object.container
  if (object.node) labels.node = object.node
  return labels
}

/** What Grafana says of a rule that keeps its name although nobody knows whether its condition holds. */
const UNKNOWN_STATES: ReadonlyMap<string | undefined, string> = new Map([
  ['NoData', 'Grafana has no data'],
  ['Error', 'Grafana cannot evaluate the rule'],
])

/** What Grafana says in an alert of its own. The annotations of such an alert are those of the rule. */
const UNKNOWN_ALERTS: ReadonlyMap<string | undefined, string> = new Map([
  ['DatasourceNoData', 'Grafana has no data for this rule'],
  ['DatasourceError', 'Grafana cannot evaluate this rule'],
])

/** Returns what an alert says of its condition, in one line. */
function summaryOf({ status, labels, annotations, name }: AlertDraft): string {
  const unknown = UNKNOWN_ALERTS.get(labels.alertname)
  if (unknown !== undefined) return oneLine(annotations.Error ? `${unknown}: ${annotations.Error}` : unknown)
  const words = oneLine(annotations.summary || annotations.message || annotations.description || name)
  const blind = status === 'firing' ? UNKNOWN_STATES.get(annotations.grafana_state_reason) : undefined
  return blind === undefined ? words : `${withoutStop(words)} (${blind})`
}

/**
 * Identifies the alert by the sender's fingerprint. For Alertmanager, the labels that survive a restart of the exporter
 * also identify it.
 */
function judgeAlert(draft: AlertDraft, attribution: Attribution): DraftJudgement {
  const { severity, raw, rule } = severityOf(draft)
  const { annotations } = draft
  const summary = summaryOf(draft)
  const kind = draft.nature === 'heartbeat' || draft.nature === 'test' ? draft.nature : draft.status
  const silent = severity === 'none' || kind === 'heartbeat' || kind === 'test'
  const known = severity === 'none' ? 'info' : severity
  const { pod } = draft.labels
  return {
    event: {
      kind,
      name: draft.name,
      object: pod ? `Pod/${pod}` : '',
      severity: silent ? 'info' : known,
      text: summary,
    },
    tellsOfEnds: false,
    evidenceOf: null,
    signal: silent
      ? null
      : {
          status: draft.status,
          source: draft.source,
          name: draft.name,
          severity: known,
          said: raw,
          summary,
          labels: draft.labels,
          annotations,
          links: draft.links,
          fingerprint: draft.fingerprint,
          logicalKey: logicalKey(draft, attribution),
          failure: draft.nature === 'no-data' ? 'monitoring' : failureOfAlert(draft.name),
          node: nodeOf(draft),
          rules: {
            service: attribution.rule,
            severity: rule,
            identity: draft.source === 'metrics' ? 'labels' : 'fingerprint',
          },
          startsAt: draft.startsAt,
          isStartUnknown: draft.isStartUnknown,
          endsAt: draft.endsAt,
          expiry: draft.expiry ?? null,
          at: draft.at,
          sighting: null,
        },
  }
}

/** The key does not contain the name of the service, because a service can get a cluster or another name. */
function logicalKey(draft: AlertDraft, attribution: Attribution): string {
  if (draft.source !== 'metrics') return digest(draft.name, draft.fingerprint)
  const hash = startDigest()
  addPart(hash, draft.name)
  for (const label of logicalNames(draft, attribution)) {
    addPart(hash, label)
    addPart(hash, draft.labels[label] ?? '')
  }
  return hexOf(hash)
}

/**
 * Returns whether a signal opens an alert if its condition has no alert yet. A successful pipeline does not open an
 * alert.
 */
export function makesAlert(signal: Signal): boolean {
  return signal.source !== 'ci' || signal.status === 'firing'
}

export function isUnattributed({ namespace, name }: Name): boolean {
  return namespace === '' && name === UNATTRIBUTED
}

// The labels of an alert that survive a restart of its exporter.

/** Labels that can change while the condition stays the same: the severity, and the name of one of several senders. */
const VOLATILE = new Set([
  ...[
    'severity',
    'Severity',
    'uid',
    'endpoint',
    'prometheus',
    'prometheus_replica',
    'replica',
    '__replica__',
    'container_id',
  ],
  ...['thanos_ruler_replica', 'ruler_replica', 'rule_replica', 'receive_replica'],
])

const NONE: ReadonlySet<string> = new Set()

/** Labels by which alerts about replicas of one thing differ, or that say what is wrong with it. */
const OF_REPLICAS =
  /^(?:(?:k8s[_.])?container(?:[_.]?(?:name|ip|id|uid))?|uid|id|image|version|reason|phase|condition|status|code|method|path|uri|url|route|handler|le|quantile|.*_hash|alertname|namespace|team|owner|(?:alert)?state|grafana_folder|.*rule_uid__?|.*summary|.*value)$/i

/** Labels that name a pod, and those that name a machine or a process on it. */
const POD = /^(?:exported_|kubernetes_|target_|k8s[_.])?pod(?:[_.]?(?:name|ip|id|uid))?$/i
const MACHINE =
  /^(?:(?:exported_|kubernetes_|target_|k8s[_.])?(?:instance|node|host)(?:[_.]?(?:name|ip|id|uid))?|nodename|hostname|ip|address)$/i

/**
 * Returns the labels in which an alert differs from all others, as `shard 2`; '' if there are none, or no others.
 * @param hasMachines whether another machine counts, or another pod of a StatefulSet, if nothing else differs
 */
export function differenceOf(labels: Labels, others: readonly Labels[], hasMachines = true): string {
  const subject = differing(labels, others, (name) => ![OF_REPLICAS, POD, MACHINE].some((one) => one.test(name)))
  return (subject.length > 0 || !hasMachines ? subject : machineOf(labels, others)).join(', ')
}

/** Returns the label that names another machine or pod of a StatefulSet. The pods of other workloads replace each other. */
function machineOf(labels: Labels, others: readonly Labels[]): readonly string[] {
  const { own } = exporterOf(labels)
  const pods = Object.keys(labels).filter((name) => POD.test(name) && !own.has(name))
  const isOfSet = pods.some((name) => readPodName(labels[name] ?? '', null, '').how === 'statefulset pod')
  const meant = pods.length === 0 ? MACHINE : isOfSet ? POD : null
  return differing(labels, others, (name) => !own.has(name) && (meant?.test(name) ?? false)).slice(0, 1)
}

function differing(labels: Labels, others: readonly Labels[], isMeant: (name: string) => boolean): readonly string[] {
  if (others.length === 0) return []
  const names = Object.keys(labels).filter((name) => !VOLATILE.has(name) && isMeant(name))
  const own = names.filter((name) => others.every((one) => one[name] !== labels[name]))
  return own.sort().map((name) => `${name} ${labels[name]}`)
}

/**
 * Returns the sorted names of the labels in the logical key. Leaves out volatile labels and labels that identify the
 * exporter. Keeps the label that determined the service, and the target's own `pod` label.
 */
export function logicalNames(draft: AlertDraft, { rule }: Pick<Attribution, 'rule'>): string[] {
  const chosen = chosenLabel(rule)
  const isAboutExporter = 'by' in rule && rule.by === 'exporter label'
  const exporters = isAboutExporter ? NONE : exporterLabels(draft.labels, chosen)
  const names: string[] = []
  let isSorted = true
  for (const name in draft.labels) {
    if (name !== chosen && (VOLATILE.has(name) || exporters.has(name))) continue
    isSorted &&= names.length === 0 || (names.at(-1) ?? '') < name
    names.push(name)
  }
  // Prometheus sends sorted labels. Sorting the labels again would allocate a kilobyte for each alert.
  return isSorted ? names : names.sort()
}

/** A claim can be mounted on several nodes, and follows its pod to another node. */
const CLAIM = /(?:^|_)(?:persistentvolumeclaim|pvc)$/

/**
 * Returns the labels that identify the exporter. For exporters on a node, the `instance` label is included if another
 * label determined the service. The `node` label is included if a claim determined the service.
 */
function exporterLabels(labels: Labels, chosen: string | null): ReadonlySet<string> {
  const { own, kind } = exporterOf(labels)
  const address = (kind === 'host' || kind === 'kubelet') && chosen !== null && chosen !== 'instance'
  if (chosen !== null && CLAIM.test(chosen)) return new Set([...own, ...(address ? ['instance'] : []), 'node'])
  if (isOfExporter(labels, chosen)) return new Set([...own, 'instance', 'pod', 'node'])
  return address ? new Set([...own, 'instance']) : own
}
