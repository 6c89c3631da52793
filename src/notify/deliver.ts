/** Attempts once to deliver a message through its channel. */

import { connect, type Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'
import type { Message, SendOutcome } from '../actions/messages.ts'
import { readSmallFile } from '../config.ts'
import {
  type ChannelKind,
  type ChannelRequest,
  formatDiscord,
  formatNtfy,
  formatSlack,
  formatTeams,
  formatTelegram,
  formatWebhook,
} from '../domain/notification/format.ts'
import { formatMail, type Mail } from '../domain/notification/mail.ts'
import { topicOf, withoutSecrets } from '../domain/notification/target.ts'
import type { MessageContext, MessageText } from '../domain/notification/words.ts'
import type { ChannelSecrets } from '../store/notification/channels.ts'
import { type Network, post, SendError } from './post.ts'
import { withTimeLimit } from './time-limit.ts'

type OutgoingMessage = Pick<Message, 'secrets' | 'items' | 'incidentId' | 'replyTo' | 'isFirst'> & {
  /** The UUID of the message, which is the same for all attempts. */
  readonly id: string
  readonly kind: ChannelKind
  readonly words: MessageText
  readonly context: MessageContext
}

export type Transports = {
  readonly network: Network
  /** Null if no mail server is configured. */
  readonly mailServer: MailServer | null
}

const MAIL_ACCEPTED = 250
const MAX_DETAIL = 1_000
/** The maximum size of everything that a mail server sends while it takes one mail, in bytes. */
const MAX_ANSWERS = 65_536
/** How often it is measured, in milliseconds: under TLS, a socket has no event for what arrives. */
const MEASURED_EVERY = 20
/** How many times the time for one answer a mail may take. */
const ANSWERS_WITHIN = 6

/** Delivers a message and returns the outcome. Never throws. */
export async function deliver(message: OutgoingMessage, transports: Transports): Promise<SendOutcome> {
  const outcome = await attempt(message, transports)
  return { ...outcome, detail: outcome.detail === null ? null : safe(outcome.detail, message) }
}

async function attempt(message: OutgoingMessage, transports: Transports): Promise<SendOutcome> {
  try {
    return message.kind === 'mail' ? await mail(message, transports) : await postMessage(message, transports.network)
  } catch (error) {
    const detail = error instanceof SendError ? error.message : `a bug: ${String(error)}`
    return { status: null, detail, remoteId: null, retryAfter: 0 }
  }
}

async function mail(
  { id, secrets, words, incidentId, isFirst }: OutgoingMessage,
  { mailServer }: Transports,
): Promise<SendOutcome> {
  if (!mailServer) throw new SendError('no mail server is configured: set smtp-url and mail-from')
  const host = mailServer.from.replace(/^.*@|>.*$/g, '')
  const letter = formatMail(words, { id, thread: incidentId, isFirst, host })
  const detail = await sendMail(mailServer, secrets.target, letter)
  return { status: MAIL_ACCEPTED, detail, remoteId: null, retryAfter: 0 }
}

async function postMessage(message: OutgoingMessage, network: Network): Promise<SendOutcome> {
  const { secrets, kind } = message
  const target = new URL(secrets.target)
  const answer = await post(addressOf(kind, target), formatted(message, target), network)
  const isRedirect = answer.status >= 300 && answer.status < 400
  const text = isRedirect
    ? 'the receiver redirected the message; use the URL to which the receiver redirects'
    : answer.text
  const detail = text.trim() === '' ? null : text
  const remoteId = kind === 'telegram' ? (/"message_id":(\d{1,15})\b/.exec(answer.text)?.[1] ?? null) : null
  return { status: answer.status, detail, remoteId, retryAfter: answer.retryAfter }
}

function formatted(
  { kind, words, items, context, id, secrets, incidentId, replyTo }: OutgoingMessage,
  target: URL,
): ChannelRequest {
  if (kind === 'discord') return formatDiscord(words)
  if (kind === 'teams') return formatTeams(words)
  if (kind === 'telegram') return formatTelegram(words, target.searchParams.get('chat_id') ?? '', replyTo)
  if (kind === 'ntfy') return formatNtfy(words, topicOf(target), updatesOf(items, incidentId))
  if (kind === 'webhook') return signed(id, secrets, formatWebhook(items, words, context), context.now)
  return formatSlack(words)
}

/** An acknowledgement replaces the first message. ntfy shows a replaced message without another sound. */
function updatesOf(items: OutgoingMessage['items'], incidentId: string | null): string | null {
  const kind = items.at(-1)?.kind
  return kind === 'opened' || kind === 'group' || kind === 'acknowledged' ? incidentId : null
}

/** Returns the URL to post to. ntfy accepts JSON at its root URL. Telegram expects the chat in the body. */
function addressOf(kind: ChannelKind, target: URL): URL {
  if (kind !== 'ntfy' && kind !== 'telegram') return target
  const url = new URL(target)
  url.search = ''
  if (kind === 'ntfy') url.pathname = url.pathname.replace(/[^/]*\/*$/, '')
  return url
}

/** Adds the Standard Webhooks headers. For a day after a rotation, messages are signed with both secrets. */
function signed(
  id: string,
  { signing, earlier, earlierUntil }: ChannelSecrets,
  posted: ChannelRequest,
  now: number,
): ChannelRequest {
  const isBoth = earlier !== null && earlierUntil !== null && now < earlierUntil
  const keys = [signing, isBoth ? earlier : null].filter((key) => key !== null)
  const at = new Date(now)
  const signatures = keys.map((key) => new Webhook(key).sign(id, at, posted.body))
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1000)),
    'webhook-signature': signatures.join(' '),
  }
  return { body: posted.body, headers: { ...posted.headers, ...headers } }
}

