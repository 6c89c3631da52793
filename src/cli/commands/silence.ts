/** incmon silence: adds, lists, expires and imports silences. */

import type { Command } from 'commander'
import type { InferInput } from 'valibot'
import { formatMatchers, type Matcher, matchersFault, parseMatchers } from '../../domain/silence/matcher.ts'
import { type Schedule, scheduleFault, windowFault } from '../../domain/silence/silence.ts'
import { WEEKDAYS } from '../../domain/time-zone.ts'
import type { silenceShape } from '../../http/api/silences.ts'
import type { Api } from '../api/api.ts'
import { listServices, type OrganizationOptions, withOrganization, withRecord } from '../api/records.ts'
import { UsageError } from '../failure.ts'
import { parseDuration } from '../input.ts'
import { hint, instant, print, printError, printList } from '../output.ts'
import { addCommand, addOrgCommand } from '../plain-command.ts'
import { importSilences } from './import.ts'
import { parseTime } from './incident/postmortem.ts'

const PATH = '/api/silences'

type Added = OrganizationOptions & {
  readonly comment: string
  /** The length of the silence in milliseconds. */
  readonly for: number
  readonly start?: number
  readonly weekly?: Schedule
  readonly nightly?: Schedule
}

type Silence = InferInput<typeof silenceShape>

/** @param now returns the current Unix time in milliseconds */
export function addSilence(program: Command, now: () => number): void {
  const silence = addCommand(program, 'silence', 'manage silences, which mute matching alerts')
  addOrgCommand(
    silence,
    'add',
    'silence alerts: they are still stored and counted, but open no incidents and send no notifications',
  )
    .argument(
      '<matchers...>',
      `matchers in Alertmanager syntax, such as 'service="checkout"' 'severity=~"warning|info"'`,
    )
    .requiredOption('--comment <text>', 'why the alerts are silenced')
    .requiredOption('--for <duration>', 'the duration, such as 30m, 2h or 7d', parseDuration('--for'))
    .option('--start <time>', 'the start time, such as 2026-11-20T22:00Z (default: now)', parseTime('--start'))
    .option(
      '--weekly <span>',
      'silence alerts only at these times each week, such as "saturday,sunday 22:00-06:00 Europe/Berlin"',
      parseWeekly,
    )
    .option(
      '--nightly <span>',
      'silence alerts only at these times each day, such as "22:00-06:00 Europe/Berlin"',
      parseNightly,
    )
    .action((matchers, options) => silenceAlerts(matchers, options, now()))
  addOrgCommand(silence, 'list', 'list the silences of an organization, newest first')
    .option('--expired', 'include expired silences')
    .action(listSilences)
  addOrgCommand(silence, 'expire', 'end a silence now; alerts that are still firing can then open incidents')
    .argument('<id>', 'the id of the silence, or at least the last 8 characters of the id')
    .action(expireSilence)
  addOrgCommand(silence, 'import', 'import the silences of an Alertmanager; safe to repeat')
    .argument(
      '<source>',
      'the URL of the Alertmanager, or a file with the output of "amtool silence query -o json", or - for standard input',
    )
    .action(importSilences)
}

async function silenceAlerts(texts: readonly string[], options: Added, now: number): Promise<void> {
  const matchers = matchersOf(texts)
  const { comment, start, weekly, nightly } = options
  if (weekly && nightly) throw new UsageError('use either --weekly or --nightly')
  const schedule = weekly ?? nightly ?? null
  const from = start ?? now
  const fault = schedule && windowFault({ startsAt: from, endsAt: from + options.for, schedule }, now)
  if (fault)
    throw new UsageError(`${weekly ? '--weekly' : '--nightly'}: ${fault}: use a longer --for or a later --start`)
  const starts = start === undefined ? {} : { startsAt: instant(start) }
  const body = { matchers, ...starts, endsAt: instant(from + options.for), schedule, comment }
  const { id, endsAt, matching, nextWindow, status, unknown } = await withOrganization(options, async (api) => {
    const silence = await api.json<Silence>('POST', PATH, { body })
    return { ...silence, unknown: silence.matching === 0 ? await unknownServices(api, matchers) : [] }
  })
  for (const name of unknown)
    printError(`there is no service named ${name} yet: ${hint(options, 'service list')} shows all names`)
  if (options.json) return print(JSON.stringify({ id, endsAt, matching }))
  const alerts = matching === 1 ? '1 firing alert matches' : `${matching} firing alerts match`
  const window = nextWindow && (status === 'active' ? 'now' : `next from ${nextWindow.startsAt}`)
  const when = schedule && nextWindow ? `${scheduleText(schedule)}, ${window} to ${nextWindow.endsAt}, ` : ''
  print(`silenced ${formatMatchers(matchers)} ${when}until ${endsAt}: ${alerts}`)
  print(`end it earlier with ${hint(options, `silence expire ${id}`)}`)
}

