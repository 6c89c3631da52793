/** Sends a request to a server over HTTP or TLS, and decides which certificate to trust. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { TLSSocket } from 'node:tls'
import type { Certificate } from '../domain/doctor/certificate-life.ts'
import { certificateOf } from '../server/connection/tls.ts'

/** `certificate`: the certificate that the server showed; null for plain HTTP and for the trust `system`. */
export type HttpResponse = {
  readonly ok: boolean
  readonly status: number
  readonly text: string
  readonly certificate: Certificate | null
}

/**
 * The trusted certificate for TLS. `system`: one that the system trusts. `only`: this certificate, a PEM, with any
 * issuer and any name. `anyone`: any certificate, to find out whether a server of this machine runs; never used with a
 * token.
 */
export type Trust = 'system' | 'anyone' | { readonly only: string }

export type Question = {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly timeoutMs: number
  readonly trust: Trust
}

/** Returns the first certificate of a PEM file, or null if it has no valid one. */
export function readCertificate(file: string): Certificate | null {
  try {
    return file === '' ? null : certificateOf(new X509Certificate(readFileSync(file, 'utf8')))
  } catch {
    return null
  }
}

/** Sends the request without following redirects. Rejects if there is no response. */
export async function ask(url: string, question: Question): Promise<HttpResponse> {
  const { method = 'GET', headers = {}, body, timeoutMs, trust } = question
  const signal = AbortSignal.timeout(timeoutMs)
  if (trust !== 'system' && url.startsWith('https:')) {
    return askByTls(url, { ...question, method, headers, trust, signal })
  }
  const sent = body === undefined ? {} : { body }
  const answer = await fetch(url, { method, headers, ...sent, redirect: 'manual', signal })
  return { ok: answer.ok, status: answer.status, text: await answer.text(), certificate: null }
}

function askByTls(
  url: string,
  question: Omit<Question, 'timeoutMs'> & { readonly trust: Exclude<Trust, 'system'>; readonly signal: AbortSignal },
): Promise<HttpResponse> {
  const { method, headers, body, trust, signal } = question
  const accepted =
    trust === 'anyone'
      ? { rejectUnauthorized: false }
      : { ca: trust.only, allowPartialTrustChain: true, checkServerIdentity: () => undefined }
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...accepted, method, headers, signal, agent: false }, async (answer) => {
      const status = answer.statusCode ?? 0
      const shown = answer.socket instanceof TLSSocket ? answer.socket.getPeerX509Certificate() : undefined
      const certificate = shown ? certificateOf(shown) : null
      try {
        resolve({ ok: status >= 200 && status < 300, status, text: await text(answer), certificate })
      } catch (error) {
        reject(error)
      }
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
