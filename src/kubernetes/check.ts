/** Tries each permission that a watch needs. */
import { accessOf, type Target, targetOf } from './access.ts'
import { type Client, createClient } from './client.ts'
import { RESOURCES, type Stream, streamsOf } from './stream.ts'

type Permission = {
  readonly resource: string
  readonly isAllowed: boolean
  /** What is missing without the permission. */
  readonly without: string
}

type Check = { readonly name: string; readonly server: string; readonly permissions: readonly Permission[] }

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

/**
 * Asks the API server for each permission.
 * @throws IncmonError if the target is wrong, and ApiError if the server does not answer
 */
export async function checkCluster(value: Parameters<typeof targetOf>[0]): Promise<Check> {
  const target: Target = targetOf(value)
  const access = accessOf(target)
  // Its clock does not matter.
  const client = createClient(access, () => 0)
  try {
    const permissions: Permission[] = []
    for (const stream of streamsOf(target.namespaces)) permissions.push(await check(client, stream))
    return { name: target.name ?? access.name, server: access.server, permissions }
  } finally {
    client.close()
  }
}

async function check(client: Client, { resource, namespace, name }: Stream): Promise<Permission> {
  const allowed = await Promise.all(['list', 'watch'].map((verb) => ask(client, verb, resource, namespace)))
  return { resource: name, isAllowed: allowed.every(Boolean), without: resource.without }
}

async function ask(
  client: Client,
  verb: string,
  { group, plural }: Stream['resource'],
  namespace: string,
): Promise<boolean> {
  const resourceAttributes = { verb, group, resource: plural, ...(namespace === '' ? {} : { namespace }) }
  const body = { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', spec: { resourceAttributes } }
  const review = (await client.get(REVIEWS, body)) as { readonly status?: { readonly allowed?: boolean } }
  return review.status?.allowed === true
}

// The Kubernetes objects that let incmon read a cluster, and nothing else.

const VERBS = '["get", "list", "watch"]'

/** Returns the manifest as YAML. `namespace`: where the service account lives. */
export function manifestOf(namespace: string): string {
  return [
    ['apiVersion: v1', 'kind: Namespace', 'metadata:', `  name: ${namespace}`],
    ['apiVersion: v1', 'kind: ServiceAccount', 'metadata:', '  name: incmon', `  namespace: ${namespace}`],
    [
      'apiVersion: rbac.authorization.k8s.io/v1',
      'kind: ClusterRole',
      'metadata:',
      '  name: incmon',
      'rules:',
      ...rules(),
    ],
    [
      ...['apiVersion: rbac.authorization.k8s.io/v1', 'kind: ClusterRoleBinding', 'metadata:', '  name: incmon'],
      ...['roleRef:', '  apiGroup: rbac.authorization.k8s.io', '  kind: ClusterRole', '  name: incmon'],
      ...['subjects:', '  - kind: ServiceAccount', '    name: incmon', `    namespace: ${namespace}`],
    ],
    [
      ...['# A token for a server outside the cluster. Kubernetes fills it in.', 'apiVersion: v1', 'kind: Secret'],
      ...['type: kubernetes.io/service-account-token', 'metadata:', '  name: incmon', `  namespace: ${namespace}`],
      ...['  annotations:', '    kubernetes.io/service-account.name: incmon'],
    ],
  ]
    .map((lines) => lines.join('\n'))
    .join('\n---\n')
}

function rules(): string[] {
  // Older API servers have events only in the core group.
  const groups = new Map<string, string[]>([['', ['events']]])
  for (const { group, plural } of RESOURCES) groups.set(group, [...(groups.get(group) ?? []), plural])
  return [...groups].flatMap(([group, plurals]) => [
    `  - apiGroups: ["${group}"]`,
    `    resources: [${plurals.map((one) => `"${one}"`).join(', ')}]`,
    `    verbs: ${VERBS}`,
  ])
}