function matchersOf(texts: readonly string[]): Matcher[] {
  try {
    const matchers = texts.flatMap(parseMatchers)
    const fault = matchersFault(matchers)
    if (fault !== null) throw new SyntaxError(fault)
    return matchers
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`matcher: ${error.message}`)
    throw error
  }
}

/** Returns the service names in the matchers, except the names of existing services. */
async function unknownServices(api: Api, matchers: readonly Matcher[]): Promise<string[]> {
  const names = new Set((await listServices(api, true)).map(({ name }) => name))
  return matchers.flatMap(({ name, op, value }) =>
    name === 'service' && op === '=' && !names.has(value) ? [value] : [],
  )
}

async function listSilences(options: OrganizationOptions & { expired?: boolean }): Promise<void> {
  const path = options.expired ? PATH : `${PATH}?expired=0`
  const items = await withOrganization(options, (api) => api.all<Silence>(path))
  const empty = `there are no silences: add one with ${hint(options, 'silence add')}`
  printList(options, items, empty, {
    STATUS: 'status',
    MATCHERS: ({ matchers }) => formatMatchers(matchers),
    FIRING: 'matching',
    ENDS: 'endsAt',
    SCHEDULE: ({ schedule }) => scheduleText(schedule),
    NEXT: ({ schedule, nextWindow, status }) => {
      if (!schedule || !nextWindow) return ''
      return status === 'active' ? `now, until ${nextWindow.endsAt}` : nextWindow.startsAt
    },
    BY: 'createdBy',
    COMMENT: 'comment',
    ID: 'id',
  })
}

async function expireSilence(id: string, options: OrganizationOptions): Promise<void> {
  const silence = await withRecord<Silence, Silence>('silence', id, options, async ({ api, found }) => {
    await api.json('DELETE', `${PATH}/${found.id}`)
    return found
  })
  const ended = silence.status === 'expired' ? `silence ${silence.id} had already ended` : `ended silence ${silence.id}`
  print(options.json ? JSON.stringify({ id: silence.id }) : ended)
}

/** Parses a schedule such as "saturday,sunday 22:00-06:00 Europe/Berlin". Days without times are whole days. */
function parseWeekly(text: string): Schedule {
  const [, days = '', from = '00:00', to = '00:00', timeZone = 'UTC'] =
    /^([\w,]+)(?:\s+([\d:]+)\s*-\s*([\d:]+))?(?:\s+(\S+))?$/.exec(text.trim()) ?? []
  const words = days.toLowerCase().split(',')
  const weekdays = WEEKDAYS.filter((one) => words.includes(one))
  const isUnknown = words.some((word) => !(WEEKDAYS as readonly string[]).includes(word))
  return checked('--weekly', { weekdays: isUnknown ? [] : weekdays, from, to, timeZone }, 'saturday,sunday ')
}

/** Parses times for every night, such as "22:00-06:00 Europe/Berlin". */
function parseNightly(text: string): Schedule {
  const [, from = '', to = '', timeZone = 'UTC'] = /^([\d:]+)\s*-\s*([\d:]+)(?:\s+(\S+))?$/.exec(text.trim()) ?? []
  return checked('--nightly', { weekdays: WEEKDAYS, from, to, timeZone }, '')
}

function checked(option: string, schedule: Schedule, days: string): Schedule {
  const fault = scheduleFault(schedule)
  if (!fault) return schedule
  const message = fault.path === 'weekdays' ? 'expected days such as saturday,sunday' : fault.message
  throw new UsageError(`${option}: ${message}; for example: "${days}22:00-06:00 Europe/Berlin"`)
}

/** Formats a schedule: `saturday,sunday 22:00-06:00 Europe/Berlin`; '' without one. */
function scheduleText(schedule: Schedule | null): string {
  if (schedule === null) return ''
  const { weekdays, from, to, timeZone } = schedule
  const days = weekdays.length === WEEKDAYS.length ? 'daily' : weekdays.join(',')
  return `${days} ${from}-${to} ${timeZone}`
}
