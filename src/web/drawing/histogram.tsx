/** Draws the alert histogram with stacked bins. Each non-empty bin links to the page for the bin's period. */

import type { FC } from 'hono/jsx'
import { SEVERITIES, type Severity } from '../../domain/severity.ts'
import { formatSpan, type Reader } from '../../domain/shown-time.ts'
import { formatCount } from '../../domain/text.ts'
import { countTicks, position, rounded, type Span, timeTicks } from './scale.ts'
import { Stack } from './strip.tsx'

/** One bin. Times are Unix times in milliseconds. `href` is the URL of the page for the bin's period. */
export type HistogramBin = {
  readonly from: number
  readonly to: number
  readonly counts: Readonly<Record<Severity, number>>
  readonly href: string
}

const HEIGHT = 108
const TOP = 16
const BOTTOM = 88
/** The gap between two bins, in percent of a bin's width. */
const GAP = 24
const UPWARDS = [...SEVERITIES].reverse()

type Props = {
  readonly bins: readonly HistogramBin[]
  readonly span: Span
  readonly zone: string
}

export const Histogram: FC<Props> = ({ bins, span, zone }) => {
  const most = bins.reduce((a, bin) => Math.max(a, totalOf(bin)), 0)
  const ticks = countTicks(Math.max(1, most))
  const highest = Math.max(ticks.at(-1) ?? 1, most)
  const scale = (count: number) => rounded((count / highest) * (BOTTOM - TOP))
  return (
    <figure class="histogram" aria-label={histogramText(bins, span, zone)}>
      <svg width="100%" height={HEIGHT} class="lanes-plot">
        {ticks.map((count) => (
          <>
            <line class="lanes-grid" x1="0" x2="100%" y1={BOTTOM - scale(count)} y2={BOTTOM - scale(count)} />
            <text class="histogram-count" x="0" y={BOTTOM - scale(count) - 3}>
              {formatCount(count)}
            </text>
          </>
        ))}
        {bins.filter(totalOf).map((bin) => (
          <Bin bin={bin} span={span} scale={scale} zone={zone} />
        ))}
        <line class="histogram-axis" x1="0" x2="100%" y1={BOTTOM} y2={BOTTOM} />
        {timeTicks(span, 840, zone).map(({ x, label }, index) => (
          <text class={`lanes-tick ${index % 2 === 1 ? 'only-wide' : ''}`} x={`${x}%`} y={BOTTOM + 15}>
            {label}
          </text>
        ))}
      </svg>
    </figure>
  )
}

const Bin: FC<{ bin: HistogramBin; span: Span; scale: (count: number) => number; zone: string }> = (props) => {
  const { bin, span, scale, zone } = props
  const [from, to] = [position(bin.from, span), position(bin.to, span)]
  const title = binText(bin, { now: span.to, zone })
  const counts = UPWARDS.map((severity) => ({ severity, count: bin.counts[severity] }))
  return (
    <a href={bin.href} aria-label={title} class="histogram-bin">
      <title>{title}</title>
      <svg x={`${from}%`} width={`${rounded(to - from)}%`} height={BOTTOM} overflow="hidden">
        <rect class="histogram-target" width="100%" height={BOTTOM} />
        <Stack counts={counts} scale={scale} x={GAP / 2} width={100 - GAP} bottom={BOTTOM} />
      </svg>
      {bin.counts.critical > 0 ? (
        <svg x={`${rounded((from + to) / 2)}%`} class="lanes-bar lanes-mark level-critical">
          <use href="#m-critical" x="-5" y={rounded(BOTTOM - scale(totalOf(bin)) - 13)} width="10" height="10" />
        </svg>
      ) : null}
    </a>
  )
}

function binText(bin: HistogramBin, reader: Reader): string {
  const parts = SEVERITIES.flatMap((severity) =>
    bin.counts[severity] === 0 ? [] : [`${formatCount(bin.counts[severity])} ${severity}`],
  )
  return `${formatSpan(bin, reader)}: ${parts.length === 0 ? 'none' : parts.join(', ')}`
}

/** Describes the histogram: the total, and the bin with the most alerts. */
function histogramText(bins: readonly HistogramBin[], span: Span, zone: string): string {
  const reader = { now: span.to, zone }
  const total = bins.reduce((sum, bin) => sum + totalOf(bin), 0)
  const range = `Alerts from ${formatSpan(span, reader)}`
  if (total === 0) return `${range}: none`
  const highest = bins.reduce((best, bin) => (totalOf(bin) > totalOf(best) ? bin : best))
  return `${range}: ${total}, at most ${formatCount(totalOf(highest))} from ${formatSpan(highest, reader)}`
}

function totalOf({ counts }: HistogramBin): number {
  return SEVERITIES.reduce((sum, severity) => sum + counts[severity], 0)
}
