/** The content of a lane picture: its markers, its description for screen readers, and its table rows. */
import { type StatusChange, spansOf } from '../../domain/health/strip.ts'
import { formatClock, formatMoment, formatSpan } from '../../domain/shown-time.ts'
import { capitalized, countOf, formatSeconds, joinNames, secondsBetween } from '../../domain/text.ts'
import {
  LANES,
  type LabelPlace,
  type LaneBar,
  type LaneName,
  type PlacedBar,
  type PlacedLane,
  placeLane,
  type Widths,
} from './lanes.ts'
import { position, type Span, type Tick, timeTicks } from './scale.ts'

/** A link between a change and a condition. `score` is between 0 and 1. */
export type LaneLink = {
  readonly change: string
  readonly condition: string
  readonly score: number
  readonly band: 'strong' | 'probable' | 'possible'
  readonly verdict: 'confirmed' | 'rejected' | null
}

/** The content of a picture. Times are Unix times in milliseconds, or null. */
export type LanePicture = {
  readonly span: Span
  readonly now: number
  readonly zone: string
  readonly lanes: readonly LaneName[]
  readonly bars: readonly LaneBar[]
  readonly links: readonly LaneLink[]
  /** The score over time; null to omit the score lane. */
  readonly score: readonly StatusChange[] | null
  readonly firstAlertAt: number | null
  readonly acknowledgedAt: number | null
  readonly resolvedAt: number | null
  /** When the problem ended; null while it goes on. */
  readonly recoveredAt: number | null
  /** The id of the change that probably ended the problem, or null. */
  readonly fix: string | null
  /** The period between the start of the most likely change and the first alert. */
  readonly lead: Span | null
  /** The URL of a list that contains the items for which the picture has no row. */
  readonly moreHref: string | null
}

export type Marker = {
  readonly kind: 'first-alert' | 'recovered' | 'acknowledged' | 'resolved'
  readonly x: number
  readonly text: string
  /** The side on which the label is placed in a wide picture. `narrowSide` is the side on a phone. */
  readonly side: Side
  readonly narrowSide: Side
}
export type Side = 'right' | 'left' | 'none'

const MARKER_TEXTS: Readonly<Record<Marker['kind'], string>> = {
  'first-alert': 'first alert',
  recovered: 'problem over',
  acknowledged: 'acknowledged',
  resolved: 'resolved',
}
/** The minimum distance between a tick and a marker, in px. Closer ticks are omitted. */
const NEAR_MARKER = 26
const CHARACTER = 6.5

/** Returns the lanes in page order, with their bars arranged in rows. */
export function placeLanes(picture: LanePicture, sizes: Widths): readonly PlacedLane[] {
  const { lanes, bars, links, span, now, firstAlertAt, recoveredAt, resolvedAt, acknowledgedAt } = picture
  const moments = [firstAlertAt, recoveredAt, resolvedAt, acknowledgedAt]
  const linked = new Set(links.flatMap(({ verdict, condition }) => (verdict === 'rejected' ? [] : [condition])))
  const widths = { ...sizes, linked, lines: moments.flatMap((at) => (at == null ? [] : [position(at, span)])) }
  const lanesPlaced = LANES.filter((name) => lanes.includes(name)).map((name) => {
    const own = bars.filter(({ lane }) => lane === name)
    return { own, placed: placeLane(name, own, span, now, widths) }
  })
  const hasGutter = (lane: PlacedLane) => lane.bars.some(({ place }) => place === 'gutter')
  if (!lanesPlaced.some(({ placed }) => hasGutter(placed))) return lanesPlaced.map(({ placed }) => placed)
  // On phones, a lane can extend its last labels into an unused gutter, because phones show only the right end of the
  // picture.
  const beyond = { ...widths, beyond: GUTTER }
  return lanesPlaced.map(({ own, placed }) => {
    if (hasGutter(placed)) return { ...placed, bars: placed.bars.map((bar) => ({ ...bar, ...atPlace(bar.place) })) }
    const phone = new Map(placeLane(placed.name, own, span, now, beyond).bars.map((bar) => [bar.id, bar]))
    return { ...placed, bars: placed.bars.map((bar) => ({ ...bar, ...atPlace(narrowOf(bar, phone.get(bar.id))) })) }
  })
}

function atPlace(narrowPlace: LabelPlace): Pick<PlacedBar, 'narrowPlace' | 'narrowBeside'> {
  return { narrowPlace, narrowBeside: undefined }
}

/** Returns the label's position on a phone. The bar is in the same row as in the wide picture. */
function narrowOf({ row, place }: PlacedBar, phone: PlacedBar | undefined): LabelPlace {
  return phone?.row === row ? phone.place : place
}

/** The space for labels to the right of the picture, in px. */
const GUTTER = 170
/** The space without labels to the right of a picture, in px. */
const MARGIN = 16

/** Returns marker lines for the incident's key moments within the span. Labels that would overlap are omitted. */
export function markersOf(picture: LanePicture, widths: Widths, gutter = false): readonly Marker[] {
  const { span, zone, firstAlertAt, acknowledgedAt, resolvedAt, recoveredAt } = picture
  // The most important label is placed first.
  const moments = [
    ['first-alert', firstAlertAt],
    ['recovered', recoveredAt === resolvedAt ? null : recoveredAt],
    ['resolved', resolvedAt],
    ['acknowledged', acknowledgedAt],
  ] as const
  const taken = { wide: leadSpan(picture, widths, widths.wide), narrow: leadSpan(picture, widths, widths.narrow) }
  const more = gutter ? GUTTER : MARGIN
  return moments.flatMap(([kind, at]) => {
    if (at === null || at < span.from || at > span.to) return []
    const x = position(at, span)
    const text = `${MARKER_TEXTS[kind]} ${formatClock(at, zone)}`
    const side = sideFor({ x, text, kind, width: widths.wide, more, taken: taken.wide })
    const narrowSide = gutter ? side : sideFor({ x, text, kind, width: widths.narrow, more, taken: taken.narrow })
    return [{ kind, x, text, side, narrowSide }]
  })
}

