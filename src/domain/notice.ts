/** A notice names a changed record and is published after the commit. Subscribers fetch the record themselves. */

export type Notice = {
  readonly kind:
    | 'organization'
    | 'service'
    | 'alert'
    | 'event'
    | 'incident'
    | 'correlation'
    | 'silence'
    | 'channel'
    | 'token'
  readonly id: string
  readonly organizationId: number
}
