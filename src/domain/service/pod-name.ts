/** Parses generated Kubernetes names to find the workload of a pod, ReplicaSet, Job or claim. */

import {
  CRON_TIME,
  certificateOf,
  deploymentOf,
  firstOf,
  HASH,
  hookOf,
  isRunnerPod,
  jobOf,
  named,
  RANDOM,
  RUN_PODS,
  RUNNER_SERVICE,
  rolloutOfAnalysis,
  serviceOfRevision,
  workflowOf,
} from './run-name.ts'
import type { Attribution, Name } from './service.ts'

/** The workload, how its name was found, and whether an event is enough to create the service. */
type Reading = Pick<Attribution, 'name' | 'creates'> & { readonly how: string }

/** Kinds whose names are generated from a workload name. `run`: a workflow or pipeline run. */
export type GeneratedKind = keyof typeof SUFFIXES

/** The maximum length of a Kubernetes name. */
const MAX_NAME = 253
/** Kubernetes truncates the base of a generated name to 58 characters and appends five, so truncated names have 63. */
const CUT_LENGTH = 63
const CUT_BASE = 58

const CRON_RUN = String.raw`${CRON_TIME}(?:-\d{1,5})?`
const JOB_INDEX = String.raw`\d{1,7}`
const ORDINAL = String.raw`(?:0|[1-9]\d{0,3})`

const REPLICASET = named(HASH)
const ORDINAL_LAST = named(ORDINAL)
const RANDOM_LAST = named(RANDOM)

/** Words that users put before or after a workload's name when they name the workload's claim. */
const CLAIM_SUFFIXES = ['pvc', 'claim', 'data', 'storage', 'volume', 'vol', 'disk', 'db', 'pv'] as const
const CLAIM_PREFIXES = ['pvc', 'claim', 'data', 'storage', 'volume', 'vol', 'disk'] as const

/**
 * Valid suffixes after the name of a known workload. Without this check, the pods of `web-cache` would be assigned to
 * `web`.
 */
const SUFFIXES = {
  pod: new RegExp(`^(?:-(?:${HASH}-${RANDOM}|${CRON_RUN}-${RANDOM}|${JOB_INDEX}-${RANDOM}|${ORDINAL}|${RANDOM}))?$`),
  replicaset: new RegExp(`^(?:-${HASH})?$`),
  controller: /^(?:-\d{1,4})?$/,
  job: new RegExp(`^(?:-${CRON_TIME}|-${RANDOM}|-\\d{1,4})?$`),
  run: new RegExp(`^(?:-${CRON_TIME}|-${RANDOM})?$`),
  analysis: new RegExp(`^(?:-${HASH}-\\d.*)?$`),
  revision: /^(?:-\d{5})?$/,
  certificate: /^$/,
  claim: new RegExp(`^(?:-(?:${CLAIM_SUFFIXES.join('|')})(?:-claim)?)?$`),
} as const

/** Valid suffixes in a truncated base: a hash or a timestamp, possibly incomplete. */
const CUT_SUFFIX = /^-?(?:[456789bcdf]{1,10}-?|\d{1,10}-?)?$/

type Shape = {
  readonly how: string
  readonly shape: RegExp
  readonly creates: 'event' | 'alert'
  /** Whether the rule can be used for truncated names (63 characters). */
  readonly fitsCut: boolean
  /** The only namespaces to which the rule applies. The rule also applies if the namespace is unknown. */
  readonly namespace?: RegExp
}

/** The first match wins. The first group is the workload. */
const POD_SHAPES: readonly Shape[] = [
  { how: 'virtual machine pod', shape: named(RANDOM, 'virt-launcher-'), creates: 'alert', fitsCut: false },
  { how: 'deployment pod', shape: named(`${HASH}-${RANDOM}`), creates: 'event', fitsCut: true },
  { how: 'cronjob pod', shape: named(`${CRON_RUN}-${RANDOM}`), creates: 'event', fitsCut: true },
  {
    // The static pods of kubeadm, `<component>-<node>`, look like StatefulSet pods if the node has a name like
    // `master-0`.
    how: 'control plane pod',
    shape: /^(kube-apiserver|kube-controller-manager|(?:openshift-)?kube-scheduler|etcd)-.+$/,
    creates: 'alert',
    fitsCut: true,
    namespace: /^(?:kube-system|openshift-.+)?$/,
  },
  { how: 'pod of a numbered job', shape: named(`${JOB_INDEX}-${RANDOM}`), creates: 'alert', fitsCut: false },
  { how: 'statefulset pod', shape: ORDINAL_LAST, creates: 'event', fitsCut: true },
  { how: 'daemonset or job pod', shape: named(RANDOM), creates: 'alert', fitsCut: false },
]

