/** Notices are published after a commit and say which record changed. Subscribers fetch the record themselves. */

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
