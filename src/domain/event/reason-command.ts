/** Suggests the first command to run for a condition reported by Kubernetes. */

/** Where a condition occurred. Names are as in Kubernetes; null if unknown. */
type Location = { readonly namespace: string | null; readonly pod: string | null; readonly node: string | null }

/** A sentence that ends in a colon, and the command to show after it. */
export type Command = { readonly text: string; readonly command: string }

type Recipe = { readonly conditions: RegExp; readonly text: string; readonly words: string; readonly object: Kind }
type Kind = 'pod' | 'node'

/** The first matching recipe is used. `NAME` is replaced by the name of the object and, for a pod, its namespace. */
const RECIPES: readonly Recipe[] = [
  {
    conditions: /^(?:CrashLoopBackOff|KubePodCrashLooping|BackOff|StartError|ContainerCannotRun)$/,
    text: 'Read the log of the previous run:',
    words: 'kubectl logs NAME --previous',
    object: 'pod',
  },
  {
    conditions: /^(?:OOMKilled|OOMKilling|SystemOOM|KubeContainerOOMKilled)$/,
    text: 'Compare the memory in use with the limit:',
    words: 'kubectl top pod NAME --containers',
    object: 'pod',
  },
  {
    conditions: /^(?:Node|KubeNode|SystemOOM|EvictionThresholdMet|Rebooted|FreeDiskSpaceFailed|KubeletSetupFailed)/,
    text: 'Check the conditions of the node:',
    words: 'kubectl describe node NAME',
    object: 'node',
  },
  {
    conditions: /^(?:Unhealthy|ProbeError|Killing)/,
    text: 'Check the probes and their latest results:',
    words: 'kubectl describe pod NAME',
    object: 'pod',
  },
  {
    conditions: /^(?:ImagePullBackOff|ErrImagePull|InvalidImageName|FailedScheduling|FailedMount|FailedAttachVolume)$/,
    text: 'Read the events of the pod:',
    words: 'kubectl describe pod NAME',
    object: 'pod',
  },
  {
    conditions: /^(?:CreateContainer|RunContainerError|FailedCreatePodSandBox|FailedPostStartHook|Evicted)/,
    text: 'Read the events of the pod:',
    words: 'kubectl describe pod NAME',
    object: 'pod',
  },
]

/** A name that needs no quoting in a shell and cannot be mistaken for an option. */
const SAFE = /^[a-z0-9][a-z0-9.-]{0,252}$/

/**
 * Returns a command that shows more about a condition, for example `kubectl logs -n shop checkout-1 --previous`.
 * Returns null if no command fits, or if a name contains characters that Kubernetes does not allow.
 */
export function commandFor(condition: string, { namespace, pod, node }: Location): Command | null {
  const recipe = RECIPES.find(({ conditions, object }) => conditions.test(condition) && (object !== 'pod' || pod))
  const name = recipe?.object === 'node' ? node : pod
  if (!recipe || !name || !SAFE.test(name)) return null
  if (recipe.object === 'node') return { text: recipe.text, command: recipe.words.replace('NAME', name) }
  if (namespace !== null && !SAFE.test(namespace)) return null
  const place = namespace === null ? name : `-n ${namespace} ${name}`
  return { text: recipe.text, command: recipe.words.replace('NAME', place) }
}
