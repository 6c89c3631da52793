/** Draws changes and conditions on a common time axis. All x values are percentages; all y values are in px. */
import type { FC } from 'hono/jsx'
import { spansOf } from '../../domain/health/strip.ts'
import { Words } from '../kit/mark.tsx'
import { Table } from '../kit/section.tsx'
import type { IconName } from '../kit/symbols.ts'
import { LaneBars } from './lane-bars.tsx'
import { LaneLinks } from './lane-links.tsx'
import {
  type LanePicture,
  leadLabel,
  type Marker,
  markersOf,
  pictureRows,
  pictureText,
  placeLanes,
  type Side,
  ticksOf,
} from './lane-model.ts'
import type { LaneName, PlacedLane, Widths } from './lanes.ts'
import { bestLinks } from './links.ts'
import { position, rounded } from './scale.ts'

const HEADER = 40
const SCORE = 54
const ROW = 26
/** The space above and below the rows. Each row already includes the space below its bar. */
const PADDING = 10
const WIDE: Widths = { wide: 840, narrow: 240 }
const SMALL: Widths = { wide: 360, narrow: 220, gutter: false }
const ICONS: Readonly<Record<LaneName | 'score', IconName>> = {
  ...{ score: 'chart', ci: 'branch', rollouts: 'layers', cluster: 'box', alerts: 'pulse', people: 'person' },
}

/** A lane with its position in the picture, in px from the top. */
export type LaidLane = PlacedLane & { readonly y: number; readonly height: number }

/**
 * Draws the picture. A `small` picture, as on the overview, has no names and no score. `scores`: whether to show the
 * scores of the links. `widths` is set if the picture is narrower than a page.
 */
export const Lanes: FC<{ picture: LanePicture; small?: boolean; scores?: boolean; widths?: Widths }> = (props) => {
  const { picture, small, scores = false, widths } = props
  const sizes = widths ?? (small ? SMALL : WIDE)
  const withScore = !small && picture.score !== null
  const top = HEADER + (withScore ? SCORE : 0)
  const lanes = layOut(placeLanes(picture, sizes), top)
  const height = lanes.at(-1) ? (lanes.at(-1)?.y ?? 0) + (lanes.at(-1)?.height ?? 0) : top
  const gutter = lanes.some(({ bars }) => bars.some(({ place }) => place === 'gutter'))
  const best = bestLinks(
    picture,
    lanes.flatMap(({ bars }) => bars),
  )
  const links = { picture, best, lanes, widths: sizes, scores }
  const kind = `lanes ${small ? 'lanes-small' : gutter ? 'lanes-gutter' : 'lanes-fit'}`
  return (
    <figure class="lanes-scroll" aria-label={pictureText(picture)}>
      <div class={kind}>
        <svg class="lanes-plot" width="100%" height={height}>
          <Ground picture={picture} widths={sizes} lanes={lanes} height={height} />
          {withScore ? <ScoreLane picture={picture} y={HEADER} height={SCORE} /> : null}
          {small ? null : <Names lanes={lanes} withScore={withScore} />}
          <Header picture={picture} widths={sizes} height={height} gutter={gutter} />
          <LaneLinks {...links} part="lines" />
          <LaneBars picture={picture} best={best} lanes={lanes} widths={sizes} />
          <LaneLinks {...links} part="ends" />
        </svg>
      </div>
    </figure>
  )
}

const SCORE_PADDING = 8
/** Below the first score, a service is degraded. Below the second score, a service is critical. */
const GUIDES = [80, 40]

