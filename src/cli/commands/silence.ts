/** incmon silence: adds, lists, ends and imports silences. */
import { formatMatchers, type Matcher, matchersFault, parseMatchers } from '../../domain/silence/matcher.ts'
import { type Schedule, scheduleFault } from '../../domain/silence/silence.ts'
import { WEEKDAYS, type Weekday } from '../../domain/time-zone.ts'
import { readSilences } from '../../intake/silences.ts'
import { withApi } from '../api/api.ts'
import { type OrganizationOptions, requireOrganization } from '../api/organization.ts'
import { requireRecord } from '../api/records.ts'
import { hint } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { readInput } from '../input.ts'
import { instant, print, printList } from '../output.ts'

const PATH = '/api/silences'

type Added = OrganizationOptions & {
  readonly comment: string
  /** Milliseconds. */
  readonly for: number
  readonly start?: number
  readonly weekly?: Schedule
}

/** An item of `GET /api/silences`. */
type Silence = {
  readonly id: string
  readonly matchers: readonly Matcher[]
  readonly endsAt: string
  readonly comment: string
  readonly createdBy: string
  readonly status: string
  readonly matching: number
}

/**
 * Silences alerts: `incmon silence add 'service="checkout"' --for 2h --comment Upgrade`.
 * @param now in milliseconds UTC
 */
export async function addOrgSilence(texts: readonly string[], options: Added, now: number): Promise<void> {
  const matchers = matchersOf(texts)
  const { comment, start, weekly = null } = options
  const starts = start === undefined ? {} : { startsAt: instant(start) }
  const body = { matchers, ...starts, endsAt: instant((start ?? now) + options.for), schedule: weekly, comment }
  const { id, endsAt, matching } = await withApi(options, async (api) => {
    const organization = await requireOrganization(api, options)
    return api.json<Silence>('POST', PATH, { organization: organization.id, body })
  })
  if (options.json) return print(JSON.stringify({ id, endsAt, matching }))
  const alerts = matching === 1 ? '1 firing alert matches' : `${matching} firing alerts match`
  print(`silenced ${formatMatchers(matchers)} until ${endsAt}: ${alerts}`)
  print(`end it sooner with ${hint(options, `silence expire ${id}`)}`)
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

/** Lists the silences of an organization, newest first. */
export async function listOrgSilences(options: OrganizationOptions & { expired?: boolean }): Promise<void> {
  const items = await withApi(options, async (api) => {
    const { id: organization } = await requireOrganization(api, options)
    return api.all<Silence>(options.expired ? PATH : `${PATH}?expired=0`, { organization })
  })
  printList(
    {
      items,
      columns: [
        ['STATUS', ({ status }) => status],
        ['MATCHERS', ({ matchers }) => formatMatchers(matchers)],
        ['FIRING', ({ matching }) => matching],
        ['ENDS', ({ endsAt }) => endsAt],
        ['BY', ({ createdBy }) => createdBy],
        ['COMMENT', ({ comment }) => comment],
        ['ID', ({ id }) => id],
      ],
      empty: `there is no silence: add one with ${hint(options, 'silence add')}`,
    },
    options.json,
  )
}

/** Ends a silence now. */
export async function expireOrgSilence(id: string, options: OrganizationOptions): Promise<void> {
  const silence = await withApi(options, async (api) => {
    const { found, organization } = await requireRecord<Silence>(api, 'silence', id, options)
    await api.json('DELETE', `${PATH}/${found.id}`, { organization: organization.id })
    return found
  })
  print(options.json ? JSON.stringify({ id: silence.id }) : `ended silence ${silence.id}`)
}

/** Imports the silences that `amtool silence query -o json` prints. Importing a file twice changes nothing. */
export async function importOrgSilences(file: string, options: OrganizationOptions): Promise<void> {
  const text = Buffer.from(await readInput(file, 'that "amtool silence query -o json" wrote')).toString('utf8')
  const body = { silences: parsed(file, text) }
  const done = await withApi(options, async (api) => {
    const { id: organization } = await requireOrganization(api, options)
    return api.json<{ created: number; skipped: number }>('POST', '/operator/silences', { organization, body })
  })
  if (options.json) return print(JSON.stringify(done))
  print(`imported: ${done.created}; skipped because they ended or already exist: ${done.skipped}`)
}

/** Parses the file and checks that it contains silences. */
function parsed(file: string, text: string): unknown {
  try {
    const silences: unknown = JSON.parse(text)
    readSilences(silences)
    return silences
  } catch (error) {
    if (error instanceof SyntaxError) throw new CommandError(`${file}: ${error.message}`)
    throw error
  }
}

/** Reads a duration such as 30m, 2h or 7d as milliseconds. */
export function parseSpan(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text.trim()) ?? []
  const span = Number(count) * ({ m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }[unit] ?? 0)
  if (span > 0) return span
  throw new UsageError(`--for: ${text} is not a duration; write one such as 30m, 2h, 7d or 4w`)
}

/** Reads a weekly span such as "saturday 22:00-06:00 Europe/Berlin". */
export function parseWeekly(text: string): Schedule {
  const [, day = '', from = '', to = '', timeZone = 'UTC'] =
    /^(\w+)\s+(\S+?)\s*-\s*(\S+?)(?:\s+(\S+))?$/.exec(text.trim()) ?? []
  const weekday = WEEKDAYS.find((one) => one === day.toLowerCase())
  const schedule = { weekday: weekday as Weekday, from, to, timeZone }
  const fault =
    weekday === undefined ? { path: 'weekday', message: 'expected a day such as saturday' } : scheduleFault(schedule)
  if (!fault) return schedule
  throw new UsageError(`--weekly: ${fault.message}; write "saturday 22:00-06:00 Europe/Berlin"`)
}
