/** Sends requests to a server over HTTP or HTTPS, and explains why a request failed. */
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { TLSSocket } from 'node:tls'
import type { Certificate } from '../domain/doctor/certificate.ts'
import { visible } from '../domain/terminal.ts'
import { withTimeLimit } from '../notify/time-limit.ts'
import { certificateOf } from '../server/connection/tls.ts'
import { parseObject } from './input.ts'

/** `certificate` is the server's certificate, or null for plain HTTP or if `trust` is `system`. */
export type HttpResponse = {
  readonly ok: boolean
  readonly status: number
  readonly text: string
  readonly certificate: Certificate | null
}

/**
 * Which TLS certificates to trust. `system`: all certificates that the system trusts. `only`: this PEM certificate,
 * with any issuer and name. `anyone`: all certificates. This value is used only to find out whether a server is running
 * on this machine, and never with a token.
 */
export type Trust = 'system' | 'anyone' | { readonly only: string }

export type Question = {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly timeoutMs: number
  readonly trust: Trust
}

/** Sends a request without following redirects. Rejects if there is no response. */
export function ask(url: string, { timeoutMs, trust, ...question }: Question): Promise<HttpResponse> {
  return withTimeLimit(timeoutMs, (signal) =>
    trust === 'system' || !url.startsWith('https:')
      ? askPlainly(url, { ...question, signal })
      : askByTls(url, trust, { ...question, signal }),
  )
}

type Sent = Omit<Question, 'timeoutMs' | 'trust'> & { readonly signal: AbortSignal }

async function askPlainly(url: string, sent: Sent): Promise<HttpResponse> {
  const answer = await fetch(url, { ...sent, redirect: 'manual' })
  return { ok: answer.ok, status: answer.status, text: await answer.text(), certificate: null }
}

function askByTls(url: string, trust: Exclude<Trust, 'system'>, { body, ...sent }: Sent): Promise<HttpResponse> {
  const accepted =
    trust === 'anyone'
      ? { rejectUnauthorized: false }
      : { ca: trust.only, allowPartialTrustChain: true, checkServerIdentity: () => undefined }
  return new Promise((resolve, reject) => {
    const asking = request(url, { ...accepted, ...sent, agent: false }, async (answer) => {
      const status = answer.statusCode ?? 0
      const shown = answer.socket instanceof TLSSocket ? answer.socket.getPeerX509Certificate() : undefined
      const certificate = shown ? certificateOf(shown) : null
      try {
        resolve({ ok: status >= 200 && status < 300, status, text: await text(answer), certificate })
      } catch (error) {
        reject(error)
      }
    })
    asking.on('error', reject)
    asking.end(body)
  })
}

/** What to do if another program responds. */
export const OTHER_PROGRAM = 'this is not incmon: check which program is listening there, or choose another --url'

/** A proxy might respond with a whole page. The start of the page usually names the problem. */
const MAX_PAGE_TEXT = 200
const MAX_DETAIL = 300
/** The maximum number of characters of a response that are searched for a message. */
const MAX_MARKUP = 20_000

/**
 * Returns the `detail` of a problem document. For any other response, returns the first words of the body without
 * markup, on one line.
 */
export function detailOf(text: string): string {
  const detail = parseObject(text)?.detail
  if (typeof detail === 'string') return oneLine(detail, MAX_DETAIL)
  const plain = /^\s*</.test(text) ? withoutMarkup(text.slice(0, MAX_MARKUP)) : text.slice(0, MAX_MARKUP)
  return oneLine(plain, MAX_PAGE_TEXT) || 'an empty body; check that this is the URL of incmon'
}

function withoutMarkup(page: string): string {
  const words = page.replace(/<!--.*?-->|<(script|style|svg)\b.*?<\/\1\s*>|<[^>]*>/gis, ' ')
  return words.replace(/&(nbsp|#160);/g, ' ').replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => SIGNS[name] ?? '')
}

const SIGNS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

function oneLine(text: string, longest: number): string {
  const words = text.replace(/\s+/g, ' ').trim()
  if (words === '') return ''
  const shown = visible(words)
  return shown.length <= longest ? shown : `${shown.slice(0, longest - 1).toWellFormed()}…`
}

type NoAnswer = { readonly why: string; readonly remedy: string }

/** Node's error codes for a certificate that no trusted authority signed. */
const UNTRUSTED = [
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
]
const REFUSED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(UNTRUSTED.map((code) => [code, 'is not trusted by this machine'])),
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'was issued for a different host name',
}
const CLOSED = ['UND_ERR_SOCKET', 'ECONNRESET']

/**
 * Explains why there is no response and what to do.
 * @param url the requested URL
 * @param isOwn whether only the certificate of this database's server was trusted
 */
export function explainNoAnswer(error: unknown, url: string, isOwn = false): NoAnswer {
  const code = codeOf(error)
  const refused = REFUSED[code]
  if (refused !== undefined) return { why: `its certificate ${refused}, ${code}`, remedy: trustRemedy(code, isOwn) }
  if (url.startsWith('https:') && (code.startsWith('ERR_SSL_') || code === 'EPROTO')) {
    return { why: `the TLS handshake failed, ${code}`, remedy: `try ${url.replace(/^https:/, 'http:')} with --url` }
  }
  if (url.startsWith('http:') && CLOSED.includes(code)) {
    const remedy = `try ${url.replace(/^http:/, 'https:')} with --url, or check the server log`
    return { why: `it closed the connection, ${code}`, remedy }
  }
  return { why: code, remedy: 'start "incmon serve", or specify the server with --url' }
}

function trustRemedy(code: string, isOwn: boolean): string {
  if (isOwn) return 'run "incmon doctor" to find the cause'
  if (UNTRUSTED.includes(code)) return 'set NODE_EXTRA_CA_CERTS to the PEM file of the CA that signed it'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'use a host name from the certificate in --url'
  return code === 'CERT_HAS_EXPIRED' ? 'renew it, then send SIGHUP to the server' : 'check the clocks of both machines'
}

/** Returns the error's code, such as ECONNREFUSED, or the first line of its message. */
function codeOf(error: unknown): string {
  const { cause, code, message } = error as Error & { code?: string; cause?: { code?: string; message?: string } }
  const [first = ''] = (cause?.code || cause?.message || code || message).split('\n')
  return first
}
