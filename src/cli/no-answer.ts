/** Why a server gave no answer, in the words of a person, and what to do about it. */

type NoAnswer = { readonly why: string; readonly remedy: string }

/** What Node says of a certificate that leads to nobody it trusts. */
const UNTRUSTED = [
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
]
const REFUSED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(UNTRUSTED.map((code) => [code, 'is not trusted here'])),
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'was made for another name',
}
const CLOSED = ['UND_ERR_SOCKET', 'ECONNRESET']

/**
 * @param url as it was asked
 * @param isOwn whether only the certificate of the configuration was accepted
 */
export function explainNoAnswer(error: unknown, url: string, isOwn = false): NoAnswer {
  const code = codeOf(error)
  const refused = REFUSED[code]
  if (refused !== undefined) return { why: `its certificate ${refused}, ${code}`, remedy: trustRemedy(code, isOwn) }
  if (url.startsWith('https:') && (code.startsWith('ERR_SSL_') || code === 'EPROTO')) {
    return { why: `no TLS could be agreed on, ${code}`, remedy: `try ${url.replace(/^https:/, 'http:')} with --url` }
  }
  if (url.startsWith('http:') && CLOSED.includes(code)) {
    const remedy = `try ${url.replace(/^http:/, 'https:')} with --url, or look into the log of the server`
    return { why: `it closed the connection, ${code}`, remedy }
  }
  return { why: code, remedy: 'start "incmon serve", or name it with --url' }
}

function trustRemedy(code: string, isOwn: boolean): string {
  if (isOwn) return '"incmon doctor" says what is wrong with it'
  if (UNTRUSTED.includes(code)) return 'name the PEM file of whom to trust in NODE_EXTRA_CA_CERTS=FILE'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'name the server as its certificate does, with --url'
  return code === 'CERT_HAS_EXPIRED' ? 'renew it, and send the server SIGHUP' : 'look at the clock of both machines'
}

/** The system's word for what happened to a request, such as ECONNREFUSED; else the first line of what was said. */
function codeOf(error: unknown): string {
  const { cause, code, message } = error as Error & { code?: unknown; cause?: { code?: unknown; message?: string } }
  // A time that ran out has a number, and hides behind an abort.
  const found = [cause?.code, cause?.message, code].find((said) => typeof said === 'string' && said !== '')
  const [first = ''] = String(found ?? message).split('\n')
  return first
}