type GeneratedObject = Name & { readonly node: string | null }

/** Return the workload implied by a generated name when no known workload matches. */
export const readGenerated: Readonly<Record<GeneratedKind, (object: GeneratedObject) => Reading>> = {
  pod: ({ name, node, namespace }) => readPodName(name, node?.trim() || null, namespace),
  replicaset: ({ name }) => readReplicaSetName(name),
  controller: ({ name }) => ({
    name: ORDINAL_LAST.exec(name)?.[1] ?? name,
    how: 'replicationcontroller',
    creates: 'event',
  }),
  job: ({ name }) => readJobName(name),
  claim: ({ name }) => readClaimName(name),
  run: ({ name }) => ({ ...workflowOf(name), creates: 'alert' }),
  analysis: ({ name }) => ({ name: rolloutOfAnalysis(name), how: 'analysis of a rollout', creates: 'alert' }),
  revision: ({ name }) => ({ name: serviceOfRevision(name), how: 'revision', creates: 'alert' }),
  certificate: ({ name }) => ({ name: certificateOf(name), how: 'request for a certificate', creates: 'alert' }),
}

/**
 * Returns the workload of a pod when no known workload matches. Tries static pods, `<name>-<node>`, before
 * `POD_SHAPES`, because nodes often have names like `worker-1`. Falls back to the name of the pod.
 */
export function readPodName(name: string, node: string | null, namespace: string): Reading {
  if (node && name.endsWith(`-${node}`) && name.length > node.length + 1)
    return { name: name.slice(0, -node.length - 1), how: 'static pod', creates: 'alert' }
  if (name.length > MAX_NAME) return { name, how: 'pod', creates: 'alert' }
  if (isRunnerPod(name)) return { name: RUNNER_SERVICE, how: 'pod of a CI job', creates: 'alert' }
  for (const it of POD_SHAPES) {
    const holds = (it.fitsCut || name.length !== CUT_LENGTH) && (it.namespace?.test(namespace) ?? true)
    const workload = holds ? it.shape.exec(name)?.[1] : undefined
    if (workload) return { name: ownerOf(it.how, workload), how: it.how, creates: it.creates }
  }
  const run = name.length === CUT_LENGTH ? null : firstOf(RUN_PODS, name)
  return run ? { ...run, creates: 'alert' } : { name, how: 'pod', creates: 'alert' }
}

/** Returns the thing that runs again and again, if the workload in a pod's name is itself a run or a revision. */
function ownerOf(how: string, workload: string): string {
  if (how === 'deployment pod') return deploymentOf(workload)
  return how === 'cronjob pod' ? hookOf(workload) : workload
}

/** Returns the Deployment of a ReplicaSet: the name without its hash. A ReplicaSet without a hash keeps its name. */
function readReplicaSetName(name: string): Reading {
  const base = name.length > MAX_NAME ? undefined : REPLICASET.exec(name)?.[1]
  return { name: deploymentOf(base ?? name), how: 'replicaset', creates: 'event' }
}

/**
 * Returns the CronJob of a Job, or the thing of which the Job is one revision. A one-off Job keeps its name and becomes
 * a service only when it has an alert.
 */
export function readJobName(name: string): Reading {
  const found = name.length > MAX_NAME ? null : jobOf(name)
  return found
    ? { ...found, creates: found.how === 'cronjob job' ? 'event' : 'alert' }
    : { name, how: 'job', creates: 'alert' }
}

/**
 * Returns the StatefulSet of a claim named `<template>-<set>-<n>`. The template is the first word, unless the template
 * contains the name of the set. For example, the Prometheus operator's `prometheus-k8s-db-prometheus-k8s-0` has such a
 * template. Any other claim keeps its name, without the random end of a backup's or an import's claim.
 */
