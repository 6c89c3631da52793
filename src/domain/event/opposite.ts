/** Finds the problem whose end a reason reports by its form. `ENDS` lists the reasons without a regular form. */

import { ALL_WELL, REASONS } from './reason-table.ts'

type Told = { readonly reason: string; readonly message: string }

export const FAILURE_START = /^(?:Failed|Error|Err|Invalid|Unable)/
export const FAILURE_END = /(?:Failed|Failure|Error|BackOff|Timeout|Exceeded|Unhealthy|Killed|Denied|NotReady)$/

/** Reasons that report the end of another one, and that one. node-problem-detector has the first two forms. */
const OPPOSITES: readonly (readonly [reason: RegExp, ends: string])[] = [
  [/^No([A-Z]\w+)$/, '$1'],
  [/^(\w+Is)Not([A-Z]\w*)$/, '$1$2'],
  [/^(\w+)(?:Succeeded|Successful|Success|Completed?)$/, '$1Failed'],
  // The monitor of volumes by Kubernetes CSI
  [/^(\w+)Normal$/, '$1Abnormal'],
  // Flux: `ChartPullSucceeded`
  [/^(\w+)Succeeded$/, '$1Error'],
  [/^Succe(?:eded|ss(?:ful)?(?:ly)?)([A-Z]\w+)$/, 'Failed$1'],
  // OpenShift's machines
  [/^(Create|Update|Delete)$/, 'Failed$1'],
  // Longhorn
  [/^(Creat|Delet|Start)e?$/, 'Failed$1ing'],
  [/^Rebuilt$/, 'FailedRebuilding'],
  [/^Stop$/, 'FailedStopping'],
]

/** Returns the conditions whose end a reason reports by its form: `NoFrequentKubeletRestart`, `BackupSucceeded`. */
export function oppositesOf(reason: string): readonly string[] {
  return OPPOSITES.flatMap(([form, ends]) => (form.test(reason) ? [reason.replace(form, ends)] : []))
}

/** `Restored`, `UpdatedLoadBalancer`, `AppliedManifest` */
const PAST = /^((?:[A-Z]\w*)?[A-Z][a-z]+?)(ed|ied)((?:[A-Z]\w*)?)$/

/**
 * Returns the conditions that a past tense ends: `Presented` ends `PresentError`, `Restored` ends `FailedRestore`, and
 * `CreatedWorkerPod` ends `FailedToCreateWorkerPod`.
 */
export function undoneBy(reason: string): readonly string[] {
  const [, start = '', end, object = ''] = PAST.exec(reason) ?? []
  if (end === undefined || FAILURE_START.test(reason) || FAILURE_END.test(reason)) return []
  const verbs = end === 'ied' ? [`${start}y`] : [start, `${start}e`]
  return verbs
    .map((verb) => verb + object)
    .flatMap((it) => [`${it}Error`, `${it}Failed`, `Failed${it}`, `FailedTo${it}`])
}

/** Kinds of objects of which each is one run of something that is run again and again, in lower case. */
const RUNS: ReadonlySet<string> = new Set(
  'workflow pipelinerun taskrun customrun backup restore sparkapplication rayjob analysisrun'.split(' '),
)

/** Returns whether each object of a kind is one run of something that is run again and again. */
export function isRun(kind: string): boolean {
  return RUNS.has(kind.trim().toLowerCase())
}

/** Returns the conditions that a completed run ends. CloudNativePG reports a failed backup as `Error`. */
export function endedByRun(kind: string): readonly string[] {
  return isRun(kind) ? [`Failed (${kind})`, `Error (${kind})`] : []
}

/** Knative's `RevisionReady`, KServe's `InferenceServiceReady`, Karpenter's and Crossplane's conditions. */
const WELL = /(?<!Not|Un|un)(?:Ready|Healthy)$/
/** Controllers that report a change of a condition use the condition's name as the reason, also if it is lost. */
const LOST = /-> (?:False|Unknown)\b/

/** Returns whether an event says that its object has no problem. */
export function isAllWell({ reason, message }: Told): boolean {
  return (ALL_WELL.has(reason) || (WELL.test(reason) && !REASONS.has(reason))) && !LOST.test(message)
}
