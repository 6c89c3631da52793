/** Draws the bars of the lane picture. Each bar is a link with a mark, a label and ticks for its events. */
import type { FC } from 'hono/jsx'
import type { LaneLink, LanePicture } from './lane-model.ts'
import type { LaidLane } from './lane-picture.tsx'
import type { LabelPlace, PlacedBar, Widths } from './lanes.ts'
import { trunksOf } from './links.ts'
import { position, rounded } from './scale.ts'

const PADDING = 8
const ROW = 26
const BAR = 20
/** The maximum number of ticks per bar. More ticks would merge into one thick line. */
const MAX_TICKS = 40
const MARKS = new Set(['critical', 'error', 'warning', 'info'])

export type LanesProps = {
  readonly picture: LanePicture
  /** The links to draw, best first. */
  readonly best: readonly LaneLink[]
  readonly lanes: readonly LaidLane[]
  readonly widths: Widths
}

/** Returns the top edge of a bar in px. */
export function topOf({ y }: LaidLane, { row }: PlacedBar): number {
  return y + PADDING + row * ROW
}

export const LaneBars: FC<LanesProps> = ({ picture, best, lanes, widths }) => {
  const ongoing = lanes.some(({ bars }) => bars.some(isOngoing))
  const trunks = trunksOf(best)
  /** The classes with which the style sheet lights up a change and its conditions while the pointer is on the change. */
  const classOf = ({ id }: PlacedBar) => {
    const own = trunks.indexOf(id)
    const of = best.filter(({ condition }) => condition === id).map(({ change }) => `of-${trunks.indexOf(change)}`)
    return ['dims', ...(own < 0 ? [] : [`lights-${own}`, `of-${own}`]), ...of].join(' ')
  }
  const linked = new Set(picture.links.flatMap(({ verdict, change }) => (verdict === 'rejected' ? [] : [change])))
  // While the problem is ongoing, ended bars are pale, except changes that might have caused the problem.
  const isFaded = (bar: PlacedBar) => ongoing && !isOngoing(bar) && !linked.has(bar.id)
  return (
    <g>
      {lanes.map((lane) => (
        <g>
          {lane.bars.map((bar) => (
            <Linked bar={bar} class={classOf(bar)}>
              {bar.shape === 'diamond' ? (
                <Diamond bar={bar} top={topOf(lane, bar)} />
              ) : (
                <Bar bar={bar} top={topOf(lane, bar)} picture={picture} faded={isFaded(bar)} />
              )}
              <Labels bar={bar} top={topOf(lane, bar)} faded={isFaded(bar)} widths={widths} />
            </Linked>
          ))}
          {lane.hidden.length > 0 ? <More lane={lane} href={picture.moreHref} /> : null}
        </g>
      ))}
    </g>
  )
}

function isOngoing({ endsAt, level }: PlacedBar): boolean {
  return endsAt === null && MARKS.has(level)
}

const Linked: FC<{ bar: PlacedBar; class: string; children?: unknown }> = ({ bar, class: look, children }) =>
  bar.href === null ? (
    <g class={look}>
      <title>{bar.title}</title>
      {children}
    </g>
  ) : (
    <a href={bar.href} class={look}>
      <title>{nameOf(bar)}</title>
      {children}
    </a>
  )

/** Returns the accessible name of a link. The name contains the visible label, which voice control requires. */
function nameOf({ label, title }: PlacedBar): string {
  return title.includes(label) ? title : `${label}. ${title}`
}

const Bar: FC<{ bar: PlacedBar; top: number; picture: LanePicture; faded: boolean }> = ({
  bar,
  top,
  picture,
  faded,
}) => (
  <g class={`fill-level level-${bar.level} ${faded ? 'faded' : ''}`}>
    <svg x={`${bar.x}%`} y={top} width={`${bar.width}%`} height={BAR} class="lanes-bar">
      <rect class="bar-fill" width="100%" height={BAR} rx="4" />
      {gapsIn(bar, picture).map(({ x, width }) => (
        <rect class="bar-gap" x={`${x}%`} width={`${width}%`} height={BAR} />
      ))}
      {ticksIn(bar, picture).map((x) => (
        <rect x={`${x}%`} y={BAR - 4} width="1.5" height="4" />
      ))}
    </svg>
    <svg x={`${bar.x}%`} y={top} class="lanes-bar">
      <rect width="3" height={BAR} rx="1" />
    </svg>
    {MARKS.has(bar.level) ? (
      <svg x={`${bar.x}%`} y={top} class={`lanes-bar lanes-mark level-${bar.level}`}>
        <use href={`#m-${bar.level}`} x="7" y="4" width="12" height="12" />
      </svg>
    ) : null}
  </g>
)

