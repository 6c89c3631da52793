/** Names the services that represent senders, such as `source/metrics/incmon`, as users know the senders. */

import { SOURCES, type Source, senderName } from '../event/event.ts'
import type { Name } from '../service/service.ts'
import { serviceName } from '../text.ts'
import { PROMETHEUS } from './sender.ts'

/** Returns whether a service represents a sender. */
export function isSender(service: string): boolean {
  return service.startsWith('source/')
}

/** Returns the name of a service or, if it represents a sender, a name such as `Alertmanager (incmon)`. */
export function subjectName(service: Name): string {
  const [first, name, ...receiver] = service.name.split('/')
  const source = SOURCES.find((one) => one === name)
  if (first !== 'source' || source === undefined) return serviceName(service)
  return receiverName({ source, receiver: receiver.join('/') })
}

/** Returns the name of a service, with its cluster if the organization has several. */
export function nameInCluster(service: Parameters<typeof subjectName>[0] & { readonly cluster?: string }): string {
  return `${subjectName(service)}${service.cluster ? ` in cluster ${service.cluster}` : ''}`
}

/** Returns the program that sends to a webhook, with the name of its receiver. */
export function receiverName({ source, receiver }: { readonly source: Source; readonly receiver: string }): string {
  if (source === 'metrics' && receiver === PROMETHEUS) return 'Prometheus'
  return receiver === '' ? senderName(source) : `${senderName(source)} (${receiver})`
}

/** Returns the name of the service that represents a sender. */
export function senderService({ source, receiver }: { readonly source: Source; readonly receiver: string }): string {
  return ['source', source, receiver].filter((part) => part !== '').join('/')
}
