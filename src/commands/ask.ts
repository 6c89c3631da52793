/** Asking a server: over HTTP or TLS; our own one by the certificate that it is configured with, whoever signed it. */
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { clientVariables } from '../config.ts'
import { type Common, requireConfig } from './database.ts'

export type Answered = { readonly ok: boolean; readonly status: number; readonly text: string }

export type Question = {
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  readonly body?: string
  /** An answer that takes longer is none, in milliseconds. */
  readonly patience: number
  /** PEM, the only one that is accepted then; null: what the system trusts. */
  readonly certificate: string | null
}

/** The certificate of the configured server; null where another address was named, or it speaks plain HTTP. */
export function ownCertificate(options: Common & { readonly url?: string }): string | null {
  const { 'tls-cert': file } = requireConfig(options)
  return options.url === undefined && clientVariables().url === null ? certificateIn(file) : null
}

/** Null where the file is not named or cannot be read: what is wrong with it is said elsewhere. */
export function certificateIn(file: string): string | null {
  try {
    return file === '' ? null : readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

/** Rejects where no answer comes; follows no redirect. */
export async function ask(url: string, question: Question): Promise<Answered> {
  const { method = 'GET', headers = {}, body, patience, certificate } = question
  const signal = AbortSignal.timeout(patience)
  if (certificate !== null) return askPinned(url, { ...question, method, headers, certificate, signal })
  const sent = body === undefined ? {} : { body }
  const answer = await fetch(url, { method, headers, ...sent, redirect: 'error', signal })
  return { ok: answer.ok, status: answer.status, text: await answer.text() }
}

/** Under whatever name it was issued: the address is this machine's, and the certificate must be that very one. */
function askPinned(
  url: string,
  question: Omit<Question, 'patience'> & { readonly certificate: string; readonly signal: AbortSignal },
): Promise<Answered> {
  const { method, headers, body, certificate, signal } = question
  const trust = { ca: certificate, allowPartialTrustChain: true, checkServerIdentity: () => undefined }
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...trust, method, headers, signal, agent: false }, async (answer) => {
      const status = answer.statusCode ?? 0
      try {
        resolve({ ok: status >= 200 && status < 300, status, text: await text(answer) })
      } catch (error) {
        reject(error)
      }
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
