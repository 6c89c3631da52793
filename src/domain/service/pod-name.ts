/** The grammar of names that Kubernetes generates: which workload a pod, ReplicaSet, Job or claim belongs to. */

/** What a name says: the workload, by which rule, and whether an event alone may bring the service into being. */
export type Reading = { readonly name: string; readonly rule: string; readonly creates: 'event' | 'alert' }

/** The kinds whose names are generated from a workload's. */
export type GeneratedKind = 'pod' | 'replicaset' | 'job' | 'claim'

/** The longest name of a Kubernetes object; a longer one was not generated and is not taken apart. */
const LONGEST_NAME = 253
/** `generateName` cuts its base at 58 characters and adds five random ones: only names of exactly 63 can be cut. */
const CUT_LENGTH = 63
const CUT_BASE = 58

/** Five characters of k8s.io/apimachinery `rand.String`: no vowels, no 0, 1, 3, no y. English words made of them are excluded. */
const RANDOM = '(?!(?:https|mssql|pgsql)$)[bcdfghjklmnpqrstvwxz2456789]{5}'
/** A pod-template hash is a decimal number encoded with that alphabet, so only ten letters occur. */
const HASH = '[456789bcdf]{6,10}'
/** Minutes (or, before Kubernetes 1.21, seconds) since 1970: starts with 1, 2 or 3 until 2046, so it is never a hash. */
const CRON_TIME = String.raw`\d{8,10}`
const ORDINAL = String.raw`(?:0|[1-9]\d{0,3})`

const REPLICASET = new RegExp(`^(.+)-${HASH}$`)
const CRON_JOB = new RegExp(`^(.+)-${CRON_TIME}$`)
const ORDINAL_LAST = new RegExp(`^(.+)-${ORDINAL}$`)

/** What may follow a known workload's name; a wrong one would give `web` the pods of `web-cache`. */
const SUFFIXES: Readonly<Record<GeneratedKind, RegExp>> = {
  pod: new RegExp(
    String.raw`^(?:-${HASH}-${RANDOM}|-${CRON_TIME}(?:-\d{1,5})?-${RANDOM}|-\d{1,7}-${RANDOM}|-${ORDINAL}|-${RANDOM})?$`,
  ),
  replicaset: new RegExp(`^(?:-${HASH})?$`),
  job: new RegExp(`^(?:-${CRON_TIME}|-${RANDOM})?$`),
  claim: /^(?:-(?:pvc|claim|data|storage|volume|vol|disk|db|pv)(?:-claim)?)?$/,
}

/** What the 58 characters of a cut base may hold after the workload's name: all, a part or nothing of a hash or timestamp. */
const CUT_SUFFIX = /^-?(?:[456789bcdf]{1,10}-?|\d{1,10}-?)?$/

type Shape = {
  readonly rule: string
  readonly shape: RegExp
  readonly creates: 'event' | 'alert'
  /** Whether it holds for a name of 63 characters, whose last five may follow a cut base. */
  readonly fitsCut: boolean
  /** The only namespace where it holds, besides one that is not told. */
  readonly namespace?: string
}

/** Read top to bottom, first match wins; the first group is the workload. */
const POD_SHAPES: readonly Shape[] = [
  { rule: 'deployment pod', shape: new RegExp(`^(.+)-${HASH}-${RANDOM}$`), creates: 'event', fitsCut: true },
  {
    rule: 'cronjob pod',
    shape: new RegExp(String.raw`^(.+)-${CRON_TIME}(?:-\d{1,5})?-${RANDOM}$`),
    creates: 'event',
    fitsCut: true,
  },
  {
    // kubeadm's static pods are `<component>-<node>`, and a node called `master-0` looks like a StatefulSet's pod.
    rule: 'control plane pod',
    shape: /^(kube-apiserver|kube-controller-manager|kube-scheduler|etcd)-.+$/,
    creates: 'alert',
    fitsCut: true,
    namespace: 'kube-system',
  },
  {
    rule: 'indexed job pod',
    shape: new RegExp(String.raw`^(.+)-\d{1,7}-${RANDOM}$`),
    creates: 'alert',
    fitsCut: false,
  },
  { rule: 'statefulset pod', shape: ORDINAL_LAST, creates: 'event', fitsCut: true },
  { rule: 'daemonset or job pod', shape: new RegExp(`^(.+)-${RANDOM}$`), creates: 'alert', fitsCut: false },
]

