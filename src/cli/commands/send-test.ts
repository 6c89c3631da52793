/** incmon send-test: posts what a real sender would post to a running server, and shows the answer. */
import { clientVariables } from '../../config.ts'
import type { Source } from '../../domain/event/event.ts'
import { detailOf, NOT_OURS, objectIn } from '../answer.ts'
import { type Answered, ask, ownCertificateFile, pemIn, type Question } from '../ask.ts'
import { type Common, hint } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { explainNoAnswer } from '../no-answer.ts'
import { print, visible } from '../output.ts'
import { serverAddress } from '../server-address.ts'
import { TEST_PAYLOADS } from '../test-payloads.ts'

/** An answer that takes longer is none, in milliseconds. */
const PATIENCE = 20_000

type Options = Common & { readonly url?: string; readonly token?: string }

export async function sendTest(source: Source, options: Options, now: number): Promise<void> {
  const address = new URL(`${serverAddress(options)}/api/webhooks/${source}`)
  const token = requireToken(options)
  const sent = { headers: headersOf(source, token), body: JSON.stringify(TEST_PAYLOADS[source](now)) }
  const own = pemIn(ownCertificateFile(options))
  const { ok, status, text } = await post(address, { ...sent, trust: own === null ? 'system' : { only: own } })
  if (!ok) throw new CommandError(`${address} answered ${status}: ${detailOf(text)}`)
  if (objectIn(text)?.received !== true) {
    throw new CommandError(`${address} answered ${status}: ${detailOf(text)}: ${NOT_OURS}`)
  }
  print(options.json ? text : `${address} answered ${status}: ${visible(text)}`)
}

/** Returns the token of --token or INCMON_TOKEN. @throws UsageError if there is none */
export function requireToken(options: Options): string {
  const token = options.token ?? clientVariables().token
  if (token) return token
  throw new UsageError(`name a token with --token or INCMON_TOKEN: ${hint(options, 'token create')} makes one`)
}

/** What a sender of this kind sends beside its body. */
export function headersOf(source: Source, token: string): Record<string, string> {
  const json = { 'Content-Type': 'application/json' }
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError('--token: holds blanks or letters that no token has')
  return source === 'ci'
    ? { ...json, 'X-Ci-Token': token, 'X-Ci-Event': 'Pipeline Hook' }
    : { ...json, Authorization: `Bearer ${token}` }
}

async function post(address: URL, sent: Omit<Question, 'method' | 'patience'>): Promise<Answered> {
  try {
    return await ask(address.href, { ...sent, method: 'POST', patience: PATIENCE })
  } catch (error) {
    const { why, remedy } = explainNoAnswer(error, address.origin, sent.trust !== 'system')
    throw new CommandError(`no answer from ${address.origin} (${why}): ${remedy}`)
  }
}
