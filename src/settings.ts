/** All settings of the configuration, with their defaults and checks. */
import { isIP } from 'node:net'
import { isLimit, LIMIT_NAMES } from './domain/limits.ts'

/** An entry of a table array such as `[[kubernetes]]`. */
type Table = Readonly<Record<string, unknown>>
export type Value = string | number | readonly string[] | readonly (string | Table)[]

/**
 * A setting. `fallback` is the default. `accepts` validates a value of the same type. `allowed` describes the valid
 * values to users.
 */
type Key<Kind extends Value = Value> = {
  readonly doc: string
  readonly fallback: Kind
  readonly allowed: string
  readonly accepts: (value: Kind) => boolean
}

/** All settings. The flag is `--<name>`, the variable is `INCMON_<NAME>`, and the key in the file is `<name>`. */
export const KEYS = {
  host: text(
    '127.0.0.1',
    'the address to listen on; 0.0.0.0 accepts connections from the network; use TLS to keep tokens encrypted',
    'a host name or an address without a port',
    (host) => /^[\w.:%-]+$/.test(host),
  ),
  port: number(8080, 'the port to listen on; 0 chooses any free port', 'a whole number from 0 to 65535', [0, 65_535]),
  database: text('incmon.db', 'the database file', 'the path of a file', (path) => path.trim() !== ''),
  'log-level': text('info', 'the log level; debug logs each request', 'debug, info, warn or error', (level) =>
    ['debug', 'info', 'warn', 'error'].includes(level),
  ),
  'tls-cert': text('', 'the PEM file with the certificate and its chain; enables HTTPS together with --tls-key'),
  'tls-key': text('', 'the PEM file with the private key of the certificate, without a passphrase'),
  'trusted-proxies': list(
    'the networks of proxies whose X-Forwarded headers are trusted',
    'a list of addresses and networks such as 10.0.0.0/8; host names are not allowed',
    isCidr,
  ),
  'user-header': text(
    '',
    'the header in which a trusted proxy sends the name of the authenticated user, such as Remote-User; empty: none',
    'the name of a header',
    (name) => /^[\w-]*$/.test(name),
  ),
  'user-organization': text('', 'the organization of users from user-header; empty: the only organization'),
  'user-scopes': list(
    'the scopes of users from user-header (default: read, write)',
    'a list of the scopes read, write and admin',
    (one) => ['read', 'write', 'admin'].includes(one),
  ),
  'path-prefix': text(
    '',
    'the path prefix under which a proxy serves the pages, such as /monitoring; the proxy must strip this prefix; empty: none',
    'a path such as /monitoring',
    (path) => path === '' || /^(\/[\w.~-]+)+$/.test(path),
  ),
  'max-connections': number(
    1024,
    'the maximum number of connections; above it, a client with fewer displaces one with more',
    'a whole number from 1',
    [1, 1_000_000],
  ),
  'max-connections-per-address': number(
    512,
    'the maximum number of connections from one address; further connections are closed; trusted proxies have no limit',
    'a whole number from 1',
    [1, 1_000_000],
  ),
  'max-waiting': number(
    2000,
    'the maximum number of pending webhook requests; further requests get 503; the limit for cluster and ci is four times as high, because these senders do not retry',
    'a whole number from 1',
    [1, 1_000_000],
  ),
  limits: list(
    'changed limits for each organization, such as live-alerts=100000; the default limits fit 512 MB of memory',
    `a list of NAME=NUMBER, where NAME is ${LIMIT_NAMES.join(', ')}`,
    isLimit,
  ),
  'min-free-disk': number(
    8,
    'the minimum free disk space in MiB; /readyz fails if less is free',
    'a whole number of MiB from 0',
    [0, 1_000_000_000],
  ),
  'public-url': text(
    '',
    'the URL at which people reach this server, for links in messages; empty: no links',
    'a URL such as https://incmon.example.com',
    isPublicUrl,
  ),
  'notify-allow': list(
    'the private networks and hosts that messages can be sent to; other private addresses are refused',
    'a list of networks such as 10.0.0.0/8 and host names such as localhost, without ports',
    isNetworkOrHost,
  ),
  'smtp-url': text(
    '',
    'the mail server: smtp://user@host:587 uses STARTTLS, smtps://user@host:465 uses TLS; empty: no mail is sent',
    'a URL such as smtp://user@mail.example.com:587, without a password',
    isMailServer,
  ),
  'smtp-password-file': text('', 'a file with the password for the mail server; empty: no password'),
  'mail-from': text('incmon@localhost', 'the From address of emails', 'an email address', (from) =>
    /^[^\s@<>]+@[^\s@<>]+$/.test(from),
  ),
  'heartbeat-url': text(
    '',
    'a URL that the server requests every minute, so that another monitor detects when the server stops; empty: none',
    'a URL such as https://hc-ping.com/UUID',
    (url) => url === '' || /^https?:\/\/[^\s]+$/.test(url),
  ),
  kubernetes: watchedClusters(
    'the clusters to watch: in-cluster, or the path of a kubeconfig, with #CONTEXT if it is not the current one; in the file: [[kubernetes]] tables; empty: none',
    'a list of in-cluster, paths such as kubeconfig#production, and tables with the keys kubeconfig, context, name, organization and namespaces',
  ),
  'stop-grace': number(
    250,
    'how long to keep accepting connections after SIGTERM, in milliseconds; /readyz fails meanwhile, so that a load balancer can stop sending traffic',
    'a whole number of milliseconds from 0 to 60000',
    [0, 60_000],
  ),
} as const

