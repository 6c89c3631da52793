/** Diagnosis of the place: the file and its directory, who may write there, and how much room is left. */

import { roomOf } from './disk-space.ts'
import { type Entry, type Facts, type Finding, fail, ok, shownSize, warn } from './facts.ts'

const MB = 1_000_000
const LEAST_ENTRIES = 100
/** Folded into the file at 16 MB while nobody reads for long. */
const LARGEST_LOG = 64 * MB

const ANYBODY = 0o077
const OTHERS_WRITE = 0o002
const STICKY = 0o1000

export function diagnosePlace(facts: Facts): Finding[] {
  return [...diagnoseFile(facts), ...diagnoseRights(facts), ...diagnoseRoom(facts), ...diagnoseLog(facts)]
}

function diagnoseFile({ file, entry, directory, companions }: Facts): Finding[] {
  if (!directory) {
    return [fail('database', `the directory of ${file} is missing`, 'make it, or name another file with --database')]
  }
  const log = logSize(companions)
  if (!entry && log > 0) {
    const text = `no database at ${file}, and ${shownSize(log)} of what was stored in it in ${file}-wal`
    return [fail('database', text, 'put the file back beside it; a copy without the log lacks what stands there')]
  }
  if (!entry) {
    return [fail('database', `no database at ${file}`, '"incmon serve" makes one, or name another with --database')]
  }
  if (!entry.isFile) return [fail('database', `${file} is no file`, 'name a file with --database')]
  return [ok('database', `${file}, ${shownSize(entry.size)}`)]
}

function diagnoseRights({ directory, entry, companions, uid }: Facts): Finding[] {
  if (!directory) return []
  const findings = [...rightsOf(directory, 'SQLite keeps its log beside the file', uid)]
  if (directory.mode & OTHERS_WRITE && !(directory.mode & STICKY)) {
    findings.push(
      warn('permissions', `everybody may replace files in ${directory.path}`, `chmod o-w ${directory.path}`),
    )
  }
  if (!entry?.isFile) return findings
  findings.push(...[entry, ...companions].flatMap((one) => rightsOf(one, 'nothing can be stored', uid)))
  for (const one of [entry, ...companions].filter(({ mode }) => mode & ANYBODY))
    findings.push(
      warn('permissions', `others than its owner may open ${one.path}, mode ${octal(one)}`, `chmod 600 ${one.path}`),
    )
  for (const one of companions.filter((other) => other.uid !== entry.uid))
    findings.push(
      fail(
        'permissions',
        `${one.path} belongs to uid ${one.uid}, the file to uid ${entry.uid}`,
        `chown ${entry.uid} ${one.path}`,
      ),
    )
  return findings.length > 0 ? findings : [ok('permissions', `mode ${octal(entry)}, and whoever asks may write`)]
}

function rightsOf({ path, readable, writable, uid: owner }: Entry, why: string, uid: number | null): Finding[] {
  if (readable && writable) return []
  const lacking = readable ? 'written' : 'read'
  const remedy =
    uid === owner
      ? `chmod u+rw ${path}, or mount it writable`
      : `chown ${uid} ${path}, or run incmon as uid ${owner}, who owns it`
  return [fail('permissions', `${path} cannot be ${lacking} by uid ${uid}: ${why}`, remedy)]
}

function octal({ mode }: Entry): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}

function diagnoseRoom({ disk, entry, minFree }: Facts): Finding[] {
  if (!disk) return []
  const [free, room] = [`${shownSize(disk.free)} free`, roomOf(disk.free, minFree)]
  const remedy = 'make room, or move the file to a larger disk'
  if (room === 'short') {
    const text = `${free}, under min-free-disk = ${minFree} MiB: the server is not ready, and writes are about to fail`
    return [fail('disk', text, remedy)]
  }
  if (disk.freeEntries !== null && disk.freeEntries < LEAST_ENTRIES) {
    return [fail('disk', `room for ${disk.freeEntries} more files: writes are about to fail`, 'remove files (inodes)')]
  }
  if (room === 'scarce') return [warn('disk', free, remedy)]
  if (entry && disk.free < entry.size) {
    return [warn('disk', `${free}, less than the copy that an upgrade makes (${shownSize(entry.size)})`, remedy)]
  }
  return [ok('disk', free)]
}

function diagnoseLog({ companions, entry, served }: Facts): Finding[] {
  if (!entry) return []
  const size = logSize(companions)
  if (size > LARGEST_LOG) {
    const remedy = served ? 'end what reads the file for long, such as a copy' : '"incmon serve" folds it in'
    return [warn('log', `the write-ahead log has ${shownSize(size)}, and is not folded into the file`, remedy)]
  }
  if (size === 0) return [ok('log', 'the write-ahead log is empty')]
  const whose = served
    ? 'in use by the server'
    : 'left by a process that was killed, complete, and folded in by the next'
  return [ok('log', `the write-ahead log has ${shownSize(size)}, ${whose}`)]
}

function logSize(companions: Facts['companions']): number {
  return companions.find(({ path }) => path.endsWith('-wal'))?.size ?? 0
}
