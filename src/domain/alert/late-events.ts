/** Applies events that were received before the alert was opened, so that the order of arrival does not matter. */

import type { StoredEvent } from '../event/event.ts'
import { addsNode } from '../event/going-away.ts'
import { isLostNode } from '../event/lasting.ts'
import { deletedObjectOf, ends, endsAll, succeeds } from '../event/reason.ts'
import { rolloutOf } from '../event/rollout.ts'
import { templatesOf } from '../service/pod-name.ts'
import { MINUTE } from '../units.ts'
import type { Alert } from './alert.ts'
import { type Evidence, isAbout, type Mark, withEvidence } from './evidence.ts'
import { endedBy } from './signal-ci.ts'

/** A received event that can end a condition: a Kubernetes info or change event, or a successful pipeline. */
export type ReceivedEvent = Pick<StoredEvent, 'kind' | 'name' | 'object' | 'text' | 'at'>

/** Applies received events of a service to one of its alerts. Duplicates and the order of events do not matter. */
export function withReceivedEvents(alert: Alert, received: readonly ReceivedEvent[]): Alert {
  if (alert.source === 'ci') return withSuccess(alert, received)
  const evidence = received.reduce((before, event) => withEvent(before, alert, event), alert.evidence)
  return evidence === alert.evidence ? alert : { ...alert, evidence }
}

function withEvent(evidence: Evidence, alert: Alert, event: ReceivedEvent): Evidence {
  const [kind = '', object = ''] = splitObject(event.object)
  const told = { reason: event.name, message: event.text, kind, object }
  if (event.name === 'Started' && kind === 'Pod') {
    const after = withReplaced(evidence, object, event.at)
    return ends(told).includes(alert.name) ? withEvidence(after, 'recovered', [event.at, object]) : after
  }
  if (event.name === 'Scheduled' && isLostNode(alert.name)) return withReplacement(evidence, [event.at, object])
  const gone = deletedObjectOf(told)
  if (gone !== null) {
    const mark: Mark = [event.at, gone]
    // Only the deletion of an object that had the condition has an effect.
    if (evidence.seen.some(([, seen]) => isAbout(mark, seen))) return withEvidence(evidence, 'gone', mark)
  }
  if (event.kind === 'change') {
    const rollout = rolloutOf(event.text)
    if (rollout?.direction !== 'up') return evidence
    return withEvidence(evidence, 'rollouts', [event.at, rollout.hash])
  }
  const isSuccess = endsAll(told, alert.name) || (alert.name === event.name && succeeds(told))
  if (ends(told).includes(alert.name) || (event.kind === 'info' && isSuccess)) {
    return withEvidence(evidence, 'recovered', [event.at, object])
  }
  const helps = addsNode(event.name) && alert.failure === 'scheduling'
  return helps ? withEvidence(evidence, 'helped', [event.at, object]) : evidence
}

/** What a peer reports for this long after a failure does not show that it runs. A back-off grows to half an hour. */
const FAILED_LATELY = 30 * MINUTE

/** Returns the pods of the same workload that started before `at`, were not deleted and have reported no failure lately. */
export function peersOf(pod: string, earlier: readonly ReceivedEvent[], at: number): readonly Mark[] {
  const running = new Map<string, number>()
  for (const { kind: said, name, object: full, text, at: time } of earlier) {
    const [kind = '', object = ''] = splitObject(full)
    const gone = deletedObjectOf({ reason: name, message: text, kind, object })
    if (gone !== null) for (const one of running.keys()) if (isAbout([time, gone], one)) running.delete(one)
    if (kind !== 'Pod' || time > at) continue
    if (name === 'Started' || name === 'PodReady') running.set(object, time)
    if (said === 'firing' && time > at - FAILED_LATELY) running.delete(object)
  }
  const [template] = templatesOf([pod])
  return [...running].flatMap(([peer, time]) => {
    return peer !== pod && templatesOf([peer])[0] === template ? [[time, peer] as const] : []
  })
}

/**
 * Marks the unavailable pods of older templates as deleted once a pod of a newer template has started. The Deployment
 * controller removes unavailable pods first (`cleanupUnhealthyReplicas`).
 */
function withReplaced(evidence: Evidence, pod: string, at: number): Evidence {
  const hash = templatesOf([pod])[0] ?? null
  const rolledOut = evidence.rollouts.filter(([time, own]) => own === hash && time <= at).at(-1)?.[0]
  if (hash === null || rolledOut === undefined) return evidence
  const older = evidence.seen.filter(
    ([time, object]) => time <= rolledOut && (templatesOf([object])[0] ?? hash) !== hash,
  )
  return older.reduce((before, [, object]) => withEvidence(before, 'gone', [at, object]), evidence)
}

/**
 * Marks one lost pod as deleted for each new pod of its ReplicaSet, which is created when a lost pod is evicted. A pod of
 * a StatefulSet comes back with the same name.
 */
function withReplacement(evidence: Evidence, mark: Mark): Evidence {
  const [at, pod] = mark
  const after = withEvidence(evidence, 'recovered', mark)
  const template = templatesOf([pod])[0]
  const isKnown = [...evidence.seen, ...evidence.recovered].some(([, object]) => object === pod)
  if (template === undefined || isKnown) return after
  const lost = evidence.seen.find(
    ([time, object]) => time <= at && templatesOf([object])[0] === template && !hasEnded(evidence, object, time),
  )
  return lost ? withEvidence(after, 'gone', [at, lost[1]]) : after
}

function hasEnded({ gone, recovered }: Evidence, object: string, since: number): boolean {
  return [...gone, ...recovered].some((mark) => mark[0] >= since && isAbout(mark, object))
}

function splitObject(object: string): string[] {
  const slash = object.indexOf('/')
  return [object.slice(0, slash), object.slice(slash + 1)]
}

function withSuccess(alert: Alert, received: readonly ReceivedEvent[]): Alert {
  const successes = received.filter(({ kind, name, object, at }) => {
    return kind === 'success' && at >= alert.lastSeenAt && endedBy(name, object).includes(alert.fingerprint)
  })
  if (successes.length === 0 || alert.status === 'resolved') return alert
  const endsAt = Math.min(...successes.map(({ at }) => at))
  return { ...alert, status: 'resolved', resolution: 'reported', endsAt, endedAt: alert.receivedAt }
}