/**
 * Returns the positions of the events in percent of the bar. If there are too many events, picks some that are evenly
 * distributed.
 */
function ticksIn({ events, startsAt, endsAt, level }: PlacedBar, { now, span }: LanePicture): readonly number[] {
  if (!MARKS.has(level) || events.length < 2) return []
  const own = { from: Math.max(startsAt, span.from), to: Math.min(endsAt ?? now, span.to) }
  const inside = events.filter((at) => at >= own.from && at <= own.to)
  const step = Math.max(1, Math.ceil(inside.length / MAX_TICKS))
  return inside.filter((_, index) => index % step === 0).map((at) => position(at, own))
}

/** Returns the gaps of a flapping condition in percent of its bar. */
function gapsIn({ gaps = [], startsAt, endsAt }: PlacedBar, { now, span }: LanePicture) {
  const own = { from: Math.max(startsAt, span.from), to: Math.min(endsAt ?? now, span.to) }
  return gaps.flatMap(([from, to]) => {
    const x = position(from, own)
    const width = rounded(position(to, own) - x)
    return width > 0 ? [{ x, width }] : []
  })
}

const Diamond: FC<{ bar: PlacedBar; top: number }> = ({ bar, top }) => (
  <svg x={`${bar.x}%`} y={top + BAR / 2} class={`lanes-bar fill-level level-${bar.level}`}>
    <path d="M0-6 6 0 0 6-6 0z" />
  </svg>
)

const Labels: FC<{ bar: PlacedBar; top: number; faded: boolean; widths: Widths }> = ({ bar, top, faded, widths }) => {
  const isSame = bar.place === bar.narrowPlace && bar.beside === bar.narrowBeside
  if (isSame || widths.wide === widths.narrow)
    return <Label bar={bar} top={top} place={bar.place} more={faded ? 'quiet' : ''} />
  return (
    <>
      <Label bar={bar} top={top} place={bar.place} more={faded ? 'only-wide quiet' : 'only-wide'} />
      <Label bar={bar} top={top} place={bar.narrowPlace} isNarrow more={faded ? 'only-narrow quiet' : 'only-narrow'} />
    </>
  )
}

type LabelProps = {
  readonly bar: PlacedBar
  readonly top: number
  readonly place: LabelPlace
  readonly isNarrow?: boolean
  readonly more: string
}

const Label: FC<LabelProps> = ({ bar, top, place, isNarrow, more }) => {
  if (place === 'none') return null
  const mark = MARKS.has(bar.level)
  if (place === 'inside') {
    return (
      <svg x={`${bar.x}%`} y={top} width={`${bar.width}%`} height={BAR} class={`lanes-bar ${more}`}>
        {/* The label is above the ticks of the events. */}
        <text class="bar-label" x={mark ? 24 : 9} y={mark && bar.events.length > 1 ? 13 : 14}>
          {bar.label}
        </text>
      </svg>
    )
  }
  const half = bar.shape === 'diamond' ? 6 : 0
  const end = rounded(bar.x + (bar.shape === 'diamond' ? 0 : bar.width))
  const [x, dx, anchor] =
    place === 'gutter'
      ? ['100%', 10, 'start']
      : place === 'right'
        ? [`${(isNarrow ? bar.narrowBeside : bar.beside) ?? end}%`, 8 + half, 'start']
        : [`${bar.x}%`, -6 - half, 'end']
  // A very short bar is covered by its mark.
  const past = place !== 'left' && mark && bar.width < 2 ? 14 : 0
  return (
    <text class={`bar-label halo ${more}`} x={x} dx={Number(dx) + past} y={top + 14} text-anchor={anchor}>
      {place === 'gutter' ? cut(bar.label) : bar.label}
    </text>
  )
}

/** The space to the right of a picture has room for this many characters. */
const IN_GUTTER = 22

/** Cuts a long label in its middle, because its end tells labels apart. */
function cut(label: string): string {
  const letters = [...label]
  return letters.length <= IN_GUTTER ? label : `${letters.slice(0, 13).join('')}…${letters.slice(-8).join('')}`
}

const More: FC<{ lane: LaidLane; href: string | null }> = ({ lane, href }) => {
  const text = `+${lane.hidden.length} more`
  const shown = (
    <text class="bar-label lanes-more" x="8" y={lane.y + PADDING + lane.rows * ROW + 12}>
      {text}
    </text>
  )
  return href === null ? (
    shown
  ) : (
    <a href={href} aria-label={`${text} in the lane ${lane.name}`}>
      {shown}
    </a>
  )
}
