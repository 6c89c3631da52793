/** Redaction: secrets leave a payload before anything stores, logs or shows it. */

/** What stands in the place of a secret. */
export const REDACTED = '[redacted]'

/** A longer text is a dump, and would hold up every other request while it is searched. */
const LONGEST = 1024 * 1024
const CUT = '… [cut at 1 MiB]'

/** Endings of key names. Not `secret`: alerts and events name Kubernetes Secrets. */
const SECRET_KEY =
  /(?:password|passwd|passphrase|pwd|token|authorization|(?:api|access|secret|private)[-_]?key|client[-_]?secret)$/i

/**
 * Secrets recognised by their form. Each pattern is linear: it starts at a literal, a look-behind keeps it from
 * starting twice in one run of characters, and no two neighbouring repeats can take the same character.
 */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // The end marker may be cut off, as in a truncated log: then everything after the beginning goes.
  [
    /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,30}KEY(?: BLOCK)?-----|$)/g,
    REDACTED,
  ],
  [/:\/\/[^\s/:@?#"'<>]*:[^\s/?#"'<>]+@/g, `://${REDACTED}@`],
  [/(?<![\w-])eyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]*/g, REDACTED],
  // A digit or a capital tells our tokens from our metrics, such as incmon_http_request_duration_seconds.
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

/** One cheap look that spares most texts the walk through the patterns; it must match wherever one of them does. */
const SUSPICIOUS =
  /-----BEGIN|:\/\/[^\s/?#"'<>]+@|eyJ|incmon_|gl[a-z]{2,5}-|GR1348941|gh[oprsu]_|github_pat_|xox[abeprs]-|A[KS]IA|bearer|authorization|passw|pwd|token|key|secret/i

/**
 * A copy of a JSON value without its secrets: the values of GitLab's pipeline variables, strings and numbers under
 * keys such as `password`, `api_key` or `X-Gitlab-Token`, and whatever `redactText` finds in any other string.
 * Numbers that JSON cannot write (1e400) become null. The value must not be deeper than `parseBody` lets through.
 */
export function redact(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(redact)
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) setOwn(copy, key, redactChild(key, (value as Record<string, unknown>)[key]))
  return copy
}

/** A text without the secrets that can be told by their form: tokens, keys, credentials in addresses. Linear in time. */
export function redactText(text: string): string {
  if (text.length > LONGEST) return `${redactText(text.slice(0, LONGEST).toWellFormed())}${CUT}`
  if (!SUSPICIOUS.test(text)) return text
  let clean = text
  for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement)
  return clean
}

/**
 * A body that is no JSON, such as one cut short: besides what `redactText` finds, every value that would be a string under
 * `value`, since GitLab sends its variables so.
 */
export function redactRaw(text: string): string {
  return redactText(text.replace(/("value"\s{0,8}:\s{0,8})"(?:[^"\\]|\\.)*"?/g, `$1"${REDACTED}"`))
}

/** A text under a name: all of it goes where the name says that it is a secret, else as `redactText`. */
export function redactNamed(name: string, text: string): string {
  return text !== '' && isSecretKey(name) ? REDACTED : redactText(text)
}

function redactChild(key: string, child: unknown): unknown {
  if (key === 'variables' && Array.isArray(child)) return child.map(redactVariable)
  return isSecretKey(key) ? redactSecret(child) : redact(child)
}

/** GitLab sends `{ key, value }`; which of them are secret it does not say. */
function redactVariable(variable: unknown): unknown {
  const copy = redact(variable)
  if (typeof copy !== 'object' || copy === null) return REDACTED
  if (Object.hasOwn(copy, 'value')) setOwn(copy, 'value', REDACTED)
  return copy
}

function redactSecret(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? '' : REDACTED
  if (typeof value === 'number') return REDACTED
  return Array.isArray(value) ? value.map(redactSecret) : redact(value)
}

function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key.slice(-32))
}

/** Sets a property whatever its name: assigning to `__proto__` would change the object's prototype and drop the value. */
function setOwn(target: object, key: string, value: unknown): void {
  if (key !== '__proto__') (target as Record<string, unknown>)[key] = value
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}