/**
 * The workload a pod's name tells where none is known: a static pod's `<name>-<node>` (before all shapes, since nodes are
 * often called `worker-1`), then the first of `POD_SHAPES`, else the pod itself.
 */
export function readPodName(name: string, node: string | null, namespace: string): Reading {
  if (node && name.endsWith(`-${node}`) && name.length > node.length + 1)
    return { name: name.slice(0, -node.length - 1), rule: 'static pod', creates: 'alert' }
  if (name.length > LONGEST_NAME) return { name, rule: 'pod', creates: 'alert' }
  for (const it of POD_SHAPES) {
    const holds = (it.fitsCut || name.length !== CUT_LENGTH) && ['', it.namespace ?? namespace].includes(namespace)
    const workload = holds ? it.shape.exec(name)?.[1] : undefined
    if (workload) return { name: workload, rule: it.rule, creates: it.creates }
  }
  return { name, rule: 'pod', creates: 'alert' }
}

/** A ReplicaSet's Deployment: the name without its hash; a ReplicaSet of its own keeps its name. */
export function readReplicaSetName(name: string): Reading {
  const base = name.length > LONGEST_NAME ? undefined : REPLICASET.exec(name)?.[1]
  return { name: base ?? name, rule: 'replicaset', creates: 'event' }
}

/** A Job's CronJob: the name without its timestamp; a one-off Job keeps its name and waits for an alert. */
export function readJobName(name: string): Reading {
  const base = name.length > LONGEST_NAME ? undefined : CRON_JOB.exec(name)?.[1]
  return base ? { name: base, rule: 'cronjob job', creates: 'event' } : { name, rule: 'job', creates: 'alert' }
}

/**
 * A claim's StatefulSet, `<template>-<set>-<n>`: the template is the first word, unless it repeats the set's own name
 * (`prometheus-k8s-db-prometheus-k8s-0`, as the Prometheus operator writes it). Any other claim keeps its name.
 */
export function readClaimName(name: string): Reading {
  const own: Reading = { name, rule: 'claim', creates: 'alert' }
  const base = name.length > LONGEST_NAME ? undefined : ORDINAL_LAST.exec(name)?.[1]
  if (!base?.includes('-')) return own
  const sets = dashes(base).map((at) => base.slice(at + 1))
  const set = sets.find((candidate) => base.startsWith(`${candidate}-`) && base.length > 2 * candidate.length + 1)
  const chosen = set ?? sets[0]
  return chosen ? { name: chosen, rule: 'statefulset claim', creates: 'alert' } : own
}

/**
 * The names that, if a service bears one, own this object, best first: the whole name, then ever shorter prefixes that
 * leave a valid suffix; for a claim the StatefulSets that may have made it come first. A name ending in `*` asks for
 * services whose name begins so: a base cut at 58 characters hides the rest of a long name.
 */
export function possibleWorkloads(kind: GeneratedKind, name: string): string[] {
  if (name === '') return []
  if (name.length > LONGEST_NAME) return [name]
  const prefixes = [name.length, ...dashes(name).reverse()].map((end) => name.slice(0, end)).filter((it) => it !== '')
  const fitting = prefixes.filter((prefix) => SUFFIXES[kind].test(name.slice(prefix.length)))
  if (kind === 'claim') return unique([name, ...possibleSets(name), ...fitting, ...afterWord(name)])
  return kind === 'pod' && name.length === CUT_LENGTH ? unique([...fitting, ...possibleCutWorkloads(name)]) : fitting
}

function possibleSets(claim: string): string[] {
  const base = ORDINAL_LAST.exec(claim)?.[1]
  return base ? dashes(base).map((at) => base.slice(at + 1)) : []
}

function afterWord(claim: string): string[] {
  const rest = /^(?:pvc|claim|data|storage|volume|vol|disk)-(.+)$/.exec(claim)?.[1]
  return rest ? [rest] : []
}

function possibleCutWorkloads(pod: string): string[] {
  const base = pod.slice(0, CUT_BASE)
  const ends = [base.length, ...dashes(base).reverse()]
  const fitting = ends.map((end) => base.slice(0, end)).filter((it) => CUT_SUFFIX.test(base.slice(it.length)))
  return [`${base}*`, ...fitting.filter((it) => it !== '')]
}

function dashes(name: string): number[] {
  const found: number[] = []
  for (let at = name.indexOf('-'); at !== -1; at = name.indexOf('-', at + 1)) found.push(at)
  return found
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)]
}
