/** Warnings in the answer of a webhook: what happens to an accepted item that its sender may not expect. */
import type { Draft } from '../event/event.ts'
import { MINUTE } from '../units.ts'
import { databaseCluster } from './cluster.ts'
import type { ServiceRule } from './service.ts'

/** Returns warnings about an item's service and times. `offset`: the correction of the sender's clock, in ms. */
export function warningsAbout(draft: Draft, rule: ServiceRule, tokenCluster: string, offset: number): string[] {
  const warnings: string[] = []
  if (offset !== 0 && draft.source !== 'ci') {
    const minutes = Math.round(Math.abs(offset) / MINUTE)
    warnings.push(
      `time: corrected by ${minutes} minutes, because the clock of the sender is ${offset > 0 ? 'ahead' : 'behind'}`,
    )
  }
  if (draft.source === 'ci' || draft.source === 'cluster' || draft.nature === 'heartbeat' || draft.nature === 'test')
    return warnings
  if ('by' in rule && rule.by === 'none') {
    const advice = 'add a label such as deployment, pod, app or service, or create an alias for one of the labels'
    warnings.push(`labels: none of them names a service, so the alert belongs to unattributed; ${advice}`)
  }
  const database = tokenCluster === '' ? databaseCluster(draft.labels) : null
  if (database !== null) {
    const advice = 'name the Kubernetes cluster in the label k8s_cluster or in the token'
    const use = 'label' in rule && rule.label === database ? 'it names the service' : 'the label was ignored'
    warnings.push(`labels.${database}: names a database and not a Kubernetes cluster, so ${use}; ${advice}`)
  }
  return warnings
}
