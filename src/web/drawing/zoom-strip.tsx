/** Draws a long period as a strip, with a frame around the part that the picture below shows. */
import type { FC } from 'hono/jsx'
import { type StatusChange, spansOf, stripText } from '../../domain/health/strip.ts'
import { position, rounded, type Span, timeTicks } from './scale.ts'

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

const HEIGHT = 36
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
        height={HEIGHT}
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
          <text class={index % 2 === 1 || x > LAST ? 'only-wide' : undefined} x={`${x}%`} y={HEIGHT - 4}>
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
