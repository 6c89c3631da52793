/** Draws the links of the lane picture: a vertical line at the start of a change, with a branch to each condition. */

import type { FC } from 'hono/jsx'
import { formatScore } from '../../domain/text.ts'
import { type LanesProps, topOf } from './lane-bars.tsx'
import type { LaneLink } from './lane-model.ts'
import type { PlacedBar, Widths } from './lanes.ts'
import { trunksOf } from './links.ts'
import { position, rounded } from './scale.ts'

const BAR = 20
const RADIUS = 9
/** The offset of the line from the start of the change. */
const EDGE = 1.5
/** The minimum length of a branch that shows its score, in px. */
const SCORED = 44
/** The width of the check mark of a confirmed link, in px. */
const CHECK_WIDTH = 14
/** The width of a score plus its distance from the end of the branch, in px. */
const SCORE_WIDTH = 40

type Props = LanesProps & {
  /** `lines` are drawn below the bars and their labels. `ends` are drawn above the bars and labels. */
  readonly part: 'lines' | 'ends'
  /** Whether to show the scores of the links. */
  readonly scores: boolean
}
type Placed = { readonly bar: PlacedBar; readonly top: number }
type Branch = { readonly link: LaneLink; readonly x: number; readonly y: number; readonly scored: boolean }

/** Draws the three best changes and their conditions. Rejected links are omitted. */
export const LaneLinks: FC<Props> = ({ picture, best, lanes, widths, part, scores }) => {
  const placed = new Map<string, Placed>()
  for (const lane of lanes) for (const bar of lane.bars) placed.set(bar.id, { bar, top: topOf(lane, bar) })
  // A condition can be linked to several changes. Only the best link shows its score.
  const scored = new Set([...Map.groupBy(best, ({ condition }) => condition).values()].map(([first]) => first))
  const mark = picture.firstAlertAt === null ? null : position(picture.firstAlertAt, picture.span)
  const fixed = picture.recoveredAt === null ? null : position(picture.recoveredAt, picture.span)
  return (
    <g class="lanes-links">
      {fixed === null || part === 'ends' ? null : <FixLine from={placed.get(picture.fix ?? '')} to={fixed} />}
      {trunksOf(best).map((change, rank) => {
        const from = placed.get(change)
        const branches = best.flatMap((link) => {
          const to = link.change === change ? placed.get(link.condition) : undefined
          return to ? [{ link, x: to.bar.x, y: to.top + BAR / 2, scored: scores && scored.has(link) }] : []
        })
        if (!from) return null
        return (
          <g class={`dims of-${rank}`}>
            {part === 'lines' ? (
              <Trunk from={from} branches={branches} widths={widths} />
            ) : (
              branches.map((branch) => <BranchEnd from={from.bar.x} {...{ branch, widths, mark }} />)
            )}
          </g>
        )
      })}
    </g>
  )
}

/** The line from a change to the end of the problem, which the change probably brought. */
const FixLine: FC<{ from: Placed | undefined; to: number }> = ({ from, to }) => {
  if (!from) return null
  const start = from.bar.x + (from.bar.shape === 'diamond' ? 0 : from.bar.width)
  const y = from.top + BAR / 2
  return start >= to ? null : <line class="link-fix" x1={`${start}%`} x2={`${to}%`} y1={y} y2={y} />
}

const Trunk: FC<{ from: Placed; branches: readonly Branch[]; widths: Widths }> = ({ from, branches, widths }) => {
  const { bar, top } = from
  const start = bar.shape === 'diamond' ? top + BAR / 2 : top + BAR
  const lowest = branches.reduce((most, { y }) => Math.max(most, y), start)
  const strongest = branches[0]?.link.band ?? 'possible'
  const shift = bar.shape === 'diamond' ? 0 : EDGE
  return (
    <>
      <svg x={`${bar.x}%`} y="0" class={`lanes-bar link-${strongest}`}>
        <path d={`M${shift} ${start}V${lowest - RADIUS}`} />
      </svg>
      {branches.map((branch) => (
        <BranchLine from={bar.x} shift={shift} branch={branch} widths={widths} />
      ))}
    </>
  )
}

const BranchLine: FC<{ from: number; shift: number; branch: Branch; widths: Widths }> = (props) => {
  const { from, shift, branch, widths } = props
  const { link, x, y } = branch
  const length = rounded(Math.abs(x - from))
  const px = (length / 100) * widths.wide
  const back = x < from
  const radius = back ? 0 : Math.min(RADIUS, Math.max(0, Math.floor(px) - 1))
  const corner = `M${shift} ${y - RADIUS}V${y - radius}a${radius} ${radius} 0 0 0 ${radius} ${radius}`
  return (
    <>
      <svg x={`${from}%`} y="0" class={`lanes-bar link-${link.band}`}>
        <path d={corner} />
      </svg>
      {px > radius + shift ? (
        <svg x={`${Math.min(from, x)}%`} y="0" width={`${length}%`} height={y + 4} class={`link-${link.band}`}>
          <line x1={back ? 0 : radius + shift} x2="100%" y1={y} y2={y} />
        </svg>
      ) : null}
    </>
  )
}

/** Draws the dot at the end of a branch, and the score. `mark` is the position of the first alert's line, in percent. */
const BranchEnd: FC<{ from: number; branch: Branch; widths: Widths; mark: number | null }> = (props) => {
  const { from, branch, widths, mark } = props
  const { link, x, y } = branch
  const confirmed = link.verdict === 'confirmed'
  const least = SCORED + (confirmed ? CHECK_WIDTH : 0)
  // A score would be unreadable on top of the first alert's line.
  const hasPlace = (width: number) => {
    const behind = mark === null ? 0 : ((x - mark) / 100) * width
    return (Math.abs(x - from) / 100) * width >= least && (behind <= 4 || behind >= SCORE_WIDTH)
  }
  return (
    <>
      <circle class="link-end" cx={`${x}%`} cy={y} r="3.5" />
      {branch.scored && hasPlace(widths.wide) ? (
        <text
          class={`link-score halo ${hasPlace(widths.narrow) ? '' : 'only-wide'}`}
          x={`${x}%`}
          dx="-8"
          y={y - 5}
          text-anchor="end"
        >
          {`${formatScore(link.score)}${confirmed ? ' ✓' : ''}`}
        </text>
      ) : null}
    </>
  )
}
