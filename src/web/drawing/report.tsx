/**
 * Draws the two charts of the report: incidents by week, and incidents by time to resolve. Each incident is a mark. If
 * there are too many incidents, the charts show bars instead.
 */
import type { FC } from 'hono/jsx'
import { rank, type Severity } from '../../domain/severity.ts'
import { formatLasted } from '../../domain/shown-time.ts'
import { countTicks, durationAxis, rounded } from './scale.ts'
import { Stack } from './strip.tsx'

/** A mark that links to its incident. */
type ReportMark = { readonly severity: Severity; readonly title: string; readonly href: string }
/** Seven days. `label` names the last day. `marks` has one mark per incident unless there are too many incidents. */
export type ReportWeek = {
  readonly label: string
  readonly counts: readonly { readonly severity: Severity; readonly count: number }[]
  readonly marks: readonly ReportMark[]
  /** Whether the organization already existed during this week. */
  readonly isRecorded: boolean
}
export type ResolutionMark = ReportMark & { readonly resolveMs: number }

const HEIGHT = 190
const BOTTOM = 162
/** The maximum height of a mark, including the space below it. */
const STEP = 25
/** If a week has more incidents than this, the chart shows bars instead of marks. */
const MAX_MARKS = 8
/**
 * The minimum width, in percent, at which every bar shows its number. If the bars are narrower, only the highest bar
 * shows its number.
 */
const NARROW = 3
/** The number of bars in the chart of resolution times. */
const BARS = 40
/** The width of a week's label, in percent. */
const LABEL = 7

export const WeekChart: FC<{ weeks: readonly ReportWeek[] }> = ({ weeks }) => {
  const totals = weeks.map(totalOf)
  const most = Math.max(0, ...totals)
  const hasBars = most > MAX_MARKS || weeks.some((week) => week.marks.length < totalOf(week))
  const pitch = 100 / Math.max(1, weeks.length)
  const every = Math.max(1, Math.ceil(LABEL / pitch))
  const total = totals.reduce((sum, count) => sum + count, 0)
  return (
    <figure
      class="chart"
      aria-label={`Incidents by week: ${total} in ${weeks.length} weeks, at most ${most} in one week`}
    >
      <svg width="100%" height={HEIGHT} class="lanes-plot">
        {hasBars ? <CountLines most={most} /> : null}
        {weeks.map((week, index) => {
          const { label } = week
          const x = rounded((index + 0.5) * pitch)
          return (
            <g>
              {hasBars ? (
                <WeekBars week={week} x={x} width={rounded(pitch * 0.6)} most={most} />
              ) : (
                <WeekMarks week={week} x={x} step={Math.min(STEP, Math.floor(136 / Math.max(1, most)))} />
              )}
              {index % every === 0 ? (
                <text class={`lanes-tick ${(index / every) % 3 === 0 ? '' : 'only-wide'}`} x={`${x}%`} y={BOTTOM + 17}>
                  {label}
                </text>
              ) : null}
            </g>
          )
        })}
        <line class="histogram-axis" x1="0" x2="100%" y1={BOTTOM} y2={BOTTOM} />
      </svg>
    </figure>
  )
}

/**
 * Draws a week's incidents as a stack with the most severe incident on top. The number of incidents is above the stack.
 */
const WeekMarks: FC<{ week: ReportWeek; x: number; step: number }> = ({ week: { marks, isRecorded }, x, step }) => (
  <svg x={`${x}%`} class="lanes-bar">
    {mildestFirst(marks).map((mark, index) => (
      <Placed mark={mark} x={(4 - step) / 2} y={BOTTOM - (index + 1) * step} size={step - 4} />
    ))}
    <text class={marks.length === 0 ? 'lanes-tick' : 'chart-count'} y={BOTTOM - 5 - marks.length * step}>
      {isRecorded ? marks.length : ''}
    </text>
  </svg>
)

const WeekBars: FC<{ week: ReportWeek; x: number; width: number; most: number }> = ({ week, x, width, most }) => {
  const total = totalOf(week)
  const scale = (count: number) => rounded((count / highestOf(most)) * (BOTTOM - 24))
  const left = rounded(x - width / 2)
  return (
    <g>
      <Stack counts={mildestFirst(week.counts)} scale={scale} x={left} width={width} bottom={BOTTOM} />
      <title>{`7 days ending ${week.label}: ${week.isRecorded ? total : 'not recorded'}`}</title>
      {week.isRecorded && (width >= NARROW || total === most) ? (
        <text class="chart-count" x={`${x}%`} y={rounded(BOTTOM - scale(total) - 5)}>
          {total}
        </text>
      ) : null}
    </g>
  )
}

