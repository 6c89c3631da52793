/** Asking a server: over HTTP or TLS, and whom to believe that it is the one that was meant. */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { TLSSocket } from 'node:tls'
import { clientVariables } from '../config.ts'
import type { Certificate } from '../domain/doctor/certificate-life.ts'
import { certificateOf } from '../server/connection/tls.ts'
import { type Common, requireConfig } from './database.ts'

/** `certificate`: what the server showed, where it was asked over TLS as `anyone` or by its own certificate. */
export type Answered = {
  readonly ok: boolean
  readonly status: number
  readonly text: string
  readonly certificate: Certificate | null
}

/**
 * Who is believed over TLS: whom the `system` trusts; or the `only` certificate, a PEM, whoever signed it and for
 * whatever name; or `anyone`, to learn whether a server of this machine lives. To `anyone` no token is sent.
 */
export type Trust = 'system' | 'anyone' | { readonly only: string }

export type Question = {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  readonly body?: string
  /** An answer that takes longer is none, in milliseconds. */
  readonly patience: number
  readonly trust: Trust
}

/** The file with the certificate of the configured server; '' where it speaks plain HTTP, or another was named. */
export function ownCertificateFile(options: Common & { readonly url?: string }): string {
  const { 'tls-cert': file } = requireConfig(options)
  return options.url === undefined && clientVariables().url === null ? file : ''
}

/** Null where the file is not named or cannot be read: what is wrong with it is said elsewhere. */
export function pemIn(file: string): string | null {
  try {
    return file === '' ? null : readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

/** Null where the file holds none that can be read. */
export function certificateIn(file: string): Certificate | null {
  const pem = pemIn(file)
  try {
    return pem === null ? null : certificateOf(new X509Certificate(pem))
  } catch {
    return null
  }
}

/** Rejects where no answer comes; follows no redirect. */
export async function ask(url: string, question: Question): Promise<Answered> {
  const { method = 'GET', headers = {}, body, patience, trust } = question
  const signal = AbortSignal.timeout(patience)
  if (trust !== 'system' && url.startsWith('https:')) {
    return askByTls(url, { ...question, method, headers, trust, signal })
  }
  const sent = body === undefined ? {} : { body }
  const answer = await fetch(url, { method, headers, ...sent, redirect: 'manual', signal })
  return { ok: answer.ok, status: answer.status, text: await answer.text(), certificate: null }
}

function askByTls(
  url: string,
  question: Omit<Question, 'patience'> & { readonly trust: Exclude<Trust, 'system'>; readonly signal: AbortSignal },
): Promise<Answered> {
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
