/** Progress: one line that is rewritten while a long command runs, on a terminal alone. */

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
    process.stderr.write(`\r\u001b[K${text}`)
  }
  return {
    show: (text) => {
      if (performance.now() - shownAt >= EVERY) announce(text())
    },
    announce,
    end: () => void process.stderr.write('\r\u001b[K'),
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
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const filled = Math.round(share * CELLS)
  const cells = '#'.repeat(filled) + '-'.repeat(CELLS - filled)
  return `${what} [${cells}] ${Math.floor(share * 100)} %  ${megabytes(done)} of ${megabytes(total)} MB`
}

/** Of a million bytes each, with one digit behind the point. */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
