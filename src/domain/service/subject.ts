/** Finds the object that a Kubernetes event is about, if the event is reported for another object. */

import type { ClusterDraft, KubernetesObject } from '../event/event.ts'

/** Kinds that report about other objects: Kyverno's policies, and reports in the format of the policy working group. */
const REPORTERS = new Set(['policy', 'clusterpolicy', 'policyreport', 'clusterpolicyreport', 'validatingpolicy'])

/** How the message of a policy names the object that violates the policy. */
const VIOLATORS: readonly RegExp[] = [
  /^(?<kind>[A-Z]\w+) (?:(?<namespace>[a-z\d-]+)\/)?(?<name>[a-z\d][a-z\d.-]*): /,
  /\b(?<kind>[A-Z]\w+)\/(?<namespace>[a-z\d-]+)\/(?<name>[a-z\d][a-z\d.-]*[a-z\d])/,
]

/** Returns the object that an event is about. A policy's event is about the object that violates the policy. */
export function subjectOf({ object, message }: Pick<ClusterDraft, 'object' | 'message'>): KubernetesObject {
  if (!REPORTERS.has(object.kind.trim().toLowerCase())) return object
  for (const pattern of VIOLATORS) {
    const { kind, namespace = '', name } = pattern.exec(message)?.groups ?? {}
    if (kind && name) return { kind, namespace, name, labels: {}, owners: [], node: null, container: null }
  }
  return object
}
