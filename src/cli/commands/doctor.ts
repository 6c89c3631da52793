/** incmon doctor: checks an installation without changing it, and says what to do about problems. */
import { accessSync, constants, existsSync, realpathSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { type Config, readSettings } from '../../config.ts'
import { diagnose } from '../../domain/doctor/diagnosis.ts'
import type { DoctorFacts, FileEntry, Finding } from '../../domain/doctor/facts.ts'
import { limitsFrom } from '../../domain/limits.ts'
import { visible } from '../../domain/terminal.ts'
import { countOf } from '../../domain/text.ts'
import { tryPort } from '../../server/connection/port.ts'
import { socketPathOf } from '../../server/connection/socket.ts'
import { readTls } from '../../server/connection/tls.ts'
import { errorCode } from '../../store/sqlite/fault.ts'
import { inspectFile } from '../../store/sqlite/inspect.ts'
import { describeRescued } from '../../store/sqlite/rescue.ts'
import { isServed } from '../../store/sqlite/served.ts'
import { reachServer } from '../api/socket-client.ts'
import { ask, detailOf } from '../ask.ts'
import { isMissing, settingFaults } from '../database.ts'
import { CommandError, NegativeAnswer } from '../failure.ts'
import { parseObject } from '../input.ts'
import { type Common, print, spellCommands } from '../output.ts'
import { addCommand, addKeys } from '../plain-command.ts'
import { showWaiting } from '../progress.ts'
import { configuredAddress, reachableUrl } from '../server-address.ts'

/** How long to wait for a server on this machine. */
const TIMEOUT_MS = 5_000

/** @param now returns the current Unix time in milliseconds */
export function addDoctor(program: Command, now: () => number): void {
  const doc =
    'diagnose the database, disk, clock, senders, tokens, limits, port and certificate, without changing anything; exit with 1 on failure'
  const doctor = addCommand(program, 'doctor', doc)
  doctor.option('--full', 'also check every database index, which takes longer')
  addKeys(doctor).action((options) => runDoctor(options, now()))
}

/** @throws NegativeAnswer if a check fails */
async function runDoctor(options: Common & { readonly full?: boolean }, now: number): Promise<void> {
  const checked = showWaiting('checking every page of the database')
  const facts = await gatherFacts(options, options.full ?? false, now).finally(checked)
  const findings = diagnose(facts).map((finding) => ({
    ...finding,
    remedy: finding.remedy && spellCommands(finding.remedy, options),
  }))
  const isOk = findings.every(({ state }) => state !== 'fail')
  print(options.json ? JSON.stringify({ ok: isOk, findings }, null, 2) : tableOf(findings))
  if (!isOk) throw new NegativeAnswer()
}

/** Formats each finding on one line and its remedy on the next line. Together they would be too long for one line. */
function tableOf(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ state, check, text, remedy }) => {
    const line = `${state.padEnd(4)}  ${check.padEnd(width)}  ${visible(text)}`
    return remedy === null ? [line] : [line, `${' '.repeat(width + 8)}→ ${visible(remedy)}`]
  })
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length
  return [...lines, '', `${countOf(count('fail'), 'failure')}, ${countOf(count('warn'), 'warning')}`].join('\n')
}

async function gatherFacts(options: Common, full: boolean, now: number): Promise<DoctorFacts> {
  const { config, faults } = readSettings({ flags: options })
  const { database } = config
  const file = existsSync(database) ? realpathSync(database) : database
  const entry = isMissing(file) ? null : entryOf(file)
  const directory = entryOf(dirname(file))
  return {
    now,
    uid: process.getuid?.() ?? null,
    faults,
    settingFaults: await settingFaults(config),
    organizations: organizationsIn(config),
    file: database,
    directory,
    entry: entry && { ...entry, isFile: statSync(file).isFile() },
    rescued: describeRescued(file),
    companions: ['-wal', '-shm', '.lock', '.sock'].flatMap((suffix) => entryOf(`${file}${suffix}`) ?? []),
    disk: directory && diskOf(directory.path),
    minFree: config['min-free-disk'],
    publicUrl: config['public-url'],
    limits: limitsFrom(config.limits),
    content: entry?.readable && statSync(file).isFile() ? inspectFile(file, full, now) : null,
    ...(await findServer(config, file)),
    certificate: certificateFact(config, now),
  }
}

