/** The facts that incmon doctor judges, gathered without changing anything. */
import { accessSync, constants, existsSync, realpathSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Config, readSettings } from '../config.ts'
import type { Entry, Facts, Port } from '../domain/doctor/facts.ts'
import { tryPort } from '../server/connection/port.ts'
import { readTls } from '../server/connection/tls.ts'
import { errorCode } from '../store/sqlite/fault.ts'
import { inspectFile, isServed } from '../store/sqlite/inspect.ts'
import { detailOf, objectIn } from './answer.ts'
import { ask } from './ask.ts'
import { type Common, isMissing } from './database.ts'
import { addressOf } from './server-address.ts'

/** A server of this machine that takes longer to answer is none, in milliseconds. */
const PATIENCE = 5_000

export async function gatherFacts(options: Common, full: boolean, now: number): Promise<Facts> {
  const { settings, faults } = readSettings({ flags: options })
  const config = Object.fromEntries(settings.map(({ name, value }) => [name, value])) as Config
  const { port, database } = config
  const file = existsSync(database) ? realpathSync(database) : database
  const entry = isMissing(file) ? null : entryOf(file)
  const directory = entryOf(dirname(file))
  return {
    now,
    uid: process.getuid?.() ?? null,
    faults,
    file: database,
    directory,
    entry: entry && { ...entry, isFile: statSync(file).isFile() },
    companions: ['-wal', '-shm', '.lock', '.sock'].flatMap((suffix) => entryOf(`${file}${suffix}`) ?? []),
    disk: directory && diskOf(directory.path),
    minFree: config['min-free-disk'],
    publicUrl: config['public-url'],
    content: entry?.readable && statSync(file).isFile() ? inspectFile(file, full) : null,
    served: isServed(file),
    address: port === 0 ? '' : addressOf(config),
    port: port === 0 ? { state: 'any' } : await askPort(config),
    certificate: certificateFact(config, now),
  }
}

function entryOf(path: string): Entry | null {
  if (!existsSync(path)) return null
  const { mode, uid, size } = statSync(path)
  return { path, mode, uid, size, readable: may(path, constants.R_OK), writable: may(path, constants.W_OK) }
}

/** As the system would decide for this process, read-only mounts included. */
function may(path: string, what: number): boolean {
  try {
    accessSync(path, what)
    return true
  } catch {
    return false
  }
}

function diskOf(directory: string): Facts['disk'] {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(directory)
    // File systems without a fixed number of entries say 0 of 0.
    return { free: bavail * bsize, freeEntries: files === 0 ? null : ffree }
  } catch {
    return null
  }
}

/** Tries to listen, for an instant; what is taken is asked who it is. */
async function askPort(config: Config): Promise<Port> {
  const code = await tryPort(config).then(() => null, errorCode)
  if (code === null) return { state: 'free' }
  return code === 'EADDRINUSE' ? await askWho(addressOf(config)) : { state: 'denied', code }
}

/** With TLS and without: what was configured since the start waits for a restart. */
async function askWho(address: string): Promise<Port> {
  const asConfigured = await askWhoAt(address)
  if (asConfigured.state === 'incmon') return asConfigured
  const other = address.startsWith('https:') ? address.replace('https:', 'http:') : address.replace('http:', 'https:')
  return (await askWhoAt(other)).state === 'incmon' ? { state: 'changed', address: other } : asConfigured
}

/** Whatever certificate it shows: that one has a finding of its own. */
async function askWhoAt(address: string): Promise<Port> {
  const question = { patience: PATIENCE, trust: 'anyone' } as const
  try {
    const contract = await ask(`${address}/openapi.json`, question)
    const info = objectIn(contract.text)?.info as { title?: unknown } | undefined
    if (info?.title !== 'incmon') return { state: 'other' }
    const { ok, status, text, certificate } = await ask(`${address}/readyz`, question)
    return { state: 'incmon', unready: ok ? null : `${status}, ${detailOf(text)}`, certificate }
  } catch {
    return { state: 'other' }
  }
}

function certificateFact(config: Config, now: number): Facts['certificate'] {
  const file = config['tls-cert']
  const read = readTls({ cert: file, key: config['tls-key'] }, now)
  if ('fault' in read) return { fault: read.fault }
  return read.certificate && { file, held: read.certificate }
}
