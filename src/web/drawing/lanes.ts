/** Computes the layout of the lane picture: each bar's row and label position. */
import type { Gap } from '../../domain/alert/groups.ts'
import { ordered } from '../../domain/order.ts'
import type { Severity } from '../../domain/severity.ts'
import { position, rounded, type Span } from './scale.ts'

export const LANES = ['ci', 'rollouts', 'cluster', 'alerts', 'people'] as const
export type LaneName = (typeof LANES)[number]

/** A condition or a change with a start and an end. Times are Unix times in milliseconds. */
export type LaneBar = {
  readonly id: string
  readonly lane: LaneName
  readonly startsAt: number
  /** Null if the condition or change is ongoing. The bar then extends to the present. */
  readonly endsAt: number | null
  /** `change`: a deploy or rollout. `neutral`: a pipeline that deployed nothing. `person`: an action by a person. */
  readonly level: Severity | 'change' | 'neutral' | 'person'
  readonly shape: 'bar' | 'diamond'
  readonly label: string
  /** The full text for the tooltip, the table and screen readers. */
  readonly title: string
  readonly href: string | null
  /** When the events of the condition or change were reported. */
  readonly events: readonly number[]
  /** When a flapping condition had ended. */
  readonly gaps?: readonly Gap[]
}

/**
 * The position of a label. `gutter` is to the right of the picture. `none` omits the label, but the bar's title still
 * contains the label's text.
 */
export type LabelPlace = 'inside' | 'right' | 'left' | 'gutter' | 'none'

export type PlacedBar = LaneBar & {
  readonly row: number
  /** The left end of the bar, in percent of the span. */
  readonly x: number
  readonly width: number
  /** The label's position in a wide picture. `narrowPlace` is the label's position on a phone. */
  readonly place: LabelPlace
  readonly narrowPlace: LabelPlace
  /** In a wide picture, the position of the line after which a label on the right begins, in percent of the span. */
  readonly beside?: number | undefined
  /** The same in a narrow picture. */
  readonly narrowBeside?: number | undefined
}

export type PlacedLane = {
  readonly name: LaneName
  readonly rows: number
  readonly bars: readonly PlacedBar[]
  /** Bars that have no row because the lane has too many bars. */
  readonly hidden: readonly LaneBar[]
}

/** The picture's width in px, as estimated by the server. */
export type Widths = {
  readonly wide: number
  readonly narrow: number
  /** Whether labels can be placed to the right of the picture. Default: true. */
  readonly gutter?: boolean
  /** The space to the right of the picture that this lane can use, in px. Default: 0. */
  readonly beyond?: number
  /** The positions of vertical lines in percent, on which a label stands only if there is no other place. */
  readonly lines?: readonly number[]
  /** The ids of the conditions to which a link leads, from the left. */
  readonly linked?: ReadonlySet<string>
}

const MAX_ROWS = 4
const CHARACTER = 6.5
/** The minimum space for a label inside and beside a bar. */
const INSIDE = 30
const OUTSIDE = 14
/** The gap between two bars in a row. */
const GAP = 8
const LEAST_BAR = 3
const DIAMOND = 12
/** A bar that starts to the right of this point has its label on the left. */
const LAST_THIRD = 2 / 3
const WEIGHT: Readonly<Record<LaneBar['level'], number>> = {
  ...{ critical: 6, error: 5, change: 4, warning: 3, person: 2, info: 1, neutral: 0 },
}

/**
 * Sorts the bars of a lane by start, and places each bar in the first row that has space. If there are too many bars,
 * only the most severe get a row.
 */
export function placeLane(
  name: LaneName,
  all: readonly LaneBar[],
  span: Span,
  now: number,
  widths: Widths,
): PlacedLane {
  const bars = all.filter((bar) => bar.startsAt <= span.to && (bar.endsAt ?? now) >= span.from)
  const byStart = [...bars].sort((a, b) => a.startsAt - b.startsAt || (a.id < b.id ? -1 : 1))
  const first = pack(byStart, span, now, widths)
  const byWeight = () => [...byStart].sort((a, b) => weightOf(b) - weightOf(a))
  const { rows, hidden } = first.hidden.length === 0 ? first : pack(byWeight(), span, now, widths)
  const placed = rows.flatMap((row, index) => withNarrowPlaces(row, index, widths))
  return { name, rows: Math.max(1, rows.length), bars: placed, hidden }
}

type Fitted = {
  readonly bar: LaneBar
  readonly x: number
  readonly width: number
  readonly place: LabelPlace
  readonly beside?: number | undefined
  /** The space occupied by the bar and its label, in px. */
  readonly left: number
  readonly right: number
}

function pack(bars: readonly LaneBar[], span: Span, now: number, widths: Widths) {
  const rows: Fitted[][] = []
  const hidden: LaneBar[] = []
  for (const bar of bars) {
    const fitted = fit(bar, span, now, widths)
    const row = rows.find((one) =>
      one.every(({ left, right }) => fitted.left >= right + GAP || fitted.right + GAP <= left),
    )
    if (row) row.push(fitted)
    else if (rows.length < MAX_ROWS) rows.push([fitted])
    else hidden.push(bar)
  }
  // The row of `+1 more` would be as high as the bar's own row.
  if (hidden.length === 1) rows.push(hidden.splice(0).map((bar) => fit(bar, span, now, widths)))
  return { rows, hidden }
}

