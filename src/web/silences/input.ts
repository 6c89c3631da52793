/** Converts between the silence form and the API's request body. */
import { IncmonError } from '../../domain/error.ts'
import { MAX_MATCHERS, type Matcher, OPERATORS, type Operator, parseMatchers } from '../../domain/silence/matcher.ts'
import type { LiveSilence, SilenceStatus } from '../../domain/silence/silence.ts'
import { instantOf, isTimeZone, localTimeOf } from '../../domain/time-zone.ts'
import type { QUICK_LENGTHS } from '../kit/silenced.tsx'
import type { FieldNames } from '../visit/apply.ts'
import { choiceOf } from '../visit/choice.ts'
import type { Form } from '../visit/form.ts'

export type SilenceView = Omit<LiveSilence, 'rowId' | 'organizationId' | 'revision'> & {
  readonly status: SilenceStatus
  /** The number of firing alerts that are currently silenced by this silence. */
  readonly matching: number
}

export type SilencePreview = {
  readonly matching: number
  readonly matchingLast30Days: number
  readonly warning: string | null
}

/** The durations offered in the form. */
export const LENGTHS = [
  ['30m', '30 min', 1_800_000],
  ['2h', '2 h', 7_200_000],
  ['8h', '8 h', 28_800_000],
  ['1d', '1 day', 86_400_000],
  ['7d', '7 days', 604_800_000],
] as const
type Length = (typeof LENGTHS)[number][0] | 'until'

/** The submitted fields of a silence. `startsAt` and `endsAt` are local times such as 2026-11-22T18:00, or empty. */
export type SilenceForm = {
  readonly matchers: readonly { readonly name: string; readonly op: Operator; readonly value: string }[]
  readonly startsAt: string
  readonly length: Length
  readonly endsAt: string
  readonly zone: string
  readonly isWeekly: boolean
  readonly weekdays: readonly string[]
  readonly from: string
  readonly to: string
  readonly comment: string
  /** The revision that the form was opened with; '' for a new silence. */
  readonly revision: string
}

const FIRST_LINES = 2
const NIGHT = { weekdays: ['saturday'], from: '22:00', to: '06:00' } as const
const LENGTH_WORDS = [...LENGTHS.map(([word]) => word), 'until'] as const

/** Maps the names of API fields to form fields. */
export const SILENCE_FIELDS: FieldNames = {
  matchers: ['matchers', 'Which alerts'],
  'matchers[].name': ['name-#', 'Line #, field or label'],
  'matchers[].op': ['op-#', 'Line #, test'],
  'matchers[].value': ['value-#', 'Line #, value'],
  startsAt: ['startsAt', 'Begins'],
  endsAt: ['endsAt', 'Ends'],
  zone: ['zone', 'Time zone'],
  'schedule.timeZone': ['zone', 'Time zone'],
  'schedule.weekdays': ['weekdays', 'Start on'],
  schedule: ['weekdays', 'Start on'],
  'schedule.from': ['from', 'From'],
  'schedule.to': ['to', 'To'],
  comment: ['comment', 'Why'],
}

/** Returns the form for a new silence. `text` contains matchers from the query, in Alertmanager's syntax. */
export function newSilenceForm(text: string, zone: string): SilenceForm {
  const period = { startsAt: '', length: '2h', endsAt: '', zone } as const
  return { matchers: lines(matchersIn(text)), ...period, isWeekly: false, ...NIGHT, comment: '', revision: '' }
}

/** Returns the form for a stored silence. */
export function silenceForm(silence: LiveSilence, viewerZone: string): SilenceForm {
  const { matchers, startsAt, endsAt, schedule, comment, revision } = silence
  const zone = schedule?.timeZone ?? viewerZone
  const { weekdays, from, to } = schedule ?? NIGHT
  return {
    matchers: lines(matchers),
    ...{ startsAt: localText(startsAt, zone), length: 'until', endsAt: localText(endsAt, zone), zone },
    ...{ isWeekly: schedule !== null, weekdays, from, to, comment, revision: String(revision) },
  }
}

