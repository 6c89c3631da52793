/** Which links between changes and conditions a lane picture draws. */
import { DAY } from '../../domain/units.ts'
import type { LaneLink, LanePicture } from './lane-model.ts'
import type { PlacedLane } from './lanes.ts'
import type { Span } from './scale.ts'

const MAX_TRUNKS = 3
/** In a long span, a shorter branch would hide what it connects. As a part of the span. */
const LEAST_BRANCH = 1 / 140

/** Returns whether both ends of a link are shown, and far enough from each other unless the span is short. */
export function isDrawn(
  starts: ReadonlyMap<string, number>,
  { change, condition }: Pick<LaneLink, 'change' | 'condition'>,
  { from, to }: Span,
): boolean {
  const [start, end] = [starts.get(change), starts.get(condition)]
  if (start === undefined || end === undefined) return false
  return to - from <= DAY / 4 || Math.abs(end - start) / (to - from) >= LEAST_BRANCH
}

/** Returns the links whose both ends have a place in the picture, best first. */
export function bestLinks({ links, span }: LanePicture, lanes: readonly PlacedLane[]): readonly LaneLink[] {
  const starts = new Map(lanes.flatMap(({ bars }) => bars.map((bar) => [bar.id, bar.startsAt] as const)))
  return links
    .filter((link) => link.verdict !== 'rejected' && isDrawn(starts, link, span))
    .toSorted((a, b) => orderOf(b) - orderOf(a))
}

/** Returns the changes with a vertical line. */
export function trunksOf(best: readonly LaneLink[]): readonly string[] {
  return [...new Set(best.map(({ change }) => change))].slice(0, MAX_TRUNKS)
}

function orderOf({ score, verdict }: LaneLink): number {
  return score + (verdict === 'confirmed' ? 1 : 0)
}
