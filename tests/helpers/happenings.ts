/** Reports the start and end of each test as a line, so that another process can tell which test hangs. */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { inspect } from 'node:util'

/** Suites start and end like tests. `file` is where it is defined; `fault` is why it failed. */
export type Happening = {
  readonly what: 'begins' | 'ends'
  readonly name: string
  readonly file: string
  readonly fault?: string
}

/** For `--test-reporter`. It can share its output with another reporter. */
export const REPORTER = import.meta.filename
/** No other line starts with this character. */
const MARK = '\u0000'
const KINDS: Readonly<Record<string, Happening['what']>> = { 'test:dequeue': 'begins', 'test:complete': 'ends' }

/** Node's test runner requires a default export. */
export default async function* tell(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    const what = KINDS[type]
    const { name = '', file = '', details } = data as Partial<Happening> & { details?: { error?: Error } }
    const error = details?.error
    const happening = { what, name, file: relative('.', file), ...(error && { fault: inspect(error.cause ?? error) }) }
    if (what) yield `${MARK}${JSON.stringify(happening)}\n`
  }
}

/** Parses a line. Returns null if the line is from another program. */
export function happeningIn(line: string): Happening | null {
  return line.startsWith(MARK) ? JSON.parse(line.slice(MARK.length)) : null
}

/** Returns the files without tests. Node reports each as a test named after its path. */
export function emptyFiles(happenings: readonly Happening[]): string[] {
  return happenings
    .filter(({ what, name, file }) => what === 'begins' && relative('.', name) === file)
    .map(({ file }) => file)
}

/** Returns the files with a test that failed. */
export function failedFiles(happenings: readonly Happening[]): string[] {
  return [...new Set(happenings.flatMap(({ fault, file }) => (fault === undefined ? [] : [file])))]
}

/** Returns the running tests as `"name" of file`. */
export function underWay(happenings: readonly Happening[]): string[] {
  const open: string[] = []
  for (const happening of happenings) {
    const index = open.indexOf(named(happening))
    if (happening.what === 'begins') open.push(named(happening))
    else if (index !== -1) open.splice(index, 1)
  }
  return open
}

/** Describes which tests hang, and which failed before, because the process can no longer report that itself. */
export function whatHangs(happenings: readonly Happening[]): string {
  const open = underWay(happenings)
  const last = happenings.findLast(({ what }) => what === 'ends')
  const after = last ? `after ${named(last)}` : 'at the start'
  const failed = happenings.flatMap((one) => (one.fault ? `${named(one)} failed: ${one.fault}` : []))
  return [
    ...failed,
    open.length > 0 ? `hangs in ${open.join(', ')}` : `something is left open, or hangs, ${after}`,
  ].join('\n')
}

function named({ name, file }: Happening): string {
  return `"${name}" of ${file}`
}
