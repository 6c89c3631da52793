/** Converts time intervals to quiet hours. */
import { type QuietHours, quietHoursFault } from '../../domain/notification/rule.ts'
import { WEEKDAYS, type Weekday } from '../../domain/time-zone.ts'
import type { AddNote } from './alertmanager-file.ts'
import { recordsOf, textOf, textsOf } from './fields.ts'

type Fields = Readonly<Record<string, unknown>>

/** Returns the time intervals that quiet hours can express, by name. */
export function intervalsOf(config: Fields, note: AddNote): ReadonlyMap<string, QuietHours> {
  const found = new Map<string, QuietHours>()
  for (const section of ['time_intervals', 'mute_time_intervals']) {
    recordsOf(config[section]).forEach((interval, index) => {
      const quiet = quietHoursOf(recordsOf(interval.time_intervals))
      if (typeof quiet !== 'string') found.set(String(interval.name), quiet)
      else note([section, index], `the time interval ${interval.name} was not imported: ${quiet}`)
    })
  }
  return found
}

function quietHoursOf([only, ...more]: readonly Fields[]): QuietHours | string {
  const [times = {}, ...others] = recordsOf(only?.times)
  if (!only || more.length > 0 || others.length > 0) return 'quiet hours have one period'
  const unknown = ['days_of_month', 'months', 'years'].find((name) => name in only)
  if (unknown) return `quiet hours have no ${unknown}`
  const weekdays = weekdaysOf(textsOf(only.weekdays))
  if (weekdays === null) return 'its weekdays are invalid'
  const [from, to] = [clock(times.start_time), clock(times.end_time)]
  const quiet = { from, to, timeZone: textOf(only.location) ?? 'UTC', ...(weekdays.length === 0 ? {} : { weekdays }) }
  return quietHoursFault(quiet)?.message ?? quiet
}

/** Alertmanager ends a day at 24:00. YAML reads an unquoted 22:00 as text. */
function clock(value: unknown): string {
  const text = textOf(value) ?? '00:00'
  return text === '24:00' ? '00:00' : text.padStart(5, '0')
}

/** Returns the days of texts such as `monday:friday`, or null if one is invalid. */
function weekdaysOf(texts: readonly string[]): Weekday[] | null {
  const days = new Set<Weekday>()
  for (const text of texts) {
    const [first = '', last = first] = text
      .toLowerCase()
      .split(':')
      .map((day) => day.trim())
    const [from, to] = [WEEKDAYS.indexOf(first as Weekday), WEEKDAYS.indexOf(last as Weekday)]
    if (from < 0 || to < 0) return null
    for (let i = from; ; i = (i + 1) % 7) {
      days.add(WEEKDAYS[i] ?? 'monday')
      if (i === to) break
    }
  }
  return WEEKDAYS.filter((day) => days.has(day))
}