const ScoreLane: FC<{ picture: LanePicture; y: number; height: number }> = ({ picture, y, height }) => {
  const { score, span } = picture
  const spans = spansOf(score ?? [], span.from, span.to)
  const bottom = y + height - SCORE_PADDING
  const place = (value: number) =>
    rounded(bottom - (Math.min(100, Math.max(0, value)) / 100) * (height - 2 * SCORE_PADDING))
  const last = spans.at(-1)
  return (
    <g class="lanes-score">
      {GUIDES.map((guide) => (
        <line class="lanes-guide" x1="0" x2="100%" y1={place(guide)} y2={place(guide)} />
      ))}
      {spans.map(({ startsAt, endsAt, status, score }, index) => {
        const [from, to] = [position(startsAt, span), position(endsAt, span)]
        const before = spans[index - 1]
        const top = place(score)
        if (status === 'unknown')
          return <line class="score-unknown" x1={`${from}%`} x2={`${to}%`} y1={bottom} y2={bottom} />
        return (
          <g class={`level-${status}`}>
            <rect x={`${from}%`} width={`${rounded(to - from)}%`} y={top} height={rounded(bottom - top)} />
            {before && before.status !== 'unknown' ? (
              <line x1={`${from}%`} x2={`${from}%`} y1={place(before.score)} y2={top} />
            ) : null}
            <line x1={`${from}%`} x2={`${to}%`} y1={top} y2={top} />
          </g>
        )
      })}
      <line class="lanes-line" x1="0" x2="100%" y1={y + height - 0.5} y2={y + height - 0.5} />
      {last && last.status !== 'unknown' && last.endsAt >= span.to ? (
        <text class="lanes-value" x="100%" dx="8" y={Math.min(bottom, Math.max(y + 18, place(last.score) + 4))}>
          {last.score}
        </text>
      ) : null}
    </g>
  )
}

/** Renders the same content as a table that is initially collapsed. */
export const LanesTable: FC<{ picture: LanePicture }> = ({ picture }) => (
  <details class="lanes-table">
    <summary>As a table</summary>
    <Table names={['From', 'Until', 'Lane', 'What happened']}>
      {pictureRows(picture).map(({ from, until, lane, text, href }) => (
        <tr>
          <td class="nowrap">{from}</td>
          <td class="nowrap">{until}</td>
          <td class="nowrap">{lane}</td>
          <td class="break">
            {href === null ? (
              <Words text={text} />
            ) : (
              <a href={href}>
                <Words text={text} />
              </a>
            )}
          </td>
        </tr>
      ))}
    </Table>
  </details>
)

function layOut(lanes: readonly PlacedLane[], top: number): LaidLane[] {
  let y = top
  return lanes.map((lane) => {
    const height = PADDING + ROW * (lane.rows + (lane.hidden.length > 0 ? 1 : 0))
    const laid = { ...lane, y, height }
    y += height
    return laid
  })
}

/** Draws the background: the incident's tint, the lines between lanes, and the grid. */
const Ground: FC<{ picture: LanePicture; widths: Widths; lanes: readonly LaidLane[]; height: number }> = (props) => {
  const { picture, widths, lanes, height } = props
  const { firstAlertAt, recoveredAt, resolvedAt, span } = picture
  const from = firstAlertAt === null ? null : position(firstAlertAt, span)
  const to = position(recoveredAt ?? resolvedAt ?? span.to, span)
  return (
    <g>
      {from === null || to <= from ? null : (
        <rect class="lanes-period" x={`${from}%`} y={HEADER} width={`${to - from}%`} height={height - HEADER} />
      )}
      {ticksOf(picture, widths).map(({ x, onlyWide }) => (
        <line class={`lanes-grid ${onlyWide ? 'only-wide' : ''}`} x1={`${x}%`} x2={`${x}%`} y1={HEADER} y2={height} />
      ))}
      {lanes.map(({ y, height }) => (
        <line class="lanes-line" x1="0" x2="100%" y1={y + height - 0.5} y2={y + height - 0.5} />
      ))}
    </g>
  )
}

