/**
 * Finds the name of the thing that runs again and again in the name of one run or revision. A run is not a service.
 */

/** Five random characters of Kubernetes, without the English words that consist of them. */
export const RANDOM = '(?!(?:https|mssql|pgsql)$)[bcdfghjklmnpqrstvwxz2456789]{5}'
/** A pod template hash is a decimal number encoded in this alphabet, so only ten characters occur. */
export const HASH = '[456789bcdf]{6,10}'
/** Minutes since 1970, or seconds in Kubernetes before 1.21, or a date such as 20261126. */
export const CRON_TIME = String.raw`\d{8,10}`
/** Helm's `.Release.Revision`, and the revision of a ReplicationController. */
const REVISION = String.raw`\d{1,4}`

type Row = readonly [how: string, shape: RegExp]

/** Argo CD: `<name>-<first 7 digits of the commit>-<phase>-<unix time>`. The time is a part of the run. */
const HOOK = /^(.+)-[a-f\d]{7,10}-(?:presync|sync|postsync|syncfail|predelete|postdelete|skip)$/

/** A step that an operator runs for one run of another object: `backup-x2k7p-prebackup` of K8up. */
const STEP: Row = ['step of a run', new RegExp(`^(.+)-${RANDOM.replace('$', '-')}-.+$`)]

/** The names of Jobs. The first match wins. */
const JOBS: readonly Row[] = [
  ['cronjob job', named(CRON_TIME)],
  ['revision of a job', /^(.+?)-v?\d+(?:[.-]\d+){1,3}$/],
  ['revision of a job', named(REVISION)],
  ['revision of a job', /^(.+)-v\d+$/],
  // A short commit has digits and letters.
  ['revision of a job', /^(.+)-(?=[a-f]*\d)(?=\d*[a-f])[a-f\d]{7,10}$/],
  STEP,
]

/** The names of workflow runs and their pods, by Argo Workflows, Tekton and operators for batch jobs. */
const RUNS: readonly Row[] = [
  // Cluster API: a machine of a MachineSet, and a run of a run.
  ['run', new RegExp(`^(.+)-(?:${RANDOM.replace('$', '-')}|${HASH})-${RANDOM}$`)],
  ['run', named(String.raw`(?:${RANDOM}|${CRON_TIME}|\d{14})`)],
  STEP,
  ['revision of a job', named(REVISION)],
]

/** Pods that no controller of Kubernetes itself names: Argo Workflows, Tekton, OpenShift. */
export const RUN_PODS: readonly Row[] = [
  ['workflow pod', new RegExp(`^(.+)-${RANDOM.replace('$', '-')}-(?:.+-)?\\d{7,10}$`)],
  ['pipeline pod', new RegExp(`^(.+)-${RANDOM.replace('$', '-')}(?:-.+)?-pod$`)],
  ['deploy or build pod', /^(.+)-\d{1,4}-(?:deploy|build|hook-(?:pre|mid|post))$/],
]

const RUNNER = /^runner-.+-project-\d+-concurrent-/
const KNATIVE = /^(.+)-\d{5}(?:-deployment)?$/
const KNATIVE_DEPLOYMENT = /^(.+)-\d{5}-deployment$/
/** A Deployment for each release, with the time and the commit of the release: `cart-20220224201321-9b7083b` */
const RELEASE = /^(.+?)-20\d{12}(?:-[a-f\d]{7,40})?$/
const FLAGGER = /^(.+)-(?:primary|canary)$/
/** `<certificate>-<revision>`, then the hash of the order and the hash of the challenge. */
const CERTIFICATE = new RegExp(String.raw`^(.+?)-(?:\d{1,4}|${RANDOM.replace('$', '(?:-|$)')})(?:-\d{5,10}){0,2}$`)
const ANALYSIS = new RegExp(String.raw`^(.+)-${HASH}-\d+(?:-.+)?$`)

/** The service of the pods in which GitLab runs CI jobs. A job's pod that fails is no incident. */
export const RUNNER_SERVICE = 'gitlab-runner'

/** Returns whether a pod runs a GitLab CI job. */
export function isRunnerPod(pod: string): boolean {
  return RUNNER.test(pod)
}

/** Returns the thing that a Job runs, and how its name was found; null if the name is the Job's own. */
export function jobOf(name: string): { readonly name: string; readonly how: string } | null {
  const found = firstOf(JOBS, name)
  const hook = HOOK.exec(found?.name ?? name)?.[1]
  return hook ? { name: hook, how: 'hook of a deploy' } : found
}

/** Returns the hook of a deploy whose unix time was taken for the run of a CronJob, or the name itself. */
export function hookOf(name: string): string {
  return HOOK.exec(name)?.[1] ?? name
}

/** Returns the workflow or pipeline of a run. */
export function workflowOf(name: string): { readonly name: string; readonly how: string } {
  return firstOf(RUNS, name) ?? { name, how: 'run' }
}

/** Returns the Rollout of an AnalysisRun, which is named `<rollout>-<hash>-<revision>…`. */
export function rolloutOfAnalysis(name: string): string {
  return ANALYSIS.exec(name)?.[1] ?? name
}

/** Returns the certificate of a CertificateRequest, an Order or a Challenge. */
export function certificateOf(name: string): string {
  return CERTIFICATE.exec(name)?.[1] ?? name
}

/** Returns the Knative service of a revision. */
export function serviceOfRevision(name: string): string {
  return KNATIVE.exec(name)?.[1] ?? name
}

/**
 * Returns the workload of a Deployment that Knative or Flagger generated, or that is named after its release:
 * `hello-00002-deployment`, `podinfo-canary`.
 */
export function deploymentOf(name: string): string {
  const own = KNATIVE_DEPLOYMENT.exec(name)?.[1] ?? RELEASE.exec(name)?.[1] ?? name
  return FLAGGER.exec(own)?.[1] ?? own
}

/** Returns what an autoscaler scales. KEDA names its autoscalers `keda-hpa-<scaled object>`. */
export function scaledBy(name: string): string {
  return name.startsWith('keda-hpa-') && name.length > 9 ? name.slice(9) : name
}

/** Returns the first match in a table, or null. */
export function firstOf(rows: readonly Row[], name: string): { readonly name: string; readonly how: string } | null {
  for (const [how, shape] of rows) {
    const found = shape.exec(name)?.[1]
    if (found) return { name: found, how }
  }
  return null
}

/** Matches a name that consists of a workload, which is the first group, and a suffix. */
export function named(suffix: string, prefix = ''): RegExp {
  return new RegExp(`^${prefix}(.+)-${suffix}$`)
}
