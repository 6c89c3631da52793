/** The gaps of a flapping alert: when it had ended and was to fire again. */

/** From an end to the next start, as Unix times in milliseconds. */
export type Gap = readonly [from: number, to: number]

/** The maximum number of gaps that a picture shows. */
const MAX_GAPS = 100

/** Returns the times at which none of the alerts was firing, between the first start and the last. */
export function gapsBetween(
  alerts: readonly { readonly startsAt: number; readonly endsAt: number | null }[],
): readonly Gap[] {
  const gaps: Gap[] = []
  let end: number | null = null
  for (const { startsAt, endsAt } of alerts.toSorted((a, b) => a.startsAt - b.startsAt)) {
    if (end !== null && startsAt > end) gaps.push([end, startsAt])
    end = Math.max(end ?? 0, endsAt ?? Number.POSITIVE_INFINITY)
  }
  return gaps.slice(-MAX_GAPS)
}

/** Returns the gaps of one alert, from the events that reported it. */
export function gapsOfEvents(events: readonly { readonly kind: string; readonly at: number }[]): readonly Gap[] {
  const gaps: Gap[] = []
  let end: number | null = null
  for (const { kind, at } of events.toSorted((a, b) => a.at - b.at)) {
    if (kind === 'resolved') end ??= at
    else if (kind === 'firing' && end !== null) {
      if (at > end) gaps.push([end, at])
      end = null
    }
  }
  return gaps.slice(-MAX_GAPS)
}
