/** Turns facts about an installation into findings and remedies. Start here. */

import { BUDGETS } from '../budgets.ts'
import { LIMIT_NAMES, type Limits } from '../limits.ts'
import { unclearOrganization } from '../organization.ts'
import { formatCount } from '../text.ts'
import { diagnoseCertificate } from './certificate.ts'
import { diagnoseChannels, diagnoseContent, diagnoseRefusedSenders } from './content.ts'
import {
  type DoctorFacts,
  type FileEntry,
  type Finding,
  fail,
  formatBytes,
  judgeDiskSpace,
  ok,
  type UsageFact,
  warn,
} from './facts.ts'

/** Returns all findings, in the order in which an operator would check them. */
export function diagnose(facts: DoctorFacts): Finding[] {
  return [
    ...diagnoseConfiguration(facts),
    ...[diagnoseFile(facts), ...diagnoseRights(facts), ...diagnoseRoom(facts), ...diagnoseLog(facts)],
    ...diagnoseContent(facts),
    ...diagnoseChannels(facts),
    ...diagnoseLimits(facts),
    ...diagnoseOrganizations(facts),
    diagnoseServer(facts),
    ...diagnoseRefusedSenders(facts),
    ...diagnoseCertificate(facts),
  ]
}

function diagnoseConfiguration({ faults, settingFaults }: DoctorFacts): Finding[] {
  if (faults.length + settingFaults.length === 0)
    return [ok('configuration', 'no errors in the options, environment variables and configuration file')]
  const remedy = 'correct this setting; the other checks use its default value'
  return [
    ...faults.map((fault) => fail('configuration', fault, remedy)),
    ...settingFaults.map((fault) => fail('configuration', fault, 'correct this setting or its file')),
  ]
}

/** Checks the organizations in the settings. Without them, the server watches no cluster, and users cannot sign in. */
function diagnoseOrganizations({ organizations, content }: DoctorFacts): Finding[] {
  const usage = content?.state === 'read' ? (content.history?.usage ?? []) : []
  const all = [...new Set(usage.map(({ organization }) => organization))].map((name) => ({ name }))
  if (all.length === 0) return []
  const unclear = organizations.map(({ setting, name }) => unclearOrganization(all, name, setting))
  return unclear.flatMap((found) => (found ? fail('organization', ...found) : []))
}

/** Checks which program is using the port. If the program is incmon, also checks whether it uses this database. */
function diagnoseServer({ served, port, address, entry }: DoctorFacts): Finding {
  const idle = entry?.readable === false ? '' : ': no server is running'
  switch (port.state) {
    case 'incmon':
      return diagnoseRunning(address, port.unready, served)
    case 'other':
      return fail('port', `another program is listening on ${address}`, 'stop that program, or choose another --port')
    case 'changed':
      return warn(
        'port',
        `incmon is listening on ${port.address}, but ${address} is configured`,
        'restart the server, because SIGHUP cannot change the address',
      )
    case 'denied':
      return fail('port', `${address} is not available (${port.code})`, 'choose another --host or --port')
    case 'unreachable':
      return warn('port', 'a server is using the database, but this command cannot reach it', port.why)
    case 'any':
      return served ? silentServer() : ok('port', `any free port${idle}`)
    case 'free':
      return served ? silentServer() : ok('port', `${address} is free${idle}`)
  }
}

function diagnoseRunning(address: string, unready: string | null, served: boolean): Finding {
  if (unready !== null)
    return fail('port', `incmon is listening on ${address} but is not ready: ${unready}`, 'see above')
  if (served) return ok('port', `incmon is listening on ${address} and is ready`)
  const remedy = 'set --database to the file of that server, or --host and --port to the address of your server'
  return warn('port', `incmon is listening on ${address}, but it uses another database`, remedy)
}

function silentServer(): Finding {
  return warn(
    'port',
    'a server is using the database, but does not respond on its socket',
    'the server is starting or stopping: try again',
  )
}

/** From this share of a limit on, there is a warning. */
const NEAR = 0.8

function diagnoseLimits({ content, limits }: DoctorFacts): Finding[] {
  const usage = content?.state === 'read' ? (content.history?.usage ?? []) : []
  const all = usage.map((one) => ({ ...one, value: limitOf(one, limits) })).sort((a, b) => share(b) - share(a))
  const [fullest] = all
  if (!fullest) return []
  const near = all.filter((one) => share(one) >= NEAR)
  if (near.length === 0) return [ok('limits', `none is nearly reached; the nearest is ${textOf(fullest)}`)]
  return near.map((one) => warn('limits', `${textOf(one)}; at the limit, ${BUDGETS[one.limit].effect}`, remedyOf(one)))
}

type Counted = UsageFact & { readonly value: number }

function limitOf({ limit }: UsageFact, limits: Limits): number {
  return isAdjustable(limit) ? limits[limit] : BUDGETS[limit].value
}

function isAdjustable(limit: UsageFact['limit']): limit is UsageFact['limit'] & keyof Limits {
  return (LIMIT_NAMES as readonly string[]).includes(limit)
}

function share({ used, value }: Counted): number {
  return used / value
}

function textOf({ organization, limit, used, value }: Counted): string {
  return `${limit} of ${organization}: ${formatCount(used)} of ${formatCount(value)}`
}

