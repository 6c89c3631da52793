/** Which links between changes and conditions a lane picture draws. */
import { DAY } from '../../domain/units.ts'
import type { LaneLink, LanePicture } from './lane-model.ts'
import type { LaneBar } from './lanes.ts'

const MAX_TRUNKS = 3
/** In a long span, a shorter branch would hide what it connects. As a part of the span. */
const LEAST_BRANCH = 1 / 140

/** Returns the links to draw, best first: both ends are shown, and far enough from each other in a long span. */
export function bestLinks(
  { links, span: { from, to } }: LanePicture,
  shown: readonly Pick<LaneBar, 'id' | 'startsAt'>[],
): readonly LaneLink[] {
  const starts = new Map(shown.map(({ id, startsAt }) => [id, startsAt]))
  const isDrawn = ({ change, condition, verdict }: LaneLink) => {
    const [start, end] = [starts.get(change), starts.get(condition)]
    if (verdict === 'rejected' || start === undefined || end === undefined) return false
    return to - from <= DAY / 4 || Math.abs(end - start) / (to - from) >= LEAST_BRANCH
  }
  return links.filter(isDrawn).toSorted((a, b) => orderOf(b) - orderOf(a))
}

/** Returns the changes with a vertical line. */
export function trunksOf(best: readonly LaneLink[]): readonly string[] {
  return [...new Set(best.map(({ change }) => change))].slice(0, MAX_TRUNKS)
}

function orderOf({ score, verdict }: LaneLink): number {
  return score + (verdict === 'confirmed' ? 1 : 0)
}
