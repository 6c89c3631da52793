/** Later: what had already been heard when an event came late, so that the order of arrival does not matter. */

import { ends, isHelp, rolloutOf } from '../event/reason.ts'
import type { Alert } from './alert.ts'
import { type Evidence, withEvidence } from './evidence.ts'

/** A kept event, as far as it can end a condition: an info or change event of the cluster, or a pipeline's success. */
export type Heard = {
  readonly kind: string
  readonly name: string
  readonly object: string
  readonly text: string
  readonly at: number
}

/** The alert with what these events of its service say of its end; each counts once, in whatever order they came. */
export function withHeard(alert: Alert, heard: readonly Heard[]): Alert {
  if (alert.source === 'ci') return withSuccess(alert, heard)
  const evidence = heard.reduce((before, event) => withEvent(before, alert, event), alert.evidence)
  return evidence === alert.evidence ? alert : { ...alert, evidence }
}

function withEvent(evidence: Evidence, alert: Alert, event: Heard): Evidence {
  const [kind = '', object = ''] = splitObject(event.object)
  if (event.kind === 'change') {
    const rollout = rolloutOf(event.text)
    if (rollout?.direction !== 'up') return evidence
    return withEvidence(evidence, 'rollouts', [event.at, rollout.hash])
  }
  if (ends({ reason: event.name, message: event.text, kind }).includes(alert.name)) {
    return withEvidence(evidence, 'recovered', [event.at, object])
  }
  const helps = isHelp(event.name) && alert.failure === 'scheduling'
  return helps ? withEvidence(evidence, 'helped', [event.at, object]) : evidence
}

function splitObject(object: string): string[] {
  const slash = object.indexOf('/')
  return [object.slice(0, slash), object.slice(slash + 1)]
}

function withSuccess(alert: Alert, heard: readonly Heard[]): Alert {
  const { project, ref } = alert.labels
  const successes = heard.filter(
    ({ kind, name, object, at }) =>
      kind === 'success' && name === project && object === `Ref/${ref}` && at >= alert.lastSeenAt,
  )
  if (successes.length === 0 || alert.status === 'resolved') return alert
  const endsAt = Math.min(...successes.map(({ at }) => at))
  return { ...alert, status: 'resolved', resolution: 'reported', endsAt, endedAt: alert.heardAt }
}
