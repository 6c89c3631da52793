/** Notices tell subscribers after a commit which record has changed. Subscribers then read the record themselves. */

export type Notice = {
  readonly kind: 'organization' | 'service' | 'alert' | 'event' | 'incident' | 'correlation'
  readonly id: string
  readonly organizationId: number
}