function totalOf({ counts }: ReportWeek): number {
  return counts.reduce((sum, { count }) => sum + count, 0)
}

const CountLines: FC<{ most: number }> = ({ most }) => (
  <>
    {countTicks(most).map((count) => {
      const y = rounded(BOTTOM - (count / highestOf(most)) * (BOTTOM - 24))
      return <line class="lanes-grid" x1="0" x2="100%" y1={y} y2={y} />
    })}
  </>
)

function highestOf(most: number): number {
  return Math.max(most, countTicks(most).at(-1) ?? 1)
}

/** The maximum number of labels that fit next to each other on a phone. */
const MAX_TICKS = 5

/**
 * Draws the resolution times on a logarithmic axis. Draws bars instead of marks if there are fewer marks than
 * durations. `median` is in milliseconds, or null if there is none.
 */
export const ResolutionChart: FC<{
  marks: readonly ResolutionMark[]
  durations: readonly number[]
  median: number | null
}> = ({ marks, durations, median }) => {
  const axis = durationAxis(durations)
  const hasBars = marks.length < durations.length
  const crowded = axis.ticks.length > MAX_TICKS
  const placed = hasBars ? [] : stack(marks.map((mark) => ({ mark, x: axis.place(mark.resolveMs) })))
  const middle = median === null ? null : axis.place(median)
  const label = `Time to resolve of ${durations.length} incidents${median === null ? '' : `: median ${formatLasted(median)}`}`
  return (
    <figure class="chart" aria-label={label}>
      <svg width="100%" height={HEIGHT} class="lanes-plot">
        {axis.ticks.map(({ x, label }, index) => (
          <>
            <line class="lanes-grid" x1={`${x}%`} x2={`${x}%`} y1="24" y2={BOTTOM} />
            <text class={`lanes-tick ${crowded && index % 2 === 1 ? 'only-wide' : ''}`} x={`${x}%`} y={BOTTOM + 17}>
              {label}
            </text>
          </>
        ))}
        <line class="histogram-axis" x1="0" x2="100%" y1={BOTTOM} y2={BOTTOM} />
        {middle === null || median === null ? null : (
          <>
            <line class="chart-median" x1={`${middle}%`} x2={`${middle}%`} y1="8" y2={BOTTOM} />
            <text
              class="chart-median-text halo"
              x={`${middle}%`}
              dx={middle > 55 ? -6 : 6}
              y="16"
              text-anchor={middle > 55 ? 'end' : 'start'}
            >
              median {formatLasted(median)}
            </text>
          </>
        )}
        {hasBars ? <DurationBars places={durations.map(axis.place)} /> : null}
        {placed.map(({ mark, x, row }) => (
          <svg x={`${x}%`} class="lanes-bar">
            <Placed mark={mark} x={-7} y={BOTTOM - 18 - row * 17} size={14} />
          </svg>
        ))}
      </svg>
    </figure>
  )
}

const DurationBars: FC<{ places: readonly number[] }> = ({ places }) => {
  const counts = Map.groupBy(places, (x) => Math.min(BARS - 1, Math.floor((x / 100) * BARS)))
  const most = Math.max(0, ...[...counts.values()].map(({ length }) => length))
  return (
    <g>
      {[...counts].map(([bar, { length }]) => {
        const height = Math.max(1, rounded((length / most) * (BOTTOM - 28)))
        const y = rounded(BOTTOM - height)
        return <rect class="chart-bar" x={`${rounded((bar * 100) / BARS)}%`} width="2%" y={y} height={height} />
      })}
    </g>
  )
}

/** Stacks marks that would overlap. A mark is about 4 % wide. */
export function stack<Mark>(marks: readonly { readonly mark: Mark; readonly x: number }[]) {
  const ends: number[] = []
  return [...marks]
    .sort((a, b) => a.x - b.x)
    .map((one) => {
      const free = ends.findIndex((end) => end <= one.x)
      // If a stack would exceed the chart's height, its last marks overlap. The number in the label is still correct.
      const row = free === -1 ? Math.min(ends.length, 6) : free
      ends[row] = one.x + 4
      return { ...one, row }
    })
}

const Placed: FC<{ mark: ReportMark; x: number; y: number; size: number }> = ({ mark, x, y, size }) => (
  <a href={mark.href} aria-label={mark.title} class={`lanes-mark level-${mark.severity}`}>
    <title>{mark.title}</title>
    <use href={`#m-${mark.severity}`} x={x} y={y} width={size} height={size} />
  </a>
)

function mildestFirst<Ranked extends { readonly severity: Severity }>(marks: readonly Ranked[]): readonly Ranked[] {
  return marks.toSorted((a, b) => rank(a.severity) - rank(b.severity))
}
