/** The Kubernetes objects that let incmon read a cluster, and nothing else. */
import { RESOURCES } from './stream.ts'

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
