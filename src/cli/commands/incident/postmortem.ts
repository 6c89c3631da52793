/** incmon incident postmortem and export: prints postmortems or writes them to files. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { parseBound } from '../../../domain/instant.ts'
import { slugOf } from '../../../domain/service/from-project.ts'
import { errorCode } from '../../../store/sqlite/fault.ts'
import { type Incident, type OrganizationOptions, withOrganization, withRecord } from '../../api/records.ts'
import { CommandError, UsageError } from '../../failure.ts'
import { print } from '../../output.ts'
import { addOrgCommand } from '../../plain-command.ts'

/** `from` and `to` are Unix times in milliseconds. They filter by creation time: from ≤ createdAt < to. */
type Export = OrganizationOptions & { readonly from?: number; readonly to?: number; readonly force?: boolean }

const MARKDOWN = 'text/markdown'
/** A file name can be at most 255 bytes long, including the date and the id. */
const MAX_SLUG_BYTES = 100

/** @param id the help text for an incident id */
export function addPostmortem(incident: Command, id: string): void {
  addOrgCommand(
    incident,
    'postmortem',
    'print the postmortem of a resolved incident as Markdown, or as JSON with --json',
  )
    .argument('<id>', id)
    .action(printPostmortem)
  addOrgCommand(incident, 'export', 'export postmortems as Markdown files, one per incident')
    .argument('<dir>', 'the directory to write to; it is created if it does not exist')
    .option(
      '--from <time>',
      'export only incidents opened at or after this time, such as 2026-03-14',
      parseTime('--from'),
    )
    .option(
      '--to <time>',
      'export only incidents opened before this time; a date includes the whole day',
      parseTime('--to'),
    )
    .option('--force', 'overwrite existing files')
    .action(exportPostmortems)
}

/** @throws CommandError that explains why there is no postmortem */
async function printPostmortem(id: string, options: OrganizationOptions): Promise<void> {
  const text = await withRecord<Incident, string>('incident', id, options, ({ api, found }) =>
    api.text('GET', `/api/incidents/${found.id}/postmortem`, options.json ? {} : { accept: MARKDOWN }),
  )
  print(options.json ? JSON.stringify(JSON.parse(text), null, 2) : text.replace(/\n$/, ''))
}

/** Without --force, writes nothing if any of the files already exists. */
async function exportPostmortems(directory: string, options: Export): Promise<void> {
  const { from, to } = options
  if (from !== undefined && to !== undefined && from > to) {
    throw new UsageError('--from is later than --to: swap the two values')
  }
  const files = await withOrganization(options, async (api) => {
    const bounds = Object.entries({ from, to }).flatMap(([side, ms]) =>
      ms === undefined ? [] : [`${side}=${new Date(ms).toISOString()}`],
    )
    const incidents = await api.all<Incident>(`/api/incidents?${bounds.join('&')}`)
    const written = incidents.filter(({ hasPostmortem }) => hasPostmortem)
    const paths = written.map((incident) => join(directory, fileNameOf(incident)))
    if (!options.force) refuseOverwriting(paths)
    makeDirectory(directory)
    for (const [index, { id }] of written.entries()) {
      const text = await api.text('GET', `/api/incidents/${id}/postmortem`, { accept: MARKDOWN })
      writeFileSync(paths[index] ?? '', text, { flag: options.force ? 'w' : 'wx' })
    }
    return paths
  })
  if (options.json) return print(JSON.stringify({ directory, files }))
  for (const file of files) print(file)
  print(
    files.length === 0 ? NOTHING : `wrote ${files.length} postmortem${files.length === 1 ? '' : 's'} to ${directory}`,
  )
}

const NOTHING =
  'wrote nothing: no incident of this organization in this period has a postmortem; "incmon incident list" shows all incidents'

function refuseOverwriting(files: readonly string[]): void {
  const taken = files.filter((file) => existsSync(file))
  const [first] = taken
  if (first === undefined) return
  const others = taken.length > 1 ? ` and ${taken.length - 1} more` : ''
  throw new CommandError(
    `${first}${others} already exists, so nothing was written: add --force, or choose another directory`,
  )
}

/** Creates the directory and its parents. Node's `recursive` option hangs on file systems such as /proc. */
function makeDirectory(path: string): void {
  if (existsSync(path)) return
  makeDirectory(dirname(path))
  try {
    mkdirSync(path)
  } catch (error) {
    throw new CommandError(`${path} cannot be created (${errorCode(error)}): choose another directory`)
  }
}

/** Returns `2026-03-14-checkout-is-down-<id>.md`, with the date in UTC. The name never contains a path separator. */
function fileNameOf({ id, title, createdAt }: Incident): string {
  const day = new Date(createdAt).toISOString().slice(0, 10)
  let slug = slugOf(title)
  while (Buffer.byteLength(slug) > MAX_SLUG_BYTES) slug = [...slug].slice(0, -1).join('')
  return `${[day, slug.replace(/-+$/, '') || 'untitled', id].join('-')}.md`
}

/**
 * Returns a parser for an option that accepts a date or an ISO 8601 time. A date means 00:00 UTC, or the end of the day
 * for --to.
 */
export function parseTime(option: '--from' | '--to' | '--start'): (text: string) => number {
  return (text) => {
    const ms = parseBound(text, option === '--to' ? 'to' : 'from')
    if (ms !== null) return ms
    throw new UsageError(`${option}: ${text} is not a time: use a time such as 2026-03-14 or 2026-03-14T02:11:09Z`)
  }
}