const Names: FC<{ lanes: readonly LaidLane[]; withScore: boolean }> = ({ lanes, withScore }) => {
  const named = lanes.map(({ name, y, height }) => ({ name, middle: y + Math.min(height, PADDING + ROW) / 2 }))
  const all = withScore ? [{ name: 'score' as const, middle: HEADER + SCORE / 2 }, ...named] : named
  return (
    <g class="lanes-names">
      {all.map(({ name, middle }) => (
        <g transform={`translate(0 ${middle - 8})`}>
          <use class="icon" href={`#i-${ICONS[name]}`} width="16" height="16" />
          <text x="26" y="12.5">
            {name}
          </text>
        </g>
      ))}
    </g>
  )
}

/** Draws the axis, the incident's key moments, and the time between the most likely change and the first alert. */
const Header: FC<{ picture: LanePicture; widths: Widths; height: number; gutter: boolean }> = (props) => {
  const { picture, widths, height, gutter } = props
  const markers = markersOf(picture, widths, gutter)
  return (
    <g>
      {ticksOf(picture, widths).map(({ x, label, onlyWide }) => (
        <text class={`lanes-tick ${onlyWide ? 'only-wide' : ''}`} x={`${x}%`} y="34">
          {label}
        </text>
      ))}
      {/* A marker without a label has a shorter line, which does not cross the label of another marker. */}
      {markers.map(({ kind, x, side }) => (
        <g class={`lanes-marker level-${MARKER_LEVELS[kind]}`}>
          <line x1={`${x}%`} x2={`${x}%`} y1={side === 'none' ? HEADER : 6} y2={height} />
        </g>
      ))}
      {/* Labels are drawn after all lines, so that no line crosses the label of another marker. */}
      {markers.map((marker) => (
        <g class={`lanes-marker level-${MARKER_LEVELS[marker.kind]}`}>
          <MarkerLabel marker={marker} />
        </g>
      ))}
      {picture.span.to >= picture.now ? (
        <line class="lanes-now" x1="100%" x2="100%" y1={HEADER} y2={height}>
          <title>now</title>
        </line>
      ) : null}
      <Lead picture={picture} widths={widths} />
    </g>
  )
}

const MARKER_LEVELS: Readonly<Record<Marker['kind'], string>> = {
  'first-alert': 'critical',
  recovered: 'done',
  acknowledged: 'person',
  resolved: 'done',
}

const MarkerLabel: FC<{ marker: Marker }> = ({ marker: { side, narrowSide, x, text } }) => {
  const label = (where: Side, only: string) =>
    where === 'none' ? null : (
      <text
        class={`halo ${only}`}
        x={`${x}%`}
        dx={where === 'right' ? 5 : -5}
        y="15"
        text-anchor={where === 'right' ? 'start' : 'end'}
      >
        {text}
      </text>
    )
  if (side === narrowSide) return label(side, '')
  return (
    <>
      {label(side, 'only-wide')}
      {label(narrowSide, 'only-narrow')}
    </>
  )
}

/** Draws the dimension line. The text is above the line, or to the left of a short line. */
const Lead: FC<{ picture: LanePicture; widths: Widths }> = ({ picture, widths }) => {
  const { lead, span } = picture
  if (!lead || lead.to - lead.from < 1000 || lead.from < span.from || lead.to > span.to) return null
  const [from, to] = [position(lead.from, span), position(lead.to, span)]
  const { text, fits, isLeftOf } = leadLabel(lead, span, widths)
  const [x, dx, y, anchor] = fits ? [(from + to) / 2, 0, 9, 'middle'] : [from, -6, 19, 'end']
  return (
    <g class="lanes-marker level-change">
      <line x1={`${from}%`} x2={`${to}%`} y1="15" y2="15" />
      <line x1={`${from}%`} x2={`${from}%`} y1="10" y2="20" />
      <line x1={`${to}%`} x2={`${to}%`} y1="10" y2="20" />
      {fits || isLeftOf.wide ? (
        <text
          class={fits || isLeftOf.narrow ? 'halo' : 'halo only-wide'}
          {...{ x: `${x}%`, dx, y, 'text-anchor': anchor }}
        >
          {text}
        </text>
      ) : null}
    </g>
  )
}
