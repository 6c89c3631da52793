/** Computes the bins of the histogram above the alert list. */
import type { AlertGroup } from '../../domain/alert/groups.ts'
import type { Severity } from '../../domain/severity.ts'
import type { HistogramBin } from '../drawing/histogram.tsx'
import type { Span } from '../drawing/scale.ts'
import { isoOf } from '../kit/time.tsx'

const BINS = 48

/** Counts the rows by start time. An alert storm is a single row, so its bin does not dwarf all other bins. */
export function binsOf(
  groups: readonly Pick<AlertGroup, 'lastStartsAt' | 'severity'>[],
  { from, to }: Span,
  address: (change: Readonly<Record<string, string>>) => string,
): HistogramBin[] {
  const length = (to - from) / BINS
  const counts = Array.from(
    { length: BINS },
    (): Record<Severity, number> => ({ critical: 0, error: 0, warning: 0, info: 0 }),
  )
  for (const { lastStartsAt, severity } of groups) {
    if (lastStartsAt < from) continue
    const bin = counts[Math.min(BINS - 1, Math.max(0, Math.floor((lastStartsAt - from) / length)))]
    if (bin) bin[severity] += 1
  }
  return counts.map((of, index) => {
    const bin = { from: from + index * length, to: from + (index + 1) * length }
    return { ...bin, counts: of, href: address({ from: isoOf(bin.from), to: isoOf(bin.to) }) }
  })
}
