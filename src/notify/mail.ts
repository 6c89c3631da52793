/** Sends email through one SMTP server. The operator configures the server, so it can be in a private network. */
import { readFileSync } from 'node:fs'
import type { Mail } from '../domain/notification/mail.ts'
import { SendError } from './post.ts'

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
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
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
  try {
    const headers = { 'Auto-Submitted': 'auto-generated' }
    const sent = await transport.sendMail({ from: server.from, to, ...content, headers, ...thread })
    // The response begins with the status, which is shown next to it.
    return sent.response.replace(/^250[ -]/, '')
  } catch (error) {
    throw new SendError(failureOf(error))
  } finally {
    transport.close()
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
    return readFileSync(passwordFile, 'utf8').trimEnd()
  } catch {
    throw new SendError(`${passwordFile} cannot be read: check smtp-password-file`)
  }
}
