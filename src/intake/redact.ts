/** Replaces secrets in payloads before they are stored, logged or shown. */

import { recallNames } from '../domain/memoize.ts'

/** The text that replaces a secret. */
export const REDACTED = '[redacted]'

/** Longer texts are cut, because searching them would block all other requests. */
const MAX_LENGTH = 1024 * 1024
const CUT = '… [cut at 1 MiB]'

/** Endings of key names. `secret` is not included, because alerts and events name Kubernetes Secrets. */
const SECRET_KEY =
  /(?:password|passwd|passphrase|pwd|token|authorization|(?:api|access|secret|private)[-_]?key|client[-_]?secret)$/i

/**
 * Secrets with a known format. Each pattern runs in linear time: it starts with a literal, a look-behind prevents a
 * second start within one word, and two adjacent repeats never match the same character.
 */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // The end marker may be missing in a truncated log. Then everything after the begin marker is replaced.
  [
    /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,30}KEY(?: BLOCK)?-----|$)/g,
    REDACTED,
  ],
  [/:\/\/[^\s/:@?#"'<>]*:[^\s/?#"'<>]+@/g, `://${REDACTED}@`],
  [/(?<![\w-])eyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]*/g, REDACTED],
  // A digit or a capital distinguishes tokens from metric names such as incmon_http_request_duration_seconds.
  [/(?<![\w-])incmon_(?=[a-z_]*[A-Z0-9-])[\w-]{16,}/g, REDACTED],
  [/(?<![A-Za-z0-9])gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|soat|ffct|oas|wt)-[\w.-]{16,}/g, REDACTED],
  [/(?<![A-Za-z0-9])(?:GR1348941[\w-]{16,}|gh[oprsu]_\w{20,}|github_pat_\w{20,}|xox[abeprs]-[\w-]{10,})/g, REDACTED],
  [/(?<![A-Z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Z0-9])/g, REDACTED],
  [/(?<![A-Za-z0-9])(Bearer[ \t]{1,8})[\w.~+/=-]{6,}/gi, `$1${REDACTED}`],
  [/(?<![A-Za-z0-9])(authorization["']?[:=][ \t]{0,8}["']?(?:basic|token)[ \t]{1,8})[\w.~+/=:-]+/gi, `$1${REDACTED}`],
  [
    /(?<![A-Za-z0-9])((?:password|passwd|pwd|token|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret)(?:=\\?["']?|\\?"[ ]{0,4}:[ ]{0,4}\\?"))[^\s"'\\&,;<>]+/gi,
    `$1${REDACTED}`,
  ],
  [
    /(?<![A-Za-z0-9])((?:password|passwd|passphrase|pwd)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?)[^\s"'\\&,;<>]+/gi,
    `$1${REDACTED}`,
  ],
  [/(?<![\w-])(--?(?:password|passwd|token|api-key|secret)[ \t]{1,4})[^\s-][^\s]*/gi, `$1${REDACTED}`],
]

/** A fast first check. It must match every text that one of the patterns matches. */
const SUSPICIOUS =
  /-----BEGIN|:\/\/[^\s/?#"'<>]+@|eyJ|incmon_|gl[a-z]{2,5}-|GR1348941|gh[oprsu]_|github_pat_|xox[abeprs]-|A[KS]IA|bearer|authorization|passw|passphrase|pwd|token|key|secret/i

/**
 * Returns a JSON value without secrets: values of GitLab pipeline variables, strings and numbers under keys such as
 * `password`, `api_key` or `X-Gitlab-Token`, and secrets that `redactText` finds in other strings.
 * Returns the same value if it contains no secret, else a copy. Numbers that JSON cannot represent (1e400) become null.
 * The value must respect the depth limit of `parseBody`.
 */
export function redact(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? redactList(value, redact) : redactObject(value as Record<string, unknown>)
}

function redactObject(object: Record<string, unknown>): unknown {
  let copy: Record<string, unknown> | null = null
  for (const key of Object.keys(object)) {
    const child = redactChild(key, object[key])
    if (child === object[key]) continue
    copy ??= { ...object }
    setOwn(copy, key, child)
  }
  return copy ?? object
}

function redactList(list: readonly unknown[], redactOne: (item: unknown) => unknown): unknown {
  const copy = list.map(redactOne)
  return copy.every((item, index) => item === list[index]) ? list : copy
}

/** Replaces secrets with a known format in a text: tokens, keys, credentials in URLs. Runs in linear time. */
export function redactText(text: string): string {
  if (text.length > MAX_LENGTH) return `${redactText(text.slice(0, MAX_LENGTH).toWellFormed())}${CUT}`
  if (!SUSPICIOUS.test(text)) return text
  let clean = text
  for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement)
  return clean
}

/**
 * Replaces secrets in a body that is not valid JSON, for example because it is truncated. Besides `redactText`, it
 * replaces every string under `value`, because GitLab sends CI variables like this.
 */
export function redactRaw(text: string): string {
  return redactText(text.replace(/("value"\s{0,8}:\s{0,8})"(?:[^"\\]|\\.)*"?/g, `$1"${REDACTED}"`))
}

function redactChild(key: string, child: unknown): unknown {
  if (key === 'variables' && Array.isArray(child)) return redactList(child, redactVariable)
  return isSecretKey(key) ? redactSecret(child) : redact(child)
}

/** Redacts the value of a CI variable. GitLab sends `{ key, value }` and does not say which variables are secret. */
function redactVariable(variable: unknown): unknown {
  const clean = redact(variable)
  if (typeof clean !== 'object' || clean === null) return REDACTED
  return Object.hasOwn(clean, 'value') ? { ...clean, value: REDACTED } : clean
}

function redactSecret(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? '' : REDACTED
  if (typeof value === 'number') return REDACTED
  return Array.isArray(value) ? redactList(value, redactSecret) : redact(value)
}

/** Returns whether a value under this key is a secret. */
export const isSecretKey: (key: string) => boolean = recallNames((key) => SECRET_KEY.test(key.slice(-32)))

/** Sets a property with any name. Assigning to `__proto__` would change the prototype and lose the value. */
function setOwn(target: object, key: string, value: unknown): void {
  if (key !== '__proto__') (target as Record<string, unknown>)[key] = value
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}
