/** incmon send-test: sends the request of a real sender to a running server, and prints the answer. */
import { clientVariables } from '../../config.ts'
import type { Source } from '../../domain/event/event.ts'
import { detailOf, OTHER_PROGRAM, parseObject } from '../answer.ts'
import { ask, type HttpResponse, type Question } from '../ask.ts'
import { type Common, hint } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { explainNoAnswer } from '../no-answer.ts'
import { print, visible } from '../output.ts'
import { requireServer } from '../server-address.ts'
import { TEST_PAYLOADS } from '../test-payloads.ts'

const TIMEOUT_MS = 20_000

type Options = Common & { readonly url?: string; readonly token?: string }

export async function sendTest(source: Source, options: Options, now: number): Promise<void> {
  const token = requireToken(options)
  const { url, trust } = await requireServer(options)
  const address = new URL(`${url}/api/webhooks/${source}`)
  const sent = { headers: headersOf(source, token), body: JSON.stringify(TEST_PAYLOADS[source](now)) }
  const { ok, status, text } = await post(address, { ...sent, trust })
  if (!ok) throw new CommandError(`${address} answered ${status}: ${detailOf(text)}`)
  if (parseObject(text)?.received !== true) {
    throw new CommandError(`${address} answered ${status}: ${detailOf(text)}: ${OTHER_PROGRAM}`)
  }
  print(options.json ? text : `${address} answered ${status}: ${visible(text)}`)
}

/** Returns the token of --token or INCMON_TOKEN. @throws UsageError if there is none */
export function requireToken(options: Options): string {
  const token = options.token ?? clientVariables().token
  if (token) return token
  throw new UsageError(`name a token with --token or INCMON_TOKEN: ${hint(options, 'token create')} makes one`)
}

/** Returns the headers of a sender of this kind. */
export function headersOf(source: Source, token: string): Record<string, string> {
  const json = { 'Content-Type': 'application/json' }
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError('--token: it has characters that no token has: copy it again')
  return source === 'ci'
    ? { ...json, 'X-Ci-Token': token, 'X-Ci-Event': 'Pipeline Hook' }
    : { ...json, Authorization: `Bearer ${token}` }
}

async function post(address: URL, sent: Omit<Question, 'method' | 'timeoutMs'>): Promise<HttpResponse> {
  try {
    return await ask(address.href, { ...sent, method: 'POST', timeoutMs: TIMEOUT_MS })
  } catch (error) {
    const { why, remedy } = explainNoAnswer(error, address.origin, sent.trust !== 'system')
    throw new CommandError(`no answer from ${address.origin} (${why}): ${remedy}`)
  }
}
