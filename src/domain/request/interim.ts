/** Interim responses, such as 103 Early Hints, of other servers. */

/** How many can precede a response. */
const MAX_INTERIM = 20

/** A request of `node:http`. */
type Sent = {
  readonly on: (event: 'information', listener: () => void) => unknown
  readonly destroy: (error: Error) => unknown
}

/**
 * Ends a request whose receiver sends interim responses without end, which would keep this process busy.
 * @param fault makes the error with which the request ends
 */
export function limitInterim(request: Sent, fault: (what: string) => Error): void {
  let count = 0
  request.on('information', () => {
    count += 1
    if (count > MAX_INTERIM) request.destroy(fault(`sent more than ${MAX_INTERIM} interim responses`))
  })
}
