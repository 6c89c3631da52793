/** Explains why a server did not respond, and what to do. */

type NoAnswer = { readonly why: string; readonly remedy: string }

/** Node's codes for a certificate that no trusted authority signed. */
const UNTRUSTED = [
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
]
const REFUSED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(UNTRUSTED.map((code) => [code, 'is not trusted here'])),
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'was issued for another name',
}
const CLOSED = ['UND_ERR_SOCKET', 'ECONNRESET']

/**
 * Returns the reason and the remedy.
 * @param url the requested address
 * @param isOwn whether only the certificate of the server of this database was accepted
 */
export function explainNoAnswer(error: unknown, url: string, isOwn = false): NoAnswer {
  const code = codeOf(error)
  const refused = REFUSED[code]
  if (refused !== undefined) return { why: `its certificate ${refused}, ${code}`, remedy: trustRemedy(code, isOwn) }
  if (url.startsWith('https:') && (code.startsWith('ERR_SSL_') || code === 'EPROTO')) {
    return { why: `the TLS handshake failed, ${code}`, remedy: `try ${url.replace(/^https:/, 'http:')} with --url` }
  }
  if (url.startsWith('http:') && CLOSED.includes(code)) {
    const remedy = `try ${url.replace(/^http:/, 'https:')} with --url, or read the log of the server`
    return { why: `it closed the connection, ${code}`, remedy }
  }
  return { why: code, remedy: 'start "incmon serve", or name the server with --url' }
}

function trustRemedy(code: string, isOwn: boolean): string {
  if (isOwn) return 'run "incmon doctor" to see what is wrong with it'
  if (UNTRUSTED.includes(code)) return 'set NODE_EXTRA_CA_CERTS to the PEM file of the authority that signed it'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'use the name in the certificate with --url'
  return code === 'CERT_HAS_EXPIRED' ? 'renew it, and send the server SIGHUP' : 'check the clocks of both machines'
}

/** Returns the code of the error, such as ECONNREFUSED, otherwise the first line of its message. */
function codeOf(error: unknown): string {
  const { cause, code, message } = error as Error & { code?: unknown; cause?: { code?: unknown; message?: string } }
  // A timeout has a numeric code, which is skipped.
  const found = [cause?.code, cause?.message, code].find((text) => typeof text === 'string' && text !== '')
  const [first = ''] = String(found ?? message).split('\n')
  return first
}
