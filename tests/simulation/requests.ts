/** The requests for the messages of a simulation. */

import type { Source } from '../../src/domain/event/event.ts'
import type { Delivery } from '../../src/engine/changes/receive/delivery.ts'
import { READERS } from '../../src/intake/index.ts'
import { MINUTE } from '../helpers/factory.ts'
import {
  alert,
  alertmanager,
  type Body,
  build,
  crashLoop,
  grafana,
  iso,
  job,
  kubernetesEvent,
  pipeline,
  watchdog,
} from '../helpers/senders.ts'
import type { Message } from './steps.ts'

/** A body as sent, and the delivery that intake creates from it. */
export type Request = { readonly body: Body; readonly delivery: Delivery }

/** Returns a request received at `receivedAt`, as Unix time in milliseconds. */
export function readRequest(
  [source, body]: readonly [Source, Body],
  from: Pick<Delivery, 'organizationId' | 'cluster' | 'receivedAt' | 'idempotencyKey'>,
): Request {
  const intake = READERS[source](body, from.receivedAt)
  const delivery = { ...from, source, intake, bodyHash: JSON.stringify(body), dryRun: false, isFromCache: false }
  return { body, delivery }
}

/** Returns the request for a message at `now`, in its sender's format. */
export function requestOf(message: Message, now: number): readonly [Source, Body] {
  const at = now - ('minutesAgo' in message ? message.minutesAgo : 0) * MINUTE
  switch (message.is) {
    case 'notification': {
      const alerts = message.alerts.map(({ name, service, severity, status }) => {
        const times = status === 'firing' ? { startsAt: at } : { startsAt: at - 10 * MINUTE, endsAt: at }
        return alert(name, { service, severity }, { ...times, fingerprint: `${name}-${service}-${severity}` })
      })
      const more = message.isTruncated ? { truncatedAlerts: 2 } : {}
      return [message.from, message.from === 'metrics' ? alertmanager(alerts, more) : grafana(alerts, more)]
    }
    case 'event': {
      const { reason, service, count } = message
      const pod = `${service}-5d4f8c7b9-x2kqp`
      const more = { count, at, node: 'worker-2' }
      return ['cluster', reason === 'BackOff' ? crashLoop(pod, more) : kubernetesEvent(reason, pod, more)]
    }
    case 'node':
      return ['cluster', kubernetesEvent(message.reason, 'worker-2', { kind: 'Node', at })]
    case 'rollout': {
      const text = `Scaled up replica set ${message.service}-${message.hash} to 1`
      return [
        'cluster',
        kubernetesEvent('ScalingReplicaSet', message.service, { kind: 'Deployment', message: text, at }),
      ]
    }
    case 'pull': {
      const text = `Successfully pulled image "registry.example.com/shop/${message.service}:1.2" in 1s`
      return ['cluster', kubernetesEvent('Pulled', `${message.service}-5d4f8c7b9-x2kqp`, { message: text, at })]
    }
    case 'pipeline': {
      const { status, project, id } = message
      const jobs = [build('deploy', status, { started_at: iso(at - MINUTE), finished_at: iso(at) })]
      return ['ci', pipeline(status, `shop/${project}`, { id, at, jobs })]
    }
    case 'job':
      return ['ci', job('deploy', message.status, `shop/${message.project}`)]
    case 'heartbeat':
      return ['metrics', watchdog()]
    case 'broken':
      return [message.from, message.from === 'metrics' ? alertmanager([{ labels: 7 }]) : { reason: 7 }]
  }
}