function text(fallback: string, doc: string, allowed = 'a string', accepts = (_: string) => true): Key<string> {
  return { fallback, doc, allowed, accepts }
}

type Range = readonly [least: number, most: number]

function number(fallback: number, doc: string, allowed: string, [least, most]: Range): Key<number> {
  const accepts = (value: number) => Number.isInteger(value) && value >= least && value <= most
  return { fallback, doc, allowed, accepts }
}

function list(doc: string, allowed: string, accepts: (item: string) => boolean): Key<readonly string[]> {
  return {
    fallback: [],
    doc,
    allowed,
    accepts: (items) => items.every((item) => typeof item === 'string' && accepts(item)),
  }
}

const CLUSTER_KEYS: readonly string[] = ['kubeconfig', 'context', 'name', 'organization']

function watchedClusters(doc: string, allowed: string): Key<readonly (string | Table)[]> {
  const isText = (value: unknown) => typeof value === 'string' && value.trim() !== ''
  const isTable = (item: Table) =>
    Object.entries(item).every(([key, value]) =>
      key === 'namespaces' ? Array.isArray(value) && value.every(isText) : CLUSTER_KEYS.includes(key) && isText(value),
    )
  const accepts = (item: string | Table) => (typeof item === 'object' ? item !== null && isTable(item) : isText(item))
  return { fallback: [], doc, allowed, accepts: (items) => items.every(accepts) }
}

function isPublicUrl(text: string): boolean {
  const url = URL.parse(text)
  return text === '' || (/^https?:$/.test(url?.protocol ?? '') && url?.search === '' && url.hash === '')
}

function isMailServer(text: string): boolean {
  const url = URL.parse(text)
  return text === '' || (/^smtps?:$/.test(url?.protocol ?? '') && url?.hostname !== '' && url?.password === '')
}

/** Returns whether a string is a network such as 10.0.0.0/8 or a host name such as localhost. */
export function isNetworkOrHost(text: string): boolean {
  return isCidr(text) || /^(?!-)(?=.*[a-z])[a-z\d-]{1,63}(\.[a-z\d-]{1,63})*$/i.test(text)
}

/** Returns whether a string is a network such as 10.0.0.0/8 or fd00::/8, or a single address. */
export function isCidr(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const most = isIP(address) === 4 ? 32 : 128
  return isIP(address) !== 0 && more.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && +bits <= most))
}