function entryOf(path: string): FileEntry | null {
  if (!existsSync(path)) return null
  const { mode, uid, size } = statSync(path)
  return { path, mode, uid, size, readable: may(path, constants.R_OK), writable: may(path, constants.W_OK) }
}

/** Returns whether this process can access a path. A read-only mount is not writable. */
function may(path: string, what: number): boolean {
  try {
    accessSync(path, what)
    return true
  } catch {
    return false
  }
}

function diskOf(directory: string): DoctorFacts['disk'] {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(directory)
    // File systems without a fixed number of inodes report 0 of 0.
    return { free: bavail * bsize, freeEntries: files === 0 ? null : ffree }
  } catch {
    return null
  }
}

type ServerFacts = Pick<DoctorFacts, 'served' | 'refusedSenders' | 'address' | 'port'>

/**
 * Returns the address of this database's server. If no server is running, returns which program uses the configured
 * port.
 */
async function findServer(config: Config, file: string): Promise<ServerFacts> {
  const served = isServed(file)
  const configured = config.port === 0 ? '' : configuredAddress(config)
  const nothing = { served, address: configured, refusedSenders: { newest: [], more: 0 } }
  try {
    const server = served ? await reachServer(socketPathOf(file)) : null
    await server?.close()
    if (server?.listening) {
      const { listening, refusedSenders } = server
      return { served, refusedSenders, ...(await askServer(reachableUrl(listening.url), configured)) }
    }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { ...nothing, port: { state: 'unreachable', why: error.message } }
  }
  return { ...nothing, port: config.port === 0 ? { state: 'any' } : await askPort(config) }
}

/** Sends a request to the URL that the server reported over its socket. */
async function askServer(address: string, configured: string): Promise<Pick<DoctorFacts, 'address' | 'port'>> {
  const isOtherScheme = address !== configured && withoutScheme(address) === withoutScheme(configured)
  if (isOtherScheme) return { address: configured, port: { state: 'changed', address } }
  const port = await identify(address)
  if (port.state === 'incmon') return { address, port }
  return { address, port: { state: 'incmon', unready: 'it does not respond at this address', certificate: null } }
}

function withoutScheme(address: string): string {
  return address.replace(/^https?:/, '')
}

/** Briefly listens on the configured port. If the port is in use, identifies the program that uses it. */
async function askPort(config: Config): Promise<DoctorFacts['port']> {
  const code = await tryPort(config).then(() => null, errorCode)
  if (code === null) return { state: 'free' }
  if (code !== 'EADDRINUSE') return { state: 'denied', code }
  const address = configuredAddress(config)
  const found = await identify(address)
  if (found.state === 'incmon') return found
  const other = address.startsWith('https:') ? address.replace('https:', 'http:') : address.replace('http:', 'https:')
  return (await identify(other)).state === 'incmon' ? { state: 'changed', address: other } : found
}

/** Accepts any certificate, because a separate check reports on the certificate. */
async function identify(address: string): Promise<DoctorFacts['port']> {
  const question = { timeoutMs: TIMEOUT_MS, trust: 'anyone' } as const
  try {
    const contract = await ask(`${address}/openapi.json`, question)
    const info = parseObject(contract.text)?.info as { title?: unknown } | undefined
    if (info?.title !== 'incmon') return { state: 'other' }
    const { ok, status, text, certificate } = await ask(`${address}/readyz`, question)
    return { state: 'incmon', unready: ok ? null : `${status}, ${detailOf(text)}`, certificate }
  } catch {
    return { state: 'other' }
  }
}

function certificateFact(config: Config, now: number): DoctorFacts['certificate'] {
  const file = config['tls-cert']
  const read = readTls({ cert: file, key: config['tls-key'] }, now)
  if ('fault' in read) return { fault: read.fault }
  return read.certificate && { file, held: read.certificate }
}

/** Returns the settings that name an organization, with their values; '' for the only organization. */
function organizationsIn(config: Config): DoctorFacts['organizations'] {
  const users =
    config['user-header'] === '' ? [] : [{ setting: 'user-organization', name: config['user-organization'] }]
  const clusters = config.kubernetes.map((one) => (typeof one === 'string' ? '' : String(one.organization ?? '')))
  return [...users, ...clusters.map((name) => ({ setting: 'organization in [[kubernetes]]', name }))]
}