function fit(bar: LaneBar, span: Span, now: number, widths: Widths): Fitted {
  const { wide: width, gutter = true, beyond = 0, linked } = widths
  const x = position(bar.startsAt, span)
  const end = position(bar.shape === 'diamond' ? bar.startsAt : (bar.endsAt ?? now), span)
  const [left, right] = edges(bar, x, end - x, width)
  const label = bar.label.length * CHARACTER
  const common = { bar, x, width: Math.round((end - x) * 100) / 100 }
  if (bar.shape === 'bar' && right - left >= label + INSIDE) return { ...common, place: 'inside', left, right }
  if (gutter && bar.endsAt === null && bar.shape === 'bar' && end >= 99.9)
    return { ...common, place: 'gutter', left, right }
  // The links are drawn to the right of an ongoing bar, so its name is cut off at the end of the bar.
  if (bar.endsAt === null && bar.shape === 'bar' && right - left >= INSIDE * 2)
    return { ...common, place: 'inside', left, right }
  // A phone shows only the end of a picture with a gutter, so a label on the left would be cut off.
  const isTaken = beyond > 0 || linked?.has(bar.id)
  const isEarly = isTaken || left < width * LAST_THIRD || left < OUTSIDE + label
  const isFree = right + OUTSIDE + label <= width + beyond
  if (isFree && isEarly && !isBetterLeft({ left, right, label, isTaken, taken: 0, lines: linesIn(widths, width) }))
    return {
      ...common,
      ...besideLine(right, label, { width, limit: width + beyond, lines: linesIn(widths, width) }),
      left,
    }
  if (left >= OUTSIDE + label) return { ...common, place: 'left', left: left - OUTSIDE - label, right }
  // A long name is cut off at the bar's end.
  return { ...common, place: bar.shape === 'bar' && right - left >= INSIDE * 3 ? 'inside' : 'none', left, right }
}

/**
 * Places a label on the right of a bar, or past a line after which fewer lines cross it, if there is space before
 * `limit`. `width`: of the picture. In px.
 */
function besideLine(
  right: number,
  label: number,
  { width, limit, lines }: { readonly width: number; readonly limit: number; readonly lines: readonly number[] },
) {
  const crossing = (start: number) => lines.filter((x) => x > start && x < start + OUTSIDE + label).length
  const starts = lines.filter((x) => x >= right && x + OUTSIDE + label <= limit)
  const [start = right] = ordered([right, ...starts], (x) => [crossing(x), x])
  const beside = start === right ? undefined : rounded((start / width) * 100)
  return { place: 'right' as const, beside, right: start + OUTSIDE + label }
}

function linesIn({ lines = [] }: Widths, width: number): readonly number[] {
  return lines.map((x) => (x / 100) * width)
}

/** Returns whether a label on the right stands on a line, and one on the left has space beside all lines. In px. */
function isBetterLeft(one: Pick<Narrow, 'left' | 'right' | 'label' | 'isTaken' | 'taken' | 'lines'>): boolean {
  const { left, right, label, isTaken, taken, lines } = one
  if (isTaken) return false
  const from = left - OUTSIDE - label
  const isCrossed = (start: number, end: number) => lines.some((x) => x > start && x < end)
  return from >= taken && isCrossed(right, right + OUTSIDE + label) && !isCrossed(from, left)
}

function edges({ shape }: LaneBar, x: number, width: number, px: number): readonly [number, number] {
  const left = (x / 100) * px
  if (shape === 'diamond') return [left - DIAMOND / 2, left + DIAMOND / 2]
  return [left, left + Math.max(LEAST_BAR, (width / 100) * px)]
}

/** Places the labels for phones. The bars stay in their rows. A label that would overlap its neighbor is omitted. */
function withNarrowPlaces(row: readonly Fitted[], index: number, widths: Widths): PlacedBar[] {
  const { narrow } = widths
  const lines = linesIn(widths, narrow)
  const sorted = [...row].sort((a, b) => a.x - b.x)
  let taken = 0
  return sorted.map(({ bar, x, width, place, beside }, position) => {
    const [left, right] = edges(bar, x, width, narrow)
    const after = sorted[position + 1]
    const free = after ? edges(after.bar, after.x, after.width, narrow)[0] - GAP : narrow
    const label = bar.label.length * CHARACTER
    const isTaken = widths.linked?.has(bar.id)
    const narrowPlace = narrowPlaceOf({ bar, place, left, right, label, free, isTaken, taken, lines })
    const past = narrowPlace === 'right' ? besideLine(right, label, { width: narrow, limit: free, lines }) : null
    taken = (past?.right ?? right) + GAP
    return { ...bar, row: index, x, width, place, narrowPlace, beside, narrowBeside: past?.beside }
  })
}

type Narrow = {
  readonly bar: LaneBar
  readonly place: LabelPlace
  readonly left: number
  readonly right: number
  readonly label: number
  readonly free: number
  /** Whether there is no place on the left. */
  readonly isTaken: boolean | undefined
  readonly taken: number
  readonly lines: readonly number[]
}

function narrowPlaceOf(one: Narrow): LabelPlace {
  if (one.place === 'gutter') return 'gutter'
  if (one.bar.shape === 'bar' && one.right - one.left >= one.label + INSIDE) return 'inside'
  // A truncated label is still useful.
  const cut = one.bar.shape === 'bar' && one.right - one.left >= INSIDE * 2 ? 'inside' : 'none'
  if (cut === 'inside' && one.bar.endsAt === null) return cut
  if (one.right + OUTSIDE + one.label <= one.free && !isBetterLeft(one)) return 'right'
  return one.left - OUTSIDE - one.label >= one.taken ? 'left' : cut
}

function weightOf({ level, endsAt }: LaneBar): number {
  return WEIGHT[level] + (endsAt === null ? 0.5 : 0)
}
