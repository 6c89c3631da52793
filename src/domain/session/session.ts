/** Sessions: how long somebody stays signed in, under which name, and where a browser may be sent. */
import { SCOPES, type Scope } from '../token.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long a session lasts, in milliseconds: as long as the browser runs, at most; or on this device. */
export const SHORT_SESSION = 12 * HOUR
export const LONG_SESSION = 30 * DAY
/** How long a setup link can be used, in milliseconds. */
export const SETUP_LINK_LIFE = 30 * MINUTE
export const MAX_NAME = 100

/** What a session may do if no token limits it: everything but sending events. */
export const SETUP_SCOPES: readonly Scope[] = SCOPES

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const

/** Returns browser and system from a User-Agent header: `Firefox on Linux`; `unknown browser` if neither is known. */
export function agentName(header: string): string {
  const browser = BROWSERS.find(([sign]) => header.includes(sign))?.[1] ?? 'unknown browser'
  const system = SYSTEMS.find(([sign]) => header.includes(sign))?.[1]
  return system === undefined ? browser : `${browser} on ${system}`
}

/**
 * Returns an address of this server to send a browser to, as it was given; `/` if it would lead elsewhere.
 * Browsers read `//host`, `/\host` and control characters as the beginning of another host.
 */
export function safePath(wanted: string): string {
  const isOwn = /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(wanted) && !/^\/sign-(in|out)\b/.test(wanted)
  return isOwn && wanted.length <= 2000 ? wanted : '/'
}

/** Returns the path prefix under which a proxy serves the pages: `/monitoring`; '' if it is none or malformed. */
export function safePrefix(text: string): string {
  const prefix = text.replace(/\/+$/, '')
  return /^(\/[\w.~-]+)+$/.test(prefix) && !/(^|\/)\.\.?(\/|$)/.test(prefix) ? prefix : ''
}

/** Returns a person's name for the timelines: one line, at most 100 characters; '' if nothing is left. */
export function personName(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME)
    .toWellFormed()
    .trim()
}
