/** The clusters to watch, as the configuration names them. */

/** One entry of `[[kubernetes]]`, or one value of `--kubernetes`. */
export type Target = {
  /** `in-cluster`, or the path of a kubeconfig. */
  readonly kubeconfig: string
  /** The context in the kubeconfig; null for its current context. */
  readonly context: string | null
  /** The name of the cluster; null for the name of the context, or `in-cluster`. */
  readonly name: string | null
  /** The organization that the cluster belongs to; null for the only organization. */
  readonly organization: string | null
  /** The namespaces to watch; empty for all. */
  readonly namespaces: readonly string[]
}

export const IN_CLUSTER = 'in-cluster'

/** Reads a value that the setting accepts: text such as `in-cluster` or `KUBECONFIG#context`, or a table of the file. */
export function targetOf(value: string | Readonly<Record<string, unknown>>): Target {
  const table = typeof value === 'string' ? { kubeconfig: value } : value
  const text = (name: string) =>
    typeof table[name as keyof typeof table] === 'string' ? String(table[name as keyof typeof table]) : null
  const [kubeconfig = IN_CLUSTER, context = null] = (text('kubeconfig') ?? IN_CLUSTER).split('#')
  const { namespaces } = table as { readonly namespaces?: readonly string[] }
  return {
    kubeconfig,
    context: text('context') ?? context,
    name: text('name'),
    organization: text('organization'),
    namespaces: namespaces ?? [],
  }
}
