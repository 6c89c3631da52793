/** Sessions: lifetimes, user names, and safe redirect targets. */

import { DAY, HOUR, MINUTE } from '../units.ts'

/** The maximum lifetimes of a session, in milliseconds: by default, and on a remembered device. */
export const SHORT_SESSION = 12 * HOUR
export const LONG_SESSION = 30 * DAY
/** How long a setup link is valid, in milliseconds. */
export const SETUP_LINK_LIFE = 30 * MINUTE
const MAX_NAME = 100

/** A session as people see it. Times are Unix times in milliseconds. */
export type Session = {
  readonly id: string
  readonly person: string
  /** Null if the session was created with a setup link. */
  readonly tokenName: string | null
  readonly agent: string
  readonly createdAt: number
  readonly lastUsedAt: number
  readonly expiresAt: number
}

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

/**
 * Returns the browser and operating system from a User-Agent header: `Firefox on Linux`, or `unknown browser` if
 * neither is recognized.
 */
export function agentName(header: string): string {
  const browser = BROWSERS.find(([sign]) => header.includes(sign))?.[1] ?? 'unknown browser'
  const system = SYSTEMS.find(([sign]) => header.includes(sign))?.[1]
  return system === undefined ? browser : `${browser} on ${system}`
}

/**
 * Returns a redirect target on this server, or `/` if the target leads to another host. Browsers treat `//host`,
 * `/\host` and control characters as the start of another host.
 */
export function safePath(wanted: string): string {
  const isOwn = /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(wanted) && !/^\/sign-(in|out)\b/.test(wanted)
  return isOwn && wanted.length <= 2000 ? wanted : '/'
}

/**
 * Returns the path prefix under which a proxy serves the pages, for example `/monitoring`; '' if missing or malformed.
 */
export function safePrefix(text: string): string {
  const prefix = text.replace(/\/+$/, '')
  return /^(\/[\w.~-]+)+$/.test(prefix) && !/(^|\/)\.\.?(\/|$)/.test(prefix) ? prefix : ''
}

/** Cleans up a user's display name: one line, at most 100 characters; '' if nothing is left. */
export function personName(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_NAME)
    .toWellFormed()
    .trim()
}

/** Returns the URL of a setup link. `url` has no trailing slash. */
export function setupAddress(url: string, secret: string): string {
  return `${url}/setup?key=${secret}`
}
