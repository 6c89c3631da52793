/** The configuration from flags, environment variables and a file. Only this file reads the environment. */
import { readFileSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import { suggestion } from './domain/suggestion.ts'
import { isNetworkOrHost } from './server/connection/allowed.ts'
import { isCidr } from './server/connection/proxies.ts'

type Value = string | number | readonly string[]

/**
 * One setting. `accepts` checks a value of the type of `fallback`. `allowed` describes the valid values to a person.
 */
type Key<Kind extends Value = Value> = {
  readonly doc: string
  readonly fallback: Kind
  readonly allowed: string
  readonly accepts: (value: Kind) => boolean
}

/** All settings. The flag is `--<name>`, the variable `INCMON_<NAME>`, and the key in the file `<name>`. */
export const KEYS = {
  host: text(
    '127.0.0.1',
    'the address to listen on; 0.0.0.0 accepts connections from the network: use TLS, because tokens are sent unencrypted otherwise',
    'a host name or an address without a port',
    (host) => /^[\w.:%-]+$/.test(host),
  ),
  port: number(8080, 'the port to listen on; 0 chooses any free port', 'a whole number from 0 to 65535', (port) =>
    inRange(port, 0, 65_535),
  ),
  database: text('incmon.db', 'the database file', 'the path of a file', (path) => path.trim() !== ''),
  'log-level': text('info', 'the log level; debug logs each request', 'debug, info, warn or error', (level) =>
    ['debug', 'info', 'warn', 'error'].includes(level),
  ),
  'tls-cert': text('', 'the certificate with its chain, a PEM file; with --tls-key the server uses HTTPS'),
  'tls-key': text('', 'the private key of the certificate, a PEM file without a passphrase'),
  'trusted-proxies': list(
    'networks of proxies whose X-Forwarded headers are used',
    'a list of addresses and networks such as 10.0.0.0/8, not of host names',
    isCidr,
  ),
  'user-header': text(
    '',
    'the header in which an authenticating trusted proxy names the user, such as Remote-User; empty: none',
    'the name of a header',
    (name) => /^[\w-]*$/.test(name),
  ),
  'user-organization': text('', 'the organization of the users of user-header; empty: the only one'),
  'user-scopes': list(
    'the permissions of users of user-header (default: read, write)',
    'a list out of read, write, admin',
    (one) => ['read', 'write', 'admin'].includes(one),
  ),
  'path-prefix': text(
    '',
    'the path under which a proxy serves the pages, such as /monitoring; the proxy removes it; empty: none',
    'a path such as /monitoring',
    (path) => path === '' || /^(\/[\w.~-]+)+$/.test(path),
  ),
  'max-connections': number(
    1024,
    'connections at the same time; further connections are closed',
    'a whole number from 1',
    (count) => inRange(count, 1, 1_000_000),
  ),
  'max-connections-per-address': number(
    512,
    'connections from one address; further connections are closed; trusted-proxies have no limit',
    'a whole number from 1',
    (count) => inRange(count, 1, 1_000_000),
  ),
  'max-waiting': number(
    2000,
    'webhook requests that wait for the disk; further requests get 503; the limit of cluster and ci is four times as high, because these senders do not retry',
    'a whole number from 1',
    (count) => inRange(count, 1, 1_000_000),
  ),
  'min-free-disk': number(
    8,
    'free disk space in MiB; /readyz fails if there is less',
    'a whole number of MiB from 0',
    (mebibytes) => inRange(mebibytes, 0, 1_000_000_000),
  ),
  'public-url': text(
    '',
    'where people reach this server, for links in messages; empty: messages have no links',
    'a URL such as https://incmon.example.com',
    isPublicUrl,
  ),
  'notify-allow': list(
    'private networks and hosts to which messages may be sent; others are refused',
    'a list of networks such as 10.0.0.0/8 and host names such as localhost, without ports',
    isNetworkOrHost,
  ),
  'smtp-url': text(
    '',
    'the mail server: smtp://user@host:587 uses STARTTLS, smtps://user@host:465 uses TLS; empty: no mail is sent',
    'a URL such as smtp://user@mail.example.com:587, without a password',
    isMailServer,
  ),
  'smtp-password-file': text('', 'a file with the password for the mail server; empty: it needs none'),
  'mail-from': text('incmon@localhost', 'the sender of mails', 'a mail address', (from) =>
    /^[^\s@<>]+@[^\s@<>]+$/.test(from),
  ),
  'heartbeat-url': text(
    '',
    'a URL that is called every minute, so that another monitor notices if this server stops; empty: none',
    'a URL such as https://hc-ping.com/UUID',
    (url) => url === '' || /^https?:\/\/[^\s]+$/.test(url),
  ),
  'stop-grace': number(
    250,
    'milliseconds between SIGTERM, when /readyz fails, and the last new connection, so that a load balancer notices',
    'a whole number of milliseconds from 0 to 60000',
    (ms) => inRange(ms, 0, 60_000),
  ),
} as const

type Name = keyof typeof KEYS
export type Config = { readonly [Key in Name]: (typeof KEYS)[Key]['fallback'] }

/** The default of every setting. */
export const DEFAULTS = Object.fromEntries(
  Object.entries(KEYS).map(([name, { fallback }]) => [name, fallback]),
) as Config

/** The values of flags as the user typed them, under Commander's names. `config` is the path of the file. */
export type Flags = { readonly [Key in Camel<Name> | 'config']?: string | undefined }
type Camel<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text
type Environment = Readonly<Record<string, string | undefined>>

/**
 * A value from one layer. `where` names its origin to a person. `isText` is true if all values of the layer are text.
 */
type Said = { readonly where: string; readonly value: unknown; readonly isText: boolean }
type Layer = { readonly said: ReadonlyMap<string, Said>; readonly faults: readonly string[] }

const DEFAULT_FILE = 'incmon.toml'
const NAMES = Object.keys(KEYS) as Name[]
/** Variables for commands that talk to a server. They are not settings, so that no file contains a token. */
const CLIENT_VARIABLES = { url: 'INCMON_URL', token: 'INCMON_TOKEN' } as const
const VARIABLES = [...NAMES.map(variableOf), 'INCMON_CONFIG', ...Object.values(CLIENT_VARIABLES)]

/** A setting with its effective value. `from` names the origin of the value; it is null for a default. */
export type Setting = {
  readonly name: Name
  readonly value: Value
  readonly from: string | null
  readonly variable: string
  readonly doc: string
  readonly allowed: string
  readonly fallback: Value
}

type Places = {
  readonly flags: Flags
  readonly env?: Environment
  /** Reads a file. Throws like node:fs. */
  readonly readFile?: (path: string) => string
}

/**
 * Returns the configuration, or all errors, one line each. Flags override variables, variables override the file
 * (`--config`, else INCMON_CONFIG, else `incmon.toml` if it exists), and the file overrides defaults. An empty variable
 * is ignored.
 */
export function readConfig(places: Places): { readonly config: Config } | { readonly faults: string[] } {
  const { settings, faults } = readSettings(places)
  if (faults.length > 0) return { faults }
  return { config: Object.fromEntries(settings.map(({ name, value }) => [name, value])) as Config }
}

/** Returns every setting in order, and all errors. A setting with an invalid value has its default. */
export function readSettings(places: Places): { readonly settings: Setting[]; readonly faults: string[] } {
  const { flags, env = process.env, readFile = (path) => readFileSync(path, 'utf8') } = places
  const layers = [
    flagLayer(flags),
    variableLayer(env),
    fileLayer(flags.config ?? (env.INCMON_CONFIG || null), readFile),
  ]
  const faults = layers.flatMap((layer) => layer.faults)
  const settings = NAMES.map((name): Setting => {
    const { doc, allowed, fallback } = KEYS[name]
    const key = { name, variable: variableOf(name), doc, allowed, fallback }
    // An invalid value is an error even if another layer overrides it. Otherwise it would surface later.
    const said = layers.flatMap((layer) => layer.said.get(name) ?? [])
    const values = said.map((one) => ({ ...read(name, one), where: one.where }))
    faults.push(...values.flatMap((value) => ('fault' in value ? value.fault : [])))
    const [strongest] = values
    if (!strongest || 'fault' in strongest) return { ...key, value: fallback, from: null }
    return { ...key, value: strongest.value, from: strongest.where }
  })
  return { settings, faults }
}

/** Returns the server address and the token that the environment names, or null. */
export function clientVariables(env: Environment = process.env): { url: string | null; token: string | null } {
  return { url: env[CLIENT_VARIABLES.url] || null, token: env[CLIENT_VARIABLES.token] || null }
}

function flagLayer(flags: Flags): Layer {
  const given = NAMES.flatMap((name) => {
    const value = flags[name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase()) as keyof Flags]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    said: new Map(given.map(([name, value]) => [name, { where: `--${name}`, value, isText: true }])),
    faults: [],
  }
}

/** Returns whether Kubernetes set this variable for a Service named incmon. Such variables are not settings. */
function isServiceLink(variable: string, env: Environment): boolean {
  return /^INCMON_(SERVICE_|PORT_\d)/.test(variable) || (env[variable] ?? '').startsWith('tcp://')
}

/** Returns the command with which the user started the program, for messages that contain commands. */
export function programName(env: Environment = process.env): string {
  return env.npm_lifecycle_event ? 'npm run -s incmon --' : 'incmon'
}

function variableLayer(env: Environment): Layer {
  const ours = Object.keys(env).filter((variable) => variable.startsWith('INCMON_') && !isServiceLink(variable, env))
  const unknown = ours.filter((variable) => !VARIABLES.includes(variable))
  const given = NAMES.filter((name) => env[variableOf(name)] && !isServiceLink(variableOf(name), env))
  return {
    said: new Map(given.map((name) => [name, { where: variableOf(name), value: env[variableOf(name)], isText: true }])),
    faults: unknown.map((variable) => `${variable}: unknown variable; ${suggestion(variable, VARIABLES)}`),
  }
}

function fileLayer(named: string | null, readFile: (path: string) => string): Layer {
  const path = named ?? DEFAULT_FILE
  try {
    const table = parse(readFile(path))
    const unknown = Object.keys(table).filter((key) => !(NAMES as string[]).includes(key))
    return {
      said: new Map(
        Object.entries(table).map(([key, value]) => [key, { where: `${path}: ${key}`, value, isText: false }]),
      ),
      faults: unknown.map((key) => `${path}: ${key}: unknown key; ${suggestion(key, NAMES)}`),
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : null
    if (code === 'ENOENT' && named === null) return { said: new Map(), faults: [] }
    return { said: new Map(), faults: [fileFault(path, code, error)] }
  }
}

function fileFault(path: string, code: string | null, error: unknown): string {
  if (error instanceof TomlError) {
    const [what = ''] = error.message.split('\n')
    return `${path}:${error.line}:${error.column}: ${what.replace('Invalid TOML document: ', 'not TOML: ')}`
  }
  if (code === null) throw error
  return `${path}: cannot be read (${code}); set --config or INCMON_CONFIG to a readable TOML file`
}

/**
 * Flags and variables are text, so numbers and comma-separated lists are parsed. Values of the file have types already.
 */
function read(name: Name, { where, value, isText }: Said): { value: Value } | { fault: string } {
  const key = KEYS[name]
  const found = isText ? fromText(String(value), key.fallback) : value
  if (kindOf(found) === kindOf(key.fallback) && key.accepts(found as never)) return { value: found as Value }
  const shown = typeof value === 'string' || typeof value === 'number' ? JSON.stringify(value) : kindOf(value)
  return { fault: `${where}: ${shown} is not ${key.allowed}${wrongItems(found, key.accepts)}` }
}

/** Names the wrong items of a list, because the other ones are right. */
function wrongItems(found: unknown, accepts: (value: never) => boolean): string {
  if (!Array.isArray(found) || found.length < 2) return ''
  const wrong = found.filter((item) => !accepts([item] as never)).map((item) => JSON.stringify(item))
  return wrong.length > 0 && wrong.length < found.length ? `; wrong is ${wrong.join(', ')}` : ''
}

function fromText(text: string, fallback: Value): Value {
  if (Array.isArray(fallback)) return text.split(',').map((part) => part.trim())
  return typeof fallback === 'number' && /^\d{1,15}$/.test(text) ? Number(text) : text
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string' || typeof value === 'number') return typeof value
  return value !== null && typeof value === 'object' ? 'a table' : String(value)
}

function variableOf(name: string): string {
  return `INCMON_${name.toUpperCase().replaceAll('-', '_')}`
}

function text(fallback: string, doc: string, allowed = 'a text', accepts = (_: string) => true): Key<string> {
  return { fallback, doc, allowed, accepts }
}

function number(fallback: number, doc: string, allowed: string, accepts: (value: number) => boolean): Key<number> {
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

function inRange(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most
}

function isPublicUrl(text: string): boolean {
  const url = URL.parse(text)
  return text === '' || (/^https?:$/.test(url?.protocol ?? '') && url?.search === '' && url.hash === '')
}

function isMailServer(text: string): boolean {
  const url = URL.parse(text)
  return text === '' || (/^smtps?:$/.test(url?.protocol ?? '') && url?.hostname !== '' && url?.password === '')
}
