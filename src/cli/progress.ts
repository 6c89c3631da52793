/** Progress: one line that is rewritten while a long command runs, on a terminal alone. */
import { drawLine } from './output.ts'

const EVERY = 100
const CELLS = 30

export type ProgressLine = {
  /** A step of many: not every one of them is shown. */
  readonly show: (text: () => string) => void
  /** What lasts, and says nothing until it is over. */
  readonly announce: (text: string) => void
  readonly end: () => void
}

/** Beside stdout, so that the result can be piped. */
export function progressLine(): ProgressLine {
  if (!process.stderr.isTTY) return { show: () => {}, announce: () => {}, end: () => {} }
  let shownAt = Number.NEGATIVE_INFINITY
  const announce = (text: string) => {
    shownAt = performance.now()
    drawLine(text)
  }
  return {
    show: (text) => {
      if (performance.now() - shownAt >= EVERY) announce(text())
    },
    announce,
    end: () => drawLine(''),
  }
}

/** Passes bytes on and shows how many went by. */
export function counted(what: string, total: number | null, line: ProgressLine) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let done = 0
    for await (const chunk of chunks) {
      done += chunk.length
      line.show(() => bytesBar(what, done, total))
      yield chunk
    }
  }
}

/** `copying [######------]  50 %  430 of 860 MB`; without a total the megabytes alone. */
export function bytesBar(what: string, done: number, total: number | null): string {
  if (total === null) return `${what} ${megabytes(done)} MB`
  return `${what} ${bar(done, total)}  ${megabytes(done)} of ${megabytes(total)} MB`
}

function bar(done: number, of: number): string {
  const share = of === 0 ? 1 : Math.min(1, done / of)
  const filled = Math.floor(share * CELLS)
  return `[${'#'.repeat(filled)}${'-'.repeat(CELLS - filled)}] ${Math.floor(share * 100)} %`
}

export type Progress = {
  /** @param more what else a person wants to see of it */
  readonly show: (done: number, of: number, more: string) => void
  readonly end: () => void
}

/** @param what the plural of what is counted */
export function startProgress(what: string): Progress {
  const line = progressLine()
  const show: Progress['show'] = (done, of, more) =>
    line.show(() => `${bar(done, of)} ${done} of ${of} ${what}, ${more}`)
  return { show, end: line.end }
}

/** Says on a terminal what is waited for, until the returned function is called. */
export function sayWaiting(what: string): () => void {
  const line = progressLine()
  line.announce(`${what} …`)
  return line.end
}

/** Of a million bytes each, with one digit behind the point. */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
