/** Reads the configuration from flags, environment variables and a file. No other file reads the environment. */
import { closeSync, openSync, readSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import { suggestion } from './domain/suggestion.ts'
import { KEYS, type Value } from './settings.ts'

type Name = keyof typeof KEYS
export type Config = { readonly [Key in Name]: (typeof KEYS)[Key]['fallback'] }

/** The default values of all settings. */
export const DEFAULTS = Object.fromEntries(
  Object.entries(KEYS).map(([name, { fallback }]) => [name, fallback]),
) as Config

/** The values of flags as typed by the user, keyed by Commander's option names. `config` is the path of the file. */
export type Flags = { readonly [Key in Camel<Name> | 'config']?: string | undefined }
type Camel<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Text
type Environment = Readonly<Record<string, string | undefined>>

/**
 * A value from one source. `where` describes the source in messages. `isText` is true if the source contains only text.
 */
type RawValue = { readonly name: string; readonly where: string; readonly value: unknown; readonly isText: boolean }
type Layer = { readonly values: readonly RawValue[]; readonly faults: readonly string[] }

const DEFAULT_FILE = 'incmon.toml'
const NAMES = Object.keys(KEYS) as Name[]
/** Variables for client commands. These variables are not settings, because a file must not contain a token. */
const CLIENT_VARIABLES = { url: 'INCMON_URL', token: 'INCMON_TOKEN', organization: 'INCMON_ORG' } as const
const VARIABLES = [...NAMES.map(variableOf), 'INCMON_CONFIG', ...Object.values(CLIENT_VARIABLES)]

/** A setting with its effective value. `from` is the source of the value, or null for a default. */
export type Setting = {
  readonly name: Name
  readonly value: Value
  readonly from: string | null
  readonly variable: string
  readonly doc: string
  readonly allowed: string
  readonly fallback: Value
}

type ConfigInput = {
  readonly flags: Flags
  readonly env?: Environment
  /** Reads a file. Throws the errors of node:fs. */
  readonly readFile?: (path: string) => string
}

/**
 * Returns the configuration, or all errors, one per line. Flags override variables, variables override the file, and
 * the file overrides defaults. The path of the file comes from `--config` or, without this flag, from INCMON_CONFIG.
 * Without either, `incmon.toml` is read if it exists. Empty variables are ignored.
 */
export function readConfig(input: ConfigInput): { readonly config: Config } | { readonly faults: string[] } {
  const { config, faults } = readSettings(input)
  return faults.length > 0 ? { faults } : { config }
}

type ReadSettings = { readonly settings: Setting[]; readonly config: Config; readonly faults: string[] }

/** Returns every setting in order, and all errors. An invalid setting is replaced by its default. */
export function readSettings(input: ConfigInput): ReadSettings {
  const { flags, env = process.env, readFile = readSmallFile } = input
  const layers = [
    flagLayer(flags),
    variableLayer(env),
    fileLayer(flags.config ?? (env.INCMON_CONFIG || null), readFile),
  ]
  const faults = layers.flatMap((layer) => layer.faults)
  const settings = NAMES.map((name): Setting => {
    const { doc, allowed, fallback } = KEYS[name]
    const key = { name, variable: variableOf(name), doc, allowed, fallback }
    // An invalid value is an error even if it is overridden. Otherwise, the error would appear only later.
    const raw = layers.flatMap((layer) => layer.values.filter((value) => value.name === name))
    const values = raw.map((one) => ({ ...read(name, one), where: one.where }))
    faults.push(...values.flatMap((value) => ('fault' in value ? value.fault : [])))
    const [strongest] = values
    if (!strongest || 'fault' in strongest) return { ...key, value: fallback, from: null }
    return { ...key, value: strongest.value, from: strongest.where }
  })
  const config = Object.fromEntries(settings.map(({ name, value }) => [name, value])) as Config
  return { settings, config, faults }
}

/** Returns the server URL, the token and the organization in the environment, or null. */
export function clientVariables(
  env: Environment = process.env,
): Readonly<Record<keyof typeof CLIENT_VARIABLES, string | null>> {
  const { url, token, organization } = CLIENT_VARIABLES
  return { url: env[url] || null, token: env[token] || null, organization: env[organization] || null }
}

/** Returns the address of the API server that Kubernetes gives to its pods, or null outside of a cluster. */
export function clusterVariables(env: Environment = process.env): { host: string | null; port: string } {
  return { host: env.KUBERNETES_SERVICE_HOST || null, port: env.KUBERNETES_SERVICE_PORT || '443' }
}

function flagLayer(flags: Flags): Layer {
  const values = NAMES.flatMap((name) => {
    const value = flags[name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase()) as keyof Flags]
    return value === undefined ? [] : [{ name, where: `--${name}`, value, isText: true }]
  })
  return { values, faults: [] }
}

