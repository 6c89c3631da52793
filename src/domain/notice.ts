/** Notices: that something changed, told after the commit; who is told fetches what it names. */

export type Notice = {
  readonly kind: 'organization' | 'service' | 'alert' | 'event' | 'incident' | 'correlation'
  readonly id: string
  readonly organizationId: number
}
