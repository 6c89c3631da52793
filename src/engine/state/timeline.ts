/** An index by time. */
import type { Journal, Undo } from './journal.ts'

/** Row ids sorted by time and then by row id. */
type Timeline = {
  readonly add: (time: number, rowId: number) => void
  readonly remove: (time: number, rowId: number) => void
  readonly size: () => number
  readonly at: (position: number) => number | undefined
  /** Returns the number of entries before a time. */
  readonly before: (time: number) => number
}

export function createTimeline(journal: Journal): Timeline {
  const times: number[] = []
  const rowIds: number[] = []
  const position = (time: number, rowId: number) => {
    let [low, high] = [0, times.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = times[middle] ?? 0
      if (at < time || (at === time && (rowIds[middle] ?? 0) < rowId)) low = middle + 1
      else high = middle
    }
    return low
  }
  const put = (time: number, rowId: number) => {
    const index = position(time, rowId)
    // New entries usually have the latest time and go to the end.
    if (index === times.length) {
      times.push(time)
      rowIds.push(rowId)
    } else {
      times.splice(index, 0, time)
      rowIds.splice(index, 0, rowId)
    }
  }
  const drop = (time: number, rowId: number) => {
    const index = position(time, rowId)
    times.splice(index, 1)
    rowIds.splice(index, 1)
  }
  return {
    add: (time, rowId) => {
      journal.record(drop as Undo, time as never, rowId as never)
      put(time, rowId)
    },
    remove: (time, rowId) => {
      journal.record(put as Undo, time as never, rowId as never)
      drop(time, rowId)
    },
    size: () => times.length,
    at: (index) => rowIds[index],
    before: (time) => position(time, -1),
  }
}
