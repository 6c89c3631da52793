/** incmon silence: add, list, end and import silences. */
import { formatMatchers, type Matcher, matchersFault, parseMatchers } from '../../domain/silence/matcher.ts'
import { type Schedule, scheduleFault, statusOf } from '../../domain/silence/silence.ts'
import { WEEKDAYS, type Weekday } from '../../domain/time-zone.ts'
import { readSilences } from '../../intake/silences.ts'
import { createSilence, expireSilence, importSilences } from '../../operations/silences.ts'
import { listOrganizations } from '../../store/organizations.ts'
import { findSilence, findSilencedCount, listSilences } from '../../store/silences.ts'
import { type Common, requireOrganization, withDatabase } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { readInput } from '../input.ts'
import { instant, print, printList } from '../output.ts'

const EVERY = { page: 1, limit: 1_000_000 }
const ACTOR = 'the command line'

type Added = Common & {
  readonly org?: string
  readonly comment: string
  /** Milliseconds. */
  readonly for: number
  readonly start?: number
  readonly weekly?: Schedule
}

/** Silences alerts: `incmon silence add 'service="checkout"' --for 2h --comment Upgrade`. */
export async function addOrgSilence(texts: readonly string[], options: Added): Promise<void> {
  const matchers = matchersOf(texts)
  const { comment, weekly = null } = options
  const made = await withDatabase(options, (deps) => {
    const { key } = requireOrganization(deps.db, options.org)
    const startsAt = options.start ?? deps.now()
    const wanted = { matchers, startsAt, endsAt: startsAt + options.for, schedule: weekly, comment }
    const id = createSilence(deps, key, wanted, ACTOR)
    const matching = findSilencedCount(deps.db, findSilence(deps.db, key, id)?.rowId ?? 0)
    return { id, endsAt: instant(wanted.endsAt), matching }
  })
  if (options.json) return print(JSON.stringify(made))
  print(
    `silenced ${formatMatchers(matchers)} until ${made.endsAt}: ${made.matching === 1 ? '1 firing alert matches' : `${made.matching} firing alerts match`}`,
  )
  print(`to end it sooner: incmon silence expire ${made.id}`)
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
export async function listOrgSilences(options: Common & { org?: string; expired?: boolean }): Promise<void> {
  const items = await withDatabase(options, ({ db, now }) => {
    const { key } = requireOrganization(db, options.org)
    const wanted = options.expired ? {} : { expired: false }
    return listSilences(db, key, wanted, now(), EVERY).items.map(({ rowId, startsAt, endsAt, ...silence }) => ({
      ...silence,
      startsAt: instant(startsAt),
      endsAt: instant(endsAt),
      status: statusOf({ ...silence, startsAt, endsAt }, now()),
      matching: findSilencedCount(db, rowId),
    }))
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
      empty: 'no silence: "incmon silence add" makes one',
    },
    options.json,
  )
}

/** Ends a silence now. */
export async function expireOrgSilence(id: string, options: Common): Promise<void> {
  await withDatabase(options, (deps) => {
    const owner = listOrganizations(deps.db).find(({ key }) => findSilence(deps.db, key, id))
    if (!owner) throw new CommandError(`no silence ${id}: "incmon silence list" shows their ids`)
    expireSilence(deps, owner.key, id)
  })
  print(options.json ? JSON.stringify({ id }) : `ended silence ${id}`)
}

/** Takes over the silences that `amtool silence query -o json` prints. Importing a file twice changes nothing. */
export async function importOrgSilences(file: string, options: Common & { org?: string }): Promise<void> {
  const text = Buffer.from(await readInput(file, 'that "amtool silence query -o json" wrote')).toString('utf8')
  const silences = parsed(file, text)
  const done = await withDatabase(options, (deps) => {
    const { key } = requireOrganization(deps.db, options.org)
    return importSilences(
      deps,
      key,
      silences.map((silence) => ({ ...silence, schedule: null })),
    )
  })
  if (options.json) return print(JSON.stringify(done))
  print(`imported: ${done.created}; ended or already there: ${done.skipped}`)
}

function parsed(file: string, text: string) {
  try {
    return readSilences(JSON.parse(text))
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
