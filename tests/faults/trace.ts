/** What a traced server did to its database and sent to its callers, in chronological order. */
import { readFileSync } from 'node:fs'

export type File = 'db' | 'wal'
export type Step =
  | { readonly kind: 'write'; readonly file: File; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: File; readonly size: number }
  /** A sync covers everything that was written before it started. */
  | { readonly kind: 'sync-begins'; readonly file: File; readonly thread: string }
  | { readonly kind: 'sync-ends'; readonly file: File; readonly thread: string; readonly outcome: Outcome }
  | { readonly kind: 'answer'; readonly status: number; readonly body: unknown }
/** `faked` means that strace reported success without the disk doing anything. */
type Outcome = 'synced' | 'failed' | 'faked'

type Call = {
  readonly name: string
  readonly thread: string
  readonly target: File | 'socket'
  readonly bytes: Buffer
  /** The numbers after the bytes or the file: length and offset. */
  readonly numbers: readonly number[]
}

/** The maximum length of a result. It is at the end of a line that might contain a page of data. */
const MAX_RESULT = 100
const UNFINISHED = ' <unfinished ...>'

/** Parses the recording made by `tracing` of the server with the database `file`. */
export function readTrace(trace: string, file: string): Step[] {
  const steps: Step[] = []
  const open = new Map<string, Call>()
  const begin = (call: Call) => {
    if (call.target === 'socket') steps.push(...answersOf(call))
    else if (call.name.endsWith('sync')) steps.push({ kind: 'sync-begins', file: call.target, thread: call.thread })
  }
  for (const line of readFileSync(trace, 'latin1').split('\n')) {
    const [, thread = '', text = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const resumed = text.startsWith('<... ')
    const call = resumed ? open.get(thread) : callOf(thread, text, file)
    if (!call) continue
    if (!resumed) begin(call)
    if (text.endsWith(UNFINISHED)) open.set(thread, call)
    else {
      open.delete(thread)
      steps.push(...endOf(call, /\) += (.*)$/.exec(text.slice(-MAX_RESULT))?.[1] ?? ''))
    }
  }
  return steps
}

function callOf(thread: string, text: string, file: string): Call | null {
  const [, name, target = ''] = /^(\w+)\(\d+<((?:\\x[0-9a-f]{2})+|TCP)/.exec(text) ?? []
  if (!name) return null
  const named = target === 'TCP' ? 'socket' : fileOf(bytesOf(target).toString(), file)
  if (!named) return null
  const parts = text.split('"')
  const bytes = Buffer.concat(parts.filter((_, index) => index % 2 === 1).map(bytesOf))
  const behind = (parts.length > 1 ? parts.at(-1) : text.slice(text.indexOf('>'))) ?? ''
  const [list = ''] = behind.split(')')
  return { name, thread, target: named, bytes, numbers: [...list.matchAll(/\d+/g)].map(Number) }
}

function fileOf(path: string, file: string): File | null {
  if (path === file) return 'db'
  return path === `${file}-wal` ? 'wal' : null
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex')
}

/** A response is considered sent when the server starts to write it. */
function answersOf({ bytes }: Call): Step[] {
  const text = bytes.toString()
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? []
  const body = text.slice(text.indexOf('\r\n\r\n') + 4)
  return status ? [{ kind: 'answer', status: Number(status), body: jsonOf(body) }] : []
}

/** Returns null if the text is not JSON or was truncated. Only long lists are truncated. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** @throws Error if the result is not a number: a misread call would prove nothing */
function endOf({ name, thread, target, bytes, numbers }: Call, result: string): Step[] {
  if (target === 'socket') return []
  // The server was killed during the call.
  if (result === '?') return []
  if (!/^-?\d+\b/.test(result)) throw new Error(`${name} ended with what is no result: ${result}`)
  const failed = result.startsWith('-1')
  if (name.endsWith('sync')) {
    const outcome = failed ? 'failed' : result.includes('INJECTED') ? 'faked' : 'synced'
    return [{ kind: 'sync-ends', file: target, thread, outcome }]
  }
  if (failed) return []
  if (name === 'ftruncate') return [{ kind: 'truncate', file: target, size: numbers[0] ?? 0 }]
  const written = bytes.subarray(0, Number.parseInt(result, 10))
  return name === 'pwrite64' ? [{ kind: 'write', file: target, offset: numbers[1] ?? 0, bytes: written }] : []
}