function readClaimName(name: string): Reading {
  const [run, base] = name.length > MAX_NAME ? [] : [RANDOM_LAST, ORDINAL_LAST].map((one) => one.exec(name)?.[1])
  const own: Reading = { name: run ?? name, how: 'claim', creates: 'alert' }
  if (!base?.includes('-')) return own
  const sets = dashes(base).map((at) => base.slice(at + 1))
  const isTwice = (set: string) => base.startsWith(`${set}-`) && STORAGE_ONLY.test(base.slice(0, -set.length - 1))
  const chosen = sets.find(isTwice) ?? sets.find((candidate) => !isOfTemplate(base, candidate)) ?? sets[0]
  return chosen ? { name: chosen, how: 'statefulset claim', creates: 'alert' } : own
}

/** Returns whether a template's name goes on, as Strimzi's `data-0-<set>-<n>` and `elasticsearch-data-<set>-<n>` do. */
function isOfTemplate(base: string, candidate: string): boolean {
  if (STORAGE_FIRST.test(candidate)) return !STORAGE_ONLY.test(base.slice(0, -candidate.length - 1))
  return /^\d+-/.test(candidate)
}
const STORAGE_FIRST = new RegExp(`^(?:${CLAIM_SUFFIXES.join('|')})-`)
const STORAGE_ONLY = new RegExp(`(?:^|-)(?:${CLAIM_SUFFIXES.join('|')})$`)

/**
 * Returns the names of an object's possible owners, best first: the whole name, then shorter prefixes that leave a
 * valid suffix. For a claim, possible StatefulSets come first. If the base was truncated, some names end in `*` and
 * match every service with that prefix.
 */
export function possibleWorkloads(kind: GeneratedKind, name: string): readonly string[] {
  if (last.kind !== kind || last.name !== name) last = { kind, name, found: workloadsOf(kind, name) }
  return last.found
}

/** The last result, because two functions need it for the same name. */
let last: { readonly kind: GeneratedKind; readonly name: string; readonly found: readonly string[] } = {
  kind: 'pod',
  name: '',
  found: [],
}

function workloadsOf(kind: GeneratedKind, name: string): readonly string[] {
  if (name === '') return []
  if (name.length > MAX_NAME) return [name]
  const fitting: string[] = []
  const suffix = SUFFIXES[kind]
  for (let end = name.length; end > 0; end = name.lastIndexOf('-', end - 1))
    if (suffix.test(name.slice(end))) fitting.push(name.slice(0, end))
  if (kind === 'claim') return unique([name, ...possibleSets(name), ...fitting, ...afterWord(name)])
  return kind === 'pod' && name.length === CUT_LENGTH ? unique([...fitting, ...possibleCutWorkloads(name)]) : fitting
}

/** Returns the names that users are likely to give to a workload's claim. */
export function claimNamesOf(workload: string): string[] {
  const behind = CLAIM_SUFFIXES.flatMap((word) => [`${workload}-${word}`, `${workload}-${word}-claim`])
  return [...behind, ...CLAIM_PREFIXES.map((word) => `${word}-${workload}`)]
}

function possibleSets(claim: string): string[] {
  const base = ORDINAL_LAST.exec(claim)?.[1]
  return base ? dashes(base).map((at) => base.slice(at + 1)) : []
}

function afterWord(claim: string): string[] {
  const prefix = CLAIM_PREFIXES.find((word) => claim.startsWith(`${word}-`))
  return prefix ? [claim.slice(prefix.length + 1)] : []
}

function possibleCutWorkloads(pod: string): string[] {
  const base = pod.slice(0, CUT_BASE)
  return [`${base}*`, ...prefixesOf(base).filter((it) => CUT_SUFFIX.test(base.slice(it.length)))]
}

/** Returns the whole name, and its parts before each dash, longest first. */
function prefixesOf(name: string): string[] {
  return [
    name,
    ...dashes(name)
      .map((at) => name.slice(0, at))
      .reverse(),
  ].filter((it) => it !== '')
}

function dashes(name: string): number[] {
  const found: number[] = []
  for (let at = name.indexOf('-'); at !== -1; at = name.indexOf('-', at + 1)) found.push(at)
  return found
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)]
}

/** Returns the hashes of the pod templates in the names of pods or ReplicaSets: `7d9f5b6c8` in `cart-7d9f5b6c8-x2kqp`. */
export function templatesOf(names: readonly string[]): string[] {
  return [...new Set(names.flatMap((name) => TEMPLATE.exec(name)?.[1] ?? []))]
}
const TEMPLATE = new RegExp(`-(${HASH})(?:-${RANDOM})?$`)
