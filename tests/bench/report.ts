/** The results of a benchmark: figures with their spread, as tables. */

export type Table = {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** What the reader should know about the measurement. */
  readonly note?: string
}

/** A string says why a part could not run. */
export type Part = Table | string

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length / 2
  const [low = Number.NaN, high = low] = sorted.slice(Math.ceil(middle) - 1, Math.floor(middle) + 1)
  return (low + high) / 2
}

/** Returns the quantile: the number below which `share` of all numbers lie. */
export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

/** Returns the median, minimum and maximum of the rounds: `0.58 (0.51–0.60)`. */
export function spread(ratios: readonly number[]): string {
  const text = (number: number) => number.toFixed(2)
  return `${text(median(ratios))} (${text(Math.min(...ratios))}–${text(Math.max(...ratios))})`
}

/** Rounds to three significant digits, such as `12 340`, because the machine is noisy. */
export function rounded(number: number): string {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, number))) - 2)
  return String(Math.round(number / step) * step).replace(/\B(?=(\d{3})+$)/g, ' ')
}

export function milliseconds(number: number): string {
  return `${number.toFixed(number < 10 ? 2 : 1)} ms`
}

export function megabytes(number: number): string {
  return `${Math.round(number)} MB`
}

/** Says in one word whether a figure meets its target; '' if it has none. */
export function verdict(figure: number, target: { readonly least?: number; readonly most?: number }): string {
  const { least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY } = target
  const bound = target.least === undefined ? `≤ ${target.most}` : `≥ ${target.least}`
  return `${bound}: ${figure >= least && figure <= most ? 'met' : 'missed'}`
}

export function toText(part: Part): string {
  if (typeof part === 'string') return `${part}\n`
  const lines = [part.columns, ...part.rows]
  const widths = part.columns.map((_, index) => Math.max(...lines.map((line) => (line[index] ?? '').length)))
  const shown = lines.map((line) =>
    widths
      .map((width, index) => (index === 0 ? (line[index] ?? '').padEnd(width) : (line[index] ?? '').padStart(width)))
      .join('  '),
  )
  return [part.title, ...shown, ...(part.note ? [part.note] : []), ''].join('\n')
}