/** Returns whether Kubernetes sets this variable for a Service called incmon. Such variables are not settings. */
function isServiceLink(variable: string, env: Environment): boolean {
  return /^INCMON_(SERVICE_|PORT_\d)/.test(variable) || (env[variable] ?? '').startsWith('tcp://')
}

/** Returns the command that started the program, for messages that contain commands. */
export function programName(env: Environment = process.env): string {
  return env.npm_lifecycle_event ? 'npm run -s incmon --' : 'incmon'
}

function variableLayer(env: Environment): Layer {
  const ours = Object.keys(env).filter((variable) => variable.startsWith('INCMON_') && !isServiceLink(variable, env))
  const unknown = ours.filter((variable) => !VARIABLES.includes(variable))
  const given = NAMES.filter((name) => env[variableOf(name)] && !isServiceLink(variableOf(name), env))
  return {
    values: given.map((name) => ({ name, where: variableOf(name), value: env[variableOf(name)], isText: true })),
    faults: unknown.map((variable) => `${variable}: unknown variable; ${suggestion(variable, VARIABLES)}`),
  }
}

function fileLayer(named: string | null, readFile: (path: string) => string): Layer {
  const path = named ?? DEFAULT_FILE
  try {
    const table = parse(readFile(path))
    const unknown = Object.keys(table).filter((key) => !(NAMES as string[]).includes(key))
    return {
      values: Object.entries(table).map(([name, value]) => ({ name, where: `${path}: ${name}`, value, isText: false })),
      faults: unknown.map((key) => `${path}: ${key}: unknown key; ${suggestion(key, NAMES)}`),
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : null
    if (code === 'ENOENT' && named === null) return { values: [], faults: [] }
    return { values: [], faults: [fileFault(path, code, error)] }
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

/** Parses the text of flags and variables into numbers and lists. Values from the file are already typed. */
function read(name: Name, { where, value, isText }: RawValue): { value: Value } | { fault: string } {
  const key = KEYS[name]
  const found = isText ? fromText(String(value), key.fallback) : value
  if (kindOf(found) === kindOf(key.fallback) && key.accepts(found as never)) return { value: found as Value }
  return { fault: `${where}: ${shown(value)} is not ${key.allowed}${wrongItems(found, key.accepts)}` }
}

/** Returns the value as text, or only its type if the text is too long. */
function shown(value: unknown): string {
  const isShort = Array.isArray(value) && JSON.stringify(value).length <= 60
  return typeof value === 'string' || typeof value === 'number' || isShort ? JSON.stringify(value) : kindOf(value)
}

/** Returns the invalid items of a list as text for an error message. */
function wrongItems(found: unknown, accepts: (value: never) => boolean): string {
  if (!Array.isArray(found) || found.length < 2) return ''
  const wrong = found.filter((item) => !accepts([item] as never)).map((item) => JSON.stringify(item))
  return wrong.length > 0 && wrong.length < found.length ? `; not allowed: ${wrong.join(', ')}` : ''
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

/**
 * The size limit of a file that an operator names, in bytes. Parsing a large file by mistake would take minutes, and a
 * device such as /dev/zero never ends.
 */
const MAX_FILE = 1_048_576

/**
 * Returns the text of a file that an operator names: settings, a kubeconfig, a certificate, a token or a password.
 * @throws Error with a `code` that says why the file cannot be read
 */
export function readSmallFile(path: string): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(MAX_FILE + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null)
    if (length > MAX_FILE) throw Object.assign(new Error(`${path} is too large`), { code: 'it is larger than 1 MiB' })
    return bytes.toString('utf8', 0, length)
  } finally {
    closeSync(file)
  }
}