function remedyOf({ limit }: Counted): string {
  if (!isAdjustable(limit)) return `remove ${limit} that nobody needs`
  return `find out what creates them, or raise ${limit} in the setting limits if the machine has memory for it`
}

const MB = 1_000_000
const LEAST_ENTRIES = 100
/** The server checkpoints the write-ahead log at 16 MB unless a long-running read prevents the checkpoint. */
const MAX_LOG = 64 * MB

const ANYBODY = 0o077
const OTHERS_WRITE = 0o002
const STICKY = 0o1000

function diagnoseFile({ file, entry, directory, companions, rescued }: DoctorFacts): Finding {
  if (rescued !== null) {
    const [text = '', remedy = ''] = rescued.split(/: (?=(?:run|put) .*)/s, 2)
    return fail('database', text, remedy)
  }
  if (!directory) {
    const remedy = 'create it, or choose another file with --database'
    return fail('database', `the directory of ${file} does not exist`, remedy)
  }
  const log = logSize(companions)
  if (!entry && log > 0) {
    const text = `no database at ${file}, but ${file}-wal contains ${formatBytes(log)} of its data`
    const remedy = 'put the database file back next to its log; a database file without its log is incomplete'
    return fail('database', text, remedy)
  }
  if (!entry) {
    return fail(
      'database',
      `no database at ${file}`,
      'create one with "incmon serve", or choose another with --database',
    )
  }
  if (!entry.isFile) return fail('database', `${file} is not a file`, 'choose a file with --database')
  return ok('database', `${file}, ${formatBytes(entry.size + log)}${log > 0 ? ' with its log' : ''}`)
}

function diagnoseRights({ directory, entry, companions, uid }: DoctorFacts): Finding[] {
  if (!directory) return []
  const findings = [...rightsOf(directory, 'SQLite creates the write-ahead log in this directory', uid)]
  if (directory.mode & OTHERS_WRITE && !(directory.mode & STICKY)) {
    findings.push(
      warn('permissions', `every user can replace files in ${directory.path}`, `chmod o-w ${directory.path}`),
    )
  }
  if (!entry?.isFile) return findings
  findings.push(...[entry, ...companions].flatMap((one) => rightsOf(one, 'no data can be stored', uid)))
  for (const one of [entry, ...companions].filter(({ mode }) => mode & ANYBODY))
    findings.push(warn('permissions', `other users can open ${one.path}, mode ${octal(one)}`, `chmod 600 ${one.path}`))
  for (const one of companions.filter((other) => other.uid !== entry.uid)) {
    const text = `${one.path} belongs to uid ${one.uid}, but the database file belongs to uid ${entry.uid}`
    findings.push(fail('permissions', text, `chown ${entry.uid} ${one.path}`))
  }
  return findings.length > 0 ? findings : [ok('permissions', `mode ${octal(entry)}, writable by the current user`)]
}

function rightsOf({ path, readable, writable, uid: owner }: FileEntry, why: string, uid: number | null): Finding[] {
  if (readable && writable) return []
  const lacking = readable ? 'written' : 'read'
  const remedy =
    uid === owner
      ? `chmod u+rw ${path}, or mount it read-write`
      : `chown ${uid} ${path}, or run incmon as its owner, uid ${owner}`
  return [fail('permissions', `${path} cannot be ${lacking} by uid ${uid}: ${why}`, remedy)]
}

function octal({ mode }: FileEntry): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}

function diagnoseRoom({ disk, entry, minFree }: DoctorFacts): Finding[] {
  if (!disk) return []
  const [free, room] = [`${formatBytes(disk.free)} free`, judgeDiskSpace(disk.free, minFree)]
  const remedy = 'free some disk space, or move the file to a larger disk'
  if (room === 'short') {
    const text = `${free}, less than min-free-disk = ${minFree} MiB: the server is not ready, and writes will soon fail`
    return [fail('disk', text, remedy)]
  }
  if (disk.freeEntries !== null && disk.freeEntries < LEAST_ENTRIES) {
    return [fail('disk', `${disk.freeEntries} free inodes: writes will soon fail`, 'remove some files to free inodes')]
  }
  if (room === 'scarce') return [warn('disk', free, remedy)]
  if (entry && disk.free < entry.size) {
    const text = `${free}, but an upgrade makes a copy of the database, which takes ${formatBytes(entry.size)}`
    return [warn('disk', text, remedy)]
  }
  return [ok('disk', free)]
}

function diagnoseLog({ companions, entry, served }: DoctorFacts): Finding[] {
  if (!entry?.readable) return []
  const size = logSize(companions)
  if (size > MAX_LOG) {
    const remedy = served
      ? 'stop programs that read the file for a long time, such as programs that copy it'
      : 'start "incmon serve"'
    const text = `the write-ahead log contains ${formatBytes(size)} that are not yet in the database file`
    return [warn('log', text, remedy)]
  }
  if (size === 0) return [ok('log', 'the write-ahead log is empty')]
  const whose = served
    ? 'in use by the server'
    : 'left by a process that was killed; the log is complete, and the next start will apply it'
  return [ok('log', `the write-ahead log contains ${formatBytes(size)}, ${whose}`)]
}

function logSize(companions: DoctorFacts['companions']): number {
  return companions.find(({ path }) => path.endsWith('-wal'))?.size ?? 0
}
