/** Validates channel URLs and mail addresses, and masks their secrets. */
import type { ChannelKind } from './format.ts'

const HIDDEN = '***'
const MAX_URL = 2_000
/**
 * First path segments that are not secret. Any other first segment may be secret, for example the ID of a Slack
 * workspace.
 */
const PUBLIC_PATHS = ['services', 'workflows', 'triggers', 'hooks', 'api']

/** Returns what is wrong with a channel's URL or mail address and how to fix it, or null if it is valid. */
export function targetFault(kind: ChannelKind, text: string): string | null {
  if (text.length > MAX_URL) return `too long; at most ${MAX_URL} characters`
  if (kind === 'mail') return mailFault(text)
  const url = URL.parse(text)
  if (!url) return 'not a URL; send a URL such as https://example.com/hook'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'the URL must begin with https:// or http://'
  if (!canDecode(url)) return 'the URL contains a % that does not start a valid UTF-8 escape; write %25 for a literal %'
  if (kind === 'telegram' && !(/\/sendMessage$/.test(url.pathname) && url.searchParams.get('chat_id'))) {
    return 'send https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>'
  }
  if (kind === 'ntfy' && topicOf(url) === '') return 'the URL must name a topic, such as https://ntfy.sh/my-topic'
  return null
}

/** Replaces the secret parts of a URL with `***`. An ntfy topic is as secret as a password. */
export function maskTarget(kind: ChannelKind, text: string): string {
  if (kind === 'mail') return text
  const url = URL.parse(text)
  if (!url) return HIDDEN
  const [, first = ''] = url.pathname.split('/')
  const path = PUBLIC_PATHS.includes(first) ? `/${first}/${HIDDEN}` : `/${HIDDEN}`
  const shownPath = kind === 'telegram' ? `/bot${HIDDEN}/sendMessage` : path
  const chat = kind === 'telegram' ? `?chat_id=${url.searchParams.get('chat_id')}` : ''
  const user = url.username !== '' || url.password !== '' ? `${HIDDEN}@` : ''
  const query = chat === '' && url.search !== '' ? `?${HIDDEN}` : chat
  return `${url.protocol}//${user}${url.host}${shownPath}${query}`
}

/**
 * Removes all secret parts of a channel's URL from an error message, so that the message can be stored. The host is not
 * secret.
 */
export function withoutSecrets(message: string, secrets: readonly string[]): string {
  const hosts = secrets.map((secret) => URL.parse(secret)?.hostname)
  const words = secrets
    .flatMap((secret) => secret.split(/[/?&=@:]+/))
    .filter((part) => part.length >= 8 && !hosts.includes(part))
  const parts = [...secrets, ...words, ...secrets.flatMap(credentialsIn)].filter((part) => part !== '')
  const hidden = parts
    .sort((a, b) => b.length - a.length)
    .reduce((text, part) => text.replaceAll(part, HIDDEN), message)
  return hidden.replace(/[\p{Cc}]+/gu, ' ')
}

/** Returns the credentials and the query of a URL: as written, decoded, and as sent in the Authorization header. */
function credentialsIn(text: string): string[] {
  const url = URL.parse(text)
  if (!url || !canDecode(url)) return []
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  const basic = password === '' ? '' : Buffer.from(`${user}:${password}`).toString('base64')
  return [url.password, password, basic, url.search.slice(1), ...url.searchParams.values()]
}

function canDecode({ pathname, username, password }: URL): boolean {
  try {
    return decodeURIComponent(pathname + username + password) !== ''
  } catch {
    return false
  }
}

/** Returns the topic in an ntfy URL: the last path segment. */
export function topicOf({ pathname }: URL): string {
  return decodeURIComponent(pathname.split('/').filter(Boolean).at(-1) ?? '')
}

const MAX_ADDRESSES = 20

function mailFault(text: string): string | null {
  const addresses = text.split(',').map((address) => address.trim())
  const wrong = addresses.find((address) => !/^[^\s@<>"(),:;]+@[^\s@<>"(),:;]+\.[^\s@<>"(),:;]+$/.test(address))
  if (wrong !== undefined)
    return 'not an email address; send up to 20 addresses separated by commas, such as team@example.com'
  return addresses.length <= MAX_ADDRESSES
    ? null
    : `${addresses.length} addresses; send at most ${MAX_ADDRESSES}, or the address of a mailing list`
}