type Wanted = {
  readonly x: number
  readonly text: string
  readonly kind: Marker['kind']
  readonly width: number
  readonly more: number
  readonly taken: [number, number][]
}

/** Returns the first side that has enough space, and reserves the space. */
function sideFor({ x, text, kind, width, more, taken }: Wanted): Side {
  const px = (x / 100) * width
  const length = text.length * CHARACTER + 6
  const sides =
    kind === 'resolved' || kind === 'recovered' ? (['left', 'right'] as const) : (['right', 'left'] as const)
  for (const side of sides) {
    const [from, to] = side === 'right' ? [px, px + length] : [px - length, px]
    if (from < 0 || to > width + more || taken.some(([left, right]) => from < right && to > left)) continue
    taken.push([from, to])
    return side
  }
  return 'none'
}

/**
 * Returns the text of the dimension line. `fits`: whether it fits above the line on a phone. `isLeftOf`: whether it fits
 * to the left of the line, where a small picture has no names.
 */
export function leadLabel(lead: Span, span: Span, { wide, narrow, gutter = true }: Widths) {
  const text = formatSeconds(secondsBetween(lead.from, lead.to))
  const [from, to] = [position(lead.from, span), position(lead.to, span)]
  const isLeftOf = (width: number, names: number) =>
    (from / 100) * width + (gutter ? names : 0) >= text.length * CHARACTER + 10
  return {
    text,
    fits: ((to - from) / 100) * narrow >= text.length * (CHARACTER - 1),
    isLeftOf: { wide: isLeftOf(wide, 104), narrow: isLeftOf(narrow, 26) },
  }
}

/** Returns the width that the dimension line and its text take up in the header, in px. */
function leadSpan({ lead, span }: LanePicture, widths: Widths, width: number): [number, number][] {
  if (!lead) return []
  const [from, to] = [(position(lead.from, span) / 100) * width, (position(lead.to, span) / 100) * width]
  const { text, fits } = leadLabel(lead, span, widths)
  return [[fits ? from : from - text.length * CHARACTER - 6, to]]
}

/**
 * Returns the ticks of the axis, except those covered by a marker. Every second tick is shown only in wide pictures.
 */
export function ticksOf(picture: LanePicture, widths: Widths): readonly (Tick & { readonly onlyWide: boolean })[] {
  const markers = markersOf(picture, widths).map(({ x }) => x)
  const far = (x: number, width: number) => markers.every((one) => (Math.abs(one - x) / 100) * width >= NEAR_MARKER)
  return timeTicks(picture.span, widths.wide, picture.zone).flatMap((tick, index) =>
    far(tick.x, widths.wide) ? [{ ...tick, onlyWide: index % 2 === 1 || !far(tick.x, widths.narrow) }] : [],
  )
}

/** Describes the picture: its span, the content of each lane, the score, and the incident's key moments. */
export function pictureText(picture: LanePicture): string {
  const { span, zone, lanes, bars } = picture
  const counts = lanes.flatMap((lane) => {
    const count = bars.filter((bar) => bar.lane === lane).length
    return count === 0 ? [] : [countOf(count, NOUNS[lane])]
  })
  const range = `What happened from ${formatSpan(span, { now: span.to, zone })}`
  const moments = markersOf(picture, { wide: 800, narrow: 300 }).map(({ text }) => text)
  const lead = picture.lead
    ? `best suspect ${formatSeconds(secondsBetween(picture.lead.from, picture.lead.to))} before the first alert`
    : ''
  const parts = [scoreText(picture), ...moments, lead].filter((part) => part !== '')
  return `${range}: ${counts.length === 0 ? 'nothing' : joinNames(counts)}.${parts.map((part) => ` ${capitalized(part)}.`).join('')}`
}

const NOUNS: Readonly<Record<LaneName, string>> = {
  ci: 'pipeline',
  rollouts: 'rollout',
  cluster: 'cluster condition',
  alerts: 'alert',
  people: 'action',
}

function scoreText({ score, span }: LanePicture): string {
  const parts = spansOf(score ?? [], span.from, span.to).filter(({ status }) => status !== 'unknown')
  const [first, last] = [parts[0], parts.at(-1)]
  if (!first || !last) return ''
  const lowest = parts.reduce((least, { score }) => Math.min(least, score), 100)
  return `score ${first.score} at the start, ${lowest} at the lowest point, ${last.score} at the end`
}

type PictureRow = {
  readonly lane: LaneName
  readonly from: string
  readonly until: string
  readonly text: string
  readonly href: string | null
}

/** Returns the same content as chronological table rows. */
export function pictureRows({ bars, lanes, now, zone }: LanePicture): readonly PictureRow[] {
  const reader = { now, zone }
  return [...bars]
    .filter(({ lane }) => lanes.includes(lane))
    .sort((a, b) => a.startsAt - b.startsAt || (a.id < b.id ? -1 : 1))
    .map(({ lane, startsAt, endsAt, title, href, shape }) => ({
      lane,
      from: formatMoment(startsAt, reader),
      until: shape === 'diamond' ? '' : endsAt === null ? 'now' : formatMoment(endsAt, reader),
      text: title,
      href,
    }))
}
