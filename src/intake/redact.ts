/** Redacts secrets in payloads before they are stored, logged or shown. */

import { cacheByName, copyOf } from '../domain/memoize.ts'
import { GITLEAKS_RULES } from './gitleaks/rules.ts'

export const REDACTED = '[redacted]'

/** Strings longer than this are truncated, because searching them would block all other requests. */
const MAX_LENGTH = 1024 * 1024
const CUT = '… [cut at 1 MiB]'
/**
 * The number of characters to search beyond the cut, so that a secret on the boundary is recognized. No secret in a
 * known format is longer than this.
 */
const BEYOND_CUT = 4096

/**
 * Matches the names of keys whose values are secret. A name that merely ends in `secret` does not match, because alerts
 * and events name Kubernetes Secrets.
 */
const SECRET_KEY =
  /(?:password|passwd|passphrase|pwd|token|authorization|(?:api|access|secret|private)[-_]?key|client[-_]?secret)$/i

/**
 * Secrets in known formats. All patterns run in linear time. Each pattern starts with a literal, and a lookbehind
 * prevents a second start in the same word. Adjacent repetitions never match the same character.
 */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // If a private key has no end marker because the text was truncated, everything after the begin marker is redacted.
  [
    /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,30}KEY(?: BLOCK)?-----|$)/g,
    REDACTED,
  ],
  [/:\/\/[^\s/:@?#"'<>]*:[^\s/?#"'<>]+@/g, `://${REDACTED}@`],
  // A URL can contain a token in place of the user name.
  [/(https?:\/\/)[^\s/:@?#"'<>]+@/gi, `$1${REDACTED}@`],
  [/(?<![\w-])eyJ[\w-]{5,}\.eyJ[\w-]{5,}\.[\w-]*/g, REDACTED],
  // Webhook URLs are secrets: anyone who has the URL can post.
  [/(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/+-]+/gi, `$1${REDACTED}`],
  [/(?<!\d)(?:bot)?\d{6,12}:[\w-]{30,}/g, REDACTED],
  [/(?<![\w-])(?:sk-ant-|hv[sbr]\.)[\w-]{16,}/g, REDACTED],
  [/((?:^|[?&])sig=)[\w%+/=-]{8,}/gi, `$1${REDACTED}`],
  [/(?<![A-Za-z0-9])((?:set-)?cookie\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?)[^\r\n"'\\]+/gi, `$1${REDACTED}`],
  // The sender may have truncated the text in the middle of a token.
  [
    /(?<![\w.-])(?:gl(?:pat|dt|rt|cbt|ptt|ft|soat)-|gh[oprsu]_|github_pat_|xox[abeprs]-|[sr]k_(?:live|test)_|sk-ant-|hv[sbr]\.|AIza|A[KS]IA|do[opr]_v1_|npm_|hf_|eyJ)(?=[\w.-]*\d)[\w.-]{4,}(?=(?:\u2026|\.{3})?$)/g,
    REDACTED,
  ],
  // A digit or a capital letter distinguishes a token from metric names such as incmon_http_request_duration_seconds.
  [/(?<![\w-])incmon_(?=[a-z_]*[A-Z0-9-])[\w-]{16,}/g, REDACTED],
  [/(?<![A-Za-z0-9])gl(?:pat|dt|rtr?|cbt|ptt|ft|imt|agent|soat|ffct|oas|wt)-[\w.-]{16,}/g, REDACTED],
  [/(?<![A-Za-z0-9])(?:GR1348941[\w-]{16,}|gh[oprsu]_\w{20,}|github_pat_\w{20,}|xox[abeprs]-[\w-]{10,})/g, REDACTED],
  [/(?<![A-Z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Z0-9])/g, REDACTED],
  [/(?<![A-Za-z0-9])(Bearer[ \t]{1,8})[\w.~+/=-]{6,}/gi, `$1${REDACTED}`],
  [/(?<![A-Za-z0-9])(authorization["']?[:=][ \t]{0,8}["']?(?:basic|token)[ \t]{1,8})[\w.~+/=:-]+/gi, `$1${REDACTED}`],
  [
    /((?:password|passwd|pwd|token|api[_-]?key|access[_-]?key|private[_-]?key|secret)(?:=\\?["']?|\\?"[ ]{0,4}:[ ]{0,4}\\?"))[^\s"'\\&,;<>]+/gi,
    `$1${REDACTED}`,
  ],
  [/((?:password|passwd|passphrase|pwd)\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?)[^\s"'\\&,;<>]+/gi, `$1${REDACTED}`],
  [/(?<![\w-])(--?(?:password|passwd|token|api-key|secret)[ \t]{1,4})[^\s-][^\s]*/gi, `$1${REDACTED}`],
]

/** A cheap first check. Must match every string that any of the patterns matches. */
const SUSPICIOUS =
  /hooks\.slack|[sr]k_(?:live|test)_|AIza|do[opr]_v1_|npm_|hf_|\d:[\w-]{30}|sk-ant-|hv[sbr]\.|sig=|cookie|-----BEGIN|:\/\/[^\s/?#"'<>]+@|eyJ|incmon_|gl[a-z]{2,5}-|GR1348941|gh[oprsu]_|github_pat_|xox[abeprs]-|A[KS]IA|bearer|authorization|passw|passphrase|pwd|token|key|secret/i

const WORD = 16

/** Matches tokens with a prefix from the gitleaks rules, up to the end of the word. */
const KNOWN_TOKEN = new RegExp(
  `(?:${GITLEAKS_RULES.map(({ pattern, ignoresCase }) => (ignoresCase ? `(?i:${pattern})` : pattern)).join('|')})[\\w+/=~-]*`,
  'g',
)

/**
 * Returns a JSON value with all secrets replaced. Secrets are the values of GitLab pipeline variables, strings and
 * numbers under keys such as `password`, `api_key` or `X-Gitlab-Token`, and anything that `redactText` finds in other
 * strings. Returns the value itself if it contains no secret, otherwise a copy. Numbers that JSON cannot represent
 * (1e400) become null. The value must be within the depth limit of `parseBody`.
 */
export function redact(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? redactList(value, redact) : redactObject(value as Record<string, unknown>)
}

function redactObject(object: Record<string, unknown>): unknown {
  let copy: Record<string, unknown> | null = null
  for (const key in object) {
    const name = nameOf(key)
    if (name.shown !== key) return withCleanNames(object)
    const value = object[key]
    if (value === name.lastHarmless) continue
    const child = redactChild(key, value, name.isSecret)
    if (child !== value) {
      copy ??= { ...object }
      setOwn(copy, key, child)
    } else if (typeof value === 'string' && value.length <= MAX_LAST_LENGTH) name.lastHarmless = value
  }
  return copy ?? object
}

/**
 * Returns a copy of the object with all secrets in names replaced. If two names become equal, the position of the
 * second property is appended to its name.
 */
function withCleanNames(object: Record<string, unknown>): unknown {
  const copy: Record<string, unknown> = {}
  for (const [index, key] of Object.keys(object).entries()) {
    const { isSecret, shown } = nameOf(key)
    setOwn(copy, Object.hasOwn(copy, shown) ? `${shown} ${index}` : shown, redactChild(key, object[key], isSecret))
  }
  return copy
}

function redactList(list: readonly unknown[], redactOne: (item: unknown) => unknown): unknown {
  const copy = list.map(redactOne)
  return copy.every((item, index) => item === list[index]) ? list : copy
}

/** Replaces secrets in known formats: tokens, keys, and credentials in URLs. Runs in linear time. */
export function redactText(text: string): string {
  return text.length > MAX_LENGTH ? `${redactAndCut(text, MAX_LENGTH)}${CUT}` : replaceSecrets(text)
}

/**
 * Replaces secrets, then truncates the text to at most `length` characters (1 MiB at most). Truncating first would
 * leave half a secret at the end of the text.
 */
export function redactAndCut(text: string, length: number): string {
  if (text.length <= length) return replaceSecrets(text)
  const searched = text.slice(0, length + BEYOND_CUT).toWellFormed()
  const clean = replaceSecrets(searched)
  // The searched part can itself end in the middle of a secret, so its last `BEYOND_CUT` characters are never returned.
  const safe = searched.length < text.length ? clean.length - BEYOND_CUT : clean.length
  return copyOf(clean.slice(0, Math.max(0, Math.min(length, safe)))).toWellFormed()
}

function replaceSecrets(text: string): string {
  let clean = text
  if (SUSPICIOUS.test(text)) for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement)
  return hasLongWord(clean) ? clean.replace(KNOWN_TOKEN, REDACTED) : clean
}

/**
 * Returns whether a string contains a word of at least 16 characters, as every token in the gitleaks rules does. Checks
 * every 16th character, and checks the neighbors of that character only if it is part of a word.
 */
function hasLongWord(text: string): boolean {
  for (let i = WORD - 1; i < text.length; i += WORD) {
    if (!isOfWord(text.charCodeAt(i))) continue
    let [first, last] = [i, i]
    while (first > 0 && i - first < WORD && isOfWord(text.charCodeAt(first - 1))) first -= 1
    while (last + 1 < text.length && last - first + 1 < WORD && isOfWord(text.charCodeAt(last + 1))) last += 1
    if (last - first + 1 >= WORD) return true
  }
  return false
}

/** Letters, digits and the punctuation in tokens: `+ - . / = _`. */
function isOfWord(unit: number): boolean {
  const isLetter = (unit >= 97 && unit <= 122) || (unit >= 65 && unit <= 90)
  return isLetter || (unit >= 45 && unit <= 57) || unit === 95 || unit === 61 || unit === 43
}

/**
 * Redacts a body that is not valid JSON, for example because it is truncated. Truncates the body to at most `length`
 * characters. Unlike `redactText`, also replaces every string under a `value` key, where GitLab puts CI variables.
 */
export function redactRaw(text: string, length = MAX_LENGTH): string {
  return redactAndCut(text.replace(/("value"\s{0,8}:\s{0,8})"(?:[^"\\]|\\.)*"?/g, `$1"${REDACTED}"`), length)
}

function redactChild(key: string, child: unknown, isSecret: boolean): unknown {
  if (key === 'variables' && Array.isArray(child)) return redactList(child, redactVariable)
  return isSecret ? redactSecret(child) : redact(child)
}

/** Redacts a CI variable. GitLab sends `{ key, value }` and does not say which variables are secret. */
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

/** The maximum length of a string to keep in `lastHarmless`, because up to 1,000 names are cached. */
const MAX_LAST_LENGTH = 512

type Name = {
  readonly isSecret: boolean
  /** The name with secrets replaced. */
  readonly shown: string
  /** The last string under this name that contained no secret. The alerts of a group have most labels in common. */
  lastHarmless: string
}

const nameOf = cacheByName(
  (name): Name => ({ isSecret: SECRET_KEY.test(name.slice(-32)), shown: redactText(name), lastHarmless: '' }),
)

/** Returns whether values under this key are secret. */
export function isSecretKey(key: string): boolean {
  return nameOf(key).isSecret
}

/**
 * Sets a property whose name can be any string. Assigning to `__proto__` would set the prototype and lose the value.
 */
function setOwn(target: object, key: string, value: unknown): void {
  if (key !== '__proto__') (target as Record<string, unknown>)[key] = value
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}