/** Returns the submitted form without empty matcher rows. */
export function readSilenceForm(form: Form): SilenceForm {
  const count = Math.min(MAX_MATCHERS + 1, Math.max(1, Number(form.text('matchers')) || 1))
  const matchers = Array.from({ length: count }, (_, index) => ({
    name: form.text(`name-${index}`),
    op: choiceOf(form.text(`op-${index}`), OPERATORS, '='),
    value: form.text(`value-${index}`),
  }))
  return {
    matchers: lines(matchersOf({ matchers })),
    ...form.record(['startsAt', 'endsAt', 'from', 'to', 'comment', 'revision']),
    length: choiceOf(form.text('length'), LENGTH_WORDS, 'until'),
    zone: form.zone('zone'),
    isWeekly: form.text('repeat') === 'weekly',
    weekdays: form.texts('weekdays'),
  }
}

/** Returns the form with an additional matcher row. */
export function withLine(form: SilenceForm): SilenceForm {
  return { ...form, matchers: [...form.matchers, { name: '', op: '=', value: '' }] }
}

/** Returns the matchers of the form without empty rows. */
export function matchersOf({ matchers }: Pick<SilenceForm, 'matchers'>): readonly Matcher[] {
  return matchers.filter(({ name, value }) => name !== '' || value !== '')
}

/**
 * Returns the request body for a submitted form. An unchanged time is omitted, so that the stored milliseconds are
 * kept.
 * @throws IncmonError `invalid` if a time or the time zone cannot be parsed
 */
export function silenceBody(form: SilenceForm, now: number, stored: LiveSilence | null) {
  const { zone, isWeekly, weekdays, from, to, comment } = form
  if (!isTimeZone(zone)) throw invalid('zone', 'expected a time zone such as Europe/Berlin')
  const isSame = (text: string, at: number | undefined) =>
    at !== undefined && text.replace('T', ' ') === localText(at, zone)
  const startsAt =
    form.startsAt === '' || isSame(form.startsAt, stored?.startsAt) ? null : read('startsAt', form.startsAt, zone)
  const length = LENGTHS.find(([word]) => word === form.length)?.[2]
  const begin = startsAt ?? (form.startsAt === '' ? now : (stored?.startsAt ?? now))
  const endsAt =
    length === undefined
      ? isSame(form.endsAt, stored?.endsAt)
        ? null
        : read('endsAt', form.endsAt, zone)
      : begin + length
  return {
    matchers: matchersOf(form),
    ...(startsAt === null ? {} : { startsAt: new Date(startsAt).toISOString() }),
    ...(endsAt === null ? {} : { endsAt: new Date(endsAt).toISOString() }),
    schedule: isWeekly ? { weekdays, from, to, timeZone: zone } : null,
    comment,
    ...(form.revision === '' ? {} : { revision: Number(form.revision) }),
  }
}

/** Returns when a silence of a quick length ends. */
export function quickEnd(length: (typeof QUICK_LENGTHS)[number][0], now: number, zone: string): number {
  const known = LENGTHS.find(([word]) => word === length)
  if (known) return now + known[2]
  const { year, month, day } = localTimeOf(now, zone)
  return instantOf({ year, month, day: day + 1, hour: 8, minute: 0 }, zone)
}

function read(path: 'startsAt' | 'endsAt', text: string, zone: string): number {
  const match = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)/.exec(text)
  if (!match) throw invalid(path, 'write the date and the time as 2026-11-23 14:30')
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = match.slice(1).map(Number)
  return instantOf({ year, month, day, hour, minute }, zone)
}

function localText(at: number, zone: string): string {
  const { year, month, day, hour, minute } = localTimeOf(at, zone)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}`
}

function matchersIn(text: string): readonly Matcher[] {
  try {
    return parseMatchers(text).slice(0, MAX_MATCHERS)
  } catch {
    return []
  }
}

function lines(matchers: readonly Matcher[]): SilenceForm['matchers'] {
  const missing = Math.max(0, FIRST_LINES - matchers.length)
  return [...matchers, ...Array.from({ length: missing }, () => ({ name: '', op: '=' as const, value: '' }))]
}

function invalid(path: string, message: string): IncmonError {
  return new IncmonError('invalid', `${path}: ${message}`, [{ path, message }])
}
