/** Parses forms and verifies that this server generated them. */
import type { Context } from 'hono'
import { IncmonError } from '../../domain/error.ts'
import { timeZoneOf } from '../../domain/time-zone.ts'
import { isCompressed, readBytes, typedText } from '../../http/middleware/body.ts'
import { headerOf } from '../../http/middleware/header.ts'
import type { HandlerParts } from '../../http/route.ts'
import { serverAddress } from './visitor.ts'

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(;|$)/i

/** The fields of a form, in order. A name can occur more than once. */
export type Form = {
  /** Returns the first value, trimmed and with `\n` line endings, or '' if there is none. */
  readonly text: (name: string) => string
  readonly texts: (name: string) => readonly string[]
  /** Returns the text of each of the fields. */
  readonly record: <Name extends string>(names: readonly Name[]) => Readonly<Record<Name, string>>
  /**
   * Returns the time zone that a user typed into a field. A city name is accepted. An unknown zone is returned
   * unchanged.
   */
  readonly zone: (name: string) => string
  /** All submitted fields except the CSRF token. */
  readonly fields: readonly [string, string][]
  readonly csrf: string
}

const MAX_FIELDS = 1_000

export const NO_FORM: Form = formOf('')

/** Parses a form. @throws IncmonError `unsupported` if the body is not a form, `too-large` if it exceeds the limit */
export async function readForm(c: Context, { server }: HandlerParts, limit: number): Promise<Form> {
  const type = headerOf(c, 'content-type') ?? ''
  if (!FORM_TYPE.test(type) || isCompressed(c))
    throw new IncmonError('unsupported', 'Send the form as application/x-www-form-urlencoded.')
  return formOf(new TextDecoder().decode(await readBytes(c, limit, server.pendingBodies)))
}

/** Parses a URL-encoded form. @throws IncmonError `too-large` if it has more than 1,000 fields */
export function formOf(body: string): Form {
  // Stops after the first part that is too many. An & at the end of the body adds an empty part.
  const parts = body.split('&', MAX_FIELDS + 2)
  if (parts.filter((part) => part !== '').length > MAX_FIELDS || parts.length > MAX_FIELDS + 1) {
    throw new IncmonError('too-large', `The form has more than ${MAX_FIELDS} fields. Reload the page and try again.`)
  }
  // URLSearchParams, and replaceAll, take several times as long for a megabyte of plus signs.
  const decoded = [...new URLSearchParams(body.split('+').join('%20'))]
  const pairs = decoded.map(([name, value]): [string, string] => [name, value.replace(/\r\n?/g, '\n')])
  const texts = (name: string) => pairs.flatMap(([key, value]) => (key === name ? [typedText(value)] : []))
  const text = (name: string) => texts(name)[0] ?? ''
  return {
    text,
    texts,
    record: (names) =>
      Object.fromEntries(names.map((name) => [name, text(name)])) as Record<(typeof names)[number], string>,
    zone: (name) => timeZoneOf(text(name)),
    fields: pairs.filter(([name]) => name !== 'csrf'),
    csrf: text('csrf'),
  }
}

/** Returns the number. Returns other text unchanged, so that the schema reports the error. */
export function numberOrText(text: string): number | string {
  return /^\d{1,9}$/.test(text) ? Number(text) : text
}

/** Rejects forms submitted from other sites. @throws IncmonError `forbidden` */
export function refuseOtherSites(c: Context, parts: HandlerParts): void {
  const site = headerOf(c, 'sec-fetch-site')
  if (site === 'same-origin') return
  const origin = headerOf(c, 'origin')
  if (site === undefined && origin !== undefined && isOwnHost(c, parts, URL.parse(origin)?.host ?? '')) return
  throw new IncmonError(
    'forbidden',
    'This form was not sent from a page of incmon. Open the page again and send it from there.',
  )
}

/** Returns whether the visitor reaches this server at this host. */
function isOwnHost(c: Context, parts: HandlerParts, host: string): boolean {
  return new URL(serverAddress(c, parts)).host === host || headerOf(c, 'host') === host
}