/**
 * Redacts secrets in a response. A response can echo the message with its acknowledge link. People who can read the
 * list of deliveries must not be able to use this link.
 */
function safe(text: string, { secrets, context }: OutgoingMessage): string {
  const { target, signing, earlier } = secrets
  const urls = [context.acknowledgeUrl, ...Object.values(context.acknowledgeUrls)]
  const signatures = urls.flatMap((url) => url?.split('signature=')[1] ?? [])
  const decoded = signatures.map((signature) => decodeURIComponent(signature))
  const hidden = [target, signing, earlier, ...signatures, ...decoded].filter((secret) => secret !== null)
  return withoutSecrets(text, hidden).slice(0, MAX_DETAIL)
}

// Sends email through one SMTP server. The operator configures the server, so it can be in a private network.

export type MailServer = {
  /** `smtp://user@host:587` with STARTTLS, or `smtps://user@host:465` with TLS. */
  readonly url: string
  /** A file that contains the password, or '' if the server requires none. */
  readonly passwordFile: string
  readonly from: string
  readonly timeoutMs: number
}

/** Sends an email and returns the server's response. @throws SendError */
export async function sendMail(server: MailServer, to: string, mail: Mail): Promise<string> {
  // Most servers send no mail.
  const { createTransport } = await import('nodemailer')
  const { username, hostname, port, protocol } = new URL(server.url)
  const secure = protocol === 'smtps:'
  const user = decodeURIComponent(username)
  const auth = user === '' ? {} : { auth: { user, pass: passwordOf(server) } }
  const place = {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
  }
  const sockets: Socket[] = []
  const flooded = Promise.withResolvers<never>()
  const measure = () => {
    if (!sockets.some(({ bytesRead }) => bytesRead > MAX_ANSWERS)) return
    for (const socket of sockets) socket.destroy()
    flooded.reject(new Error(`more than ${MAX_ANSWERS} bytes arrived`))
  }
  const transport = createTransport({
    ...place,
    // nodemailer limits neither the size nor the time of all answers together.
    getSocket: (_: unknown, done: (error: Error | null, opened?: { connection: Socket }) => void) => {
      const socket = connect({ ...place, timeout: server.timeoutMs })
      sockets.push(socket)
      const failed = (error: Error) => done(error)
      socket.once('error', failed)
      socket.once('timeout', () => socket.destroy(new Error('Connection timeout')))
      socket.once('connect', () => {
        socket.removeListener('error', failed).removeAllListeners('timeout')
        done(null, { connection: socket })
      })
    },
    secure,
    // A password is never sent without TLS.
    requireTLS: user !== '',
    ...auth,
    connectionTimeout: server.timeoutMs,
    greetingTimeout: server.timeoutMs,
    socketTimeout: server.timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const { inReplyTo, ...content } = mail
  const thread = inReplyTo === null ? {} : { inReplyTo, references: inReplyTo }
  const measuring = setInterval(measure, MEASURED_EVERY)
  try {
    const headers = { 'Auto-Submitted': 'auto-generated' }
    const send = () => transport.sendMail({ from: server.from, to, ...content, headers, ...thread })
    const sent = await Promise.race([withTimeLimit(server.timeoutMs * ANSWERS_WITHIN, send), flooded.promise])
    // The response begins with the status, which is shown next to it.
    return sent.response.replace(/^250[ -]/, '')
  } catch (error) {
    throw new SendError(failureOf(error))
  } finally {
    clearInterval(measuring)
    for (const socket of sockets) socket.destroy()
  }
}

/** A response code shows that the mail server answered. */
function failureOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error)
  return error instanceof Error && 'responseCode' in error && error.responseCode !== undefined
    ? `the mail server rejected the message: ${reason}`
    : `the mail server did not answer: ${reason}; check smtp-url, then send SIGHUP to the server if you changed it`
}

function passwordOf({ passwordFile }: MailServer): string {
  if (passwordFile === '') return ''
  try {
    return readSmallFile(passwordFile).trimEnd()
  } catch {
    throw new SendError(`${passwordFile} cannot be read: check smtp-password-file`)
  }
}
