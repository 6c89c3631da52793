/** The gaps of a flapping alert: when it had ended and was to fire again. */

/** From an end to the next start, as Unix times in milliseconds. */
export type Gap = readonly [from: number, to: number]

/** The maximum number of gaps that a picture shows. */
const MAX_GAPS = 100

type Period = { readonly startsAt: number; readonly endsAt: number | null }

/** Returns the times at which none of the alerts was firing, between the first start and the last. */
export function gapsBetween(alerts: readonly Period[]): readonly Gap[] {
  const runs = runsOf(alerts)
  const gaps = runs.slice(1).map(({ start }, index): Gap => [runs[index]?.end ?? start, start])
  return gaps.slice(-MAX_GAPS)
}

/** Returns the alerts by the periods without a gap in which at least one of them was firing, earliest first. */
export function runsOf<Alert extends Period>(alerts: readonly Alert[]) {
  const runs: { readonly start: number; end: number; readonly alerts: Alert[] }[] = []
  for (const alert of alerts.toSorted((a, b) => a.startsAt - b.startsAt)) {
    const end = alert.endsAt ?? Number.POSITIVE_INFINITY
    const last = runs.at(-1)
    if (!last || alert.startsAt > last.end) runs.push({ start: alert.startsAt, end, alerts: [alert] })
    else {
      last.end = Math.max(last.end, end)
      last.alerts.push(alert)
    }
  }
  return runs
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
