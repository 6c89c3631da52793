/** Errors for requests that Node's HTTP parser rejects, and the response to a request that reached no route. */

import { IncmonError } from '../../domain/error.ts'
import { SECOND } from '../../domain/units.ts'
import { LIMITS } from '../../server/connection/connections.ts'
import type { Refusing, Unreadable } from '../../server/connection/unreadable.ts'
import type { ServerContext } from '../../server/context.ts'
import { problemOf } from './problem.ts'
import { COMMON_HEADERS } from './watch.ts'

const KIBIBYTE = 1_024
/** The first byte of a TLS connection. */
const TLS_HANDSHAKE = 0x16

const { headersTimeout, requestTimeout, maxHeaderSize } = LIMITS
const HEAD = `${maxHeaderSize / KIBIBYTE} KiB`

const invalid = (message: string) => new IncmonError('invalid', message)

const TLS_MISSING = invalid(
  'this port does not support TLS; use http://, or start the server with --tls-cert and --tls-key',
)

/**
 * Maps Node's error codes to errors. Any other code that is not from the parser means that the connection was closed.
 */
const FAULTS: Readonly<Record<string, IncmonError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new IncmonError(
    'too-slow',
    `the request did not arrive within ${requestTimeout / SECOND} seconds, or its headers within ${headersTimeout / SECOND}; send it again`,
  ),
  HPE_HEADER_OVERFLOW: new IncmonError(
    'head-too-large',
    `the headers are larger than ${HEAD}; send fewer or shorter headers`,
  ),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new IncmonError(
    'too-large',
    `the chunk extensions are larger than ${HEAD}; omit them`,
  ),
  HPE_INVALID_EOF_STATE: invalid('the connection ended before the request was complete; send it again'),
  HPE_PAUSED_H2_UPGRADE: invalid('this port does not support HTTP/2; use HTTP/1.1'),
  ERR_SSL_HTTP_REQUEST: invalid('this port requires TLS; use https://'),
  CONNECT: invalid('incmon is not a proxy; request a path, for example GET /healthz'),
}

export function refusalOfUnreadable({ metrics, refusals, newRequestId }: ServerContext): Refusing {
  const count = metrics.requestsOf('none')
  return {
    explain,
    refuse: ({ code: cause }, fault, { address: client, isThere }) => {
      const { status, headers, body, detail = null } = problemOf(fault)
      const requestId = newRequestId()
      refusals.add({ status, route: 'none', client, requestId, detail, cause })
      if (isThere) count(status, 0)
      return {
        status,
        headers: { ...COMMON_HEADERS, 'x-request-id': requestId, connection: 'close', ...headers },
        body,
      }
    },
  }
}

function explain({ code = '', reason = '', rawPacket }: Unreadable): IncmonError | null {
  if (code === 'HPE_INVALID_METHOD' && rawPacket?.[0] === TLS_HANDSHAKE) return TLS_MISSING
  const known = FAULTS[code]
  if (known) return known
  if (code.startsWith('HPE_')) return invalid(`not a valid HTTP/1.1 request (${reason}); see RFC 9112`)
  if (code.startsWith('ERR_SSL_'))
    return invalid(`the TLS connection failed (${reason}); check that the client trusts the certificate`)
  return null
}
