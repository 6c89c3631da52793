/** Draws small charts: a strip for a day of a service's health, and bars for counts over time. */
import type { FC } from 'hono/jsx'
import { type StatusChange, type StripBin, spansOf, stripText } from '../../domain/health/strip.ts'
import type { Severity } from '../../domain/severity.ts'
import { position, rounded, type Span, timeTicks } from './scale.ts'

const HEIGHT = 24
const QUIET = 4
/** The share of a bin that its bar fills. With this share, bins of 4, 3 and 2 px have gaps of 1 px. */
const FILLED = 0.7

/**
 * Draws the strip. A bin is one unit wide; the style sheet sets its width in px. `label` describes the totals in words.
 */
export const Strip: FC<{ bins: readonly StripBin[]; label: string; small?: boolean }> = ({ bins, label, small }) => {
  const height = small ? 16 : HEIGHT
  return (
    <svg
      class={small ? 'strip strip-small' : 'strip'}
      viewBox={`0 0 ${bins.length} ${height}`}
      height={height}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {(['unknown', 'healthy'] as const).map((status) => {
        const path = runsOf(bins, status, height - (status === 'healthy' ? QUIET / 2 : 0.5))
        return path === '' ? null : <path class={`strip-${status}`} d={path} />
      })}
      {(['degraded', 'critical'] as const).map((status) => {
        const path = barsOf(bins, status, height)
        return path === '' ? null : <path class={`level-${status}`} d={path} />
      })}
    </svg>
  )
}

/** Merges empty bins into dashed lines with one dash per bin. */
function runsOf(bins: readonly StripBin[], status: StripBin['status'], y: number): string {
  let path = ''
  let start: number | null = null
  for (let index = 0; index <= bins.length; index += 1) {
    const inside = bins[index]?.status === status
    if (inside && start === null) start = index
    if (!inside && start !== null) {
      path += `M${start} ${y}H${index}`
      start = null
    }
  }
  return path
}

function barsOf(bins: readonly StripBin[], status: StripBin['status'], height: number): string {
  const bars = bins.map((bin) => {
    const bar = Math.round(Math.max(8, QUIET + (bin.lost / 100) * 20) * (height / HEIGHT))
    return bin.status === status ? bar : 0
  })
  return barsPath(bars, height)
}

/** Draws a bar for each height but 0. A page can have thousands, so each is only moved from the one before it. */
function barsPath(bars: readonly number[], bottom: number): string {
  const drawn = bars.map((height, index) => ({ height, index })).filter(({ height }) => height > 0)
  return drawn
    .map(({ height, index }, at) => {
      const before = drawn[at - 1]
      const move = before ? `m${index - before.index} ${before.height}` : `M${index + FILLED / 2} ${bottom}`
      return `${move}v-${height}`
    })
    .join('')
}

/** Draws counts as small bars, oldest first. An empty bin is a short line. `level` sets the color; null is gray. */
export const Sparkbars: FC<{ counts: readonly number[]; level: string | null; label: string }> = (props) => {
  const { counts, level, label } = props
  const most = counts.reduce((a, b) => Math.max(a, b), 1)
  const bars = counts.map((count) => (count <= 0 ? 1 : Math.max(2, Math.round((count / most) * 20))))
  return (
    <svg
      class={`sparkbars level-${level ?? 'neutral'}`}
      viewBox={`0 0 ${counts.length} 20`}
      width={counts.length * 4}
      height="20"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path d={barsPath(bars, 20)} />
    </svg>
  )
}

type StackProps = {
  readonly counts: readonly { readonly severity: Severity; readonly count: number }[]
  /** Returns the height of a count in px. */
  readonly scale: (count: number) => number
  /** The left edge and the width in percent. */
  readonly x: number
  readonly width: number
  readonly bottom: number
}

/** Draws counts as a stack of bars, the first count at the bottom. */
export const Stack: FC<StackProps> = ({ counts, scale, x, width, bottom }) => {
  let y = bottom
  return (
    <>
      {counts.map(({ severity, count }) => {
        const height = scale(count)
        if (height === 0) return null
        y -= height
        const place = { x: `${x}%`, width: `${width}%`, y: rounded(y), height: Math.max(1, height - 1) }
        return <rect class={`fill-level level-${severity}`} {...place} />
      })}
    </>
  )
}

/** Draws a bar filled to a value between 0 and 1, in the color of a level. */
export const Meter: FC<{ part: number; level: string; width?: number; height?: number }> = (props) => {
  const { part, level, width = 48, height = 4 } = props
  const filled = rounded(Math.min(1, Math.max(0, part)) * width)
  return (
    <svg class={`meter level-${level}`} width={width} height={height} aria-hidden="true">
      {filled > 0 ? <rect width={Math.max(filled, 3)} height={height} rx={height / 2} /> : null}
    </svg>
  )
}

// Draws a long period as a strip, with a frame around the part that the picture below shows.

/** A long period of which a picture shows a part. */
export type Zoom = {
  readonly whole: Span
  readonly part: Span
  readonly states: readonly StatusChange[]
  /** Names the part, for example `incident 27`. */
  readonly of: string
  /** The URL of the picture of the whole period. */
  readonly wholeHref: string
}

const ZOOM_HEIGHT = 36
const TOP = 2
const BOTTOM = 20
/** A label beyond this would be cut off on a phone, in percent. */
const LAST = 92
/** Also a short problem and a short part can be seen, in percent. */
const LEAST = 0.8

export const ZoomStrip: FC<{ zoom: Zoom; zone: string }> = ({ zoom, zone }) => {
  const { whole, part, states, of, wholeHref } = zoom
  const [left, width] = extentOf(part, whole)
  return (
    <figure class="zoom-strip">
      <svg
        width="100%"
        height={ZOOM_HEIGHT}
        role="img"
        aria-label={`${stripText(states, whole.from, whole.to)}; ${of} is framed`}
      >
        <line class="lanes-line" x1="0" x2="100%" y1={BOTTOM} y2={BOTTOM} />
        {spansOf(states, whole.from, whole.to)
          .filter(({ status }) => status === 'critical' || status === 'degraded')
          .map(({ status, startsAt, endsAt }) => {
            const [x, width] = extentOf({ from: startsAt, to: endsAt }, whole)
            const y = status === 'critical' ? TOP + 3 : TOP + 10
            return (
              <rect class={`fill-level level-${status}`} x={`${x}%`} width={`${width}%`} y={y} height={BOTTOM - y} />
            )
          })}
        <rect class="zoom-part" x={`${left}%`} width={`${width}%`} y={TOP} height={BOTTOM - TOP} rx="3" />
        {timeTicks(whole, 840, zone).map(({ x, label }, index) => (
          <text class={index % 2 === 1 || x > LAST ? 'only-wide' : undefined} x={`${x}%`} y={ZOOM_HEIGHT - 4}>
            {label}
          </text>
        ))}
      </svg>
      <figcaption class="second">
        The picture shows {of}, which is framed. <a href={wholeHref}>Show all 7 days</a>
      </figcaption>
    </figure>
  )
}

function extentOf({ from, to }: Span, whole: Span): readonly [x: number, width: number] {
  const x = position(from, whole)
  const width = Math.max(LEAST, rounded(position(to, whole) - x))
  return [Math.min(x, 100 - width), width]
}
