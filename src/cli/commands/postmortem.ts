/** incmon incident postmortem and export: the documents of resolved incidents, printed or written to files. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseBound } from '../../domain/instant.ts'
import { slugOf } from '../../domain/service/from-project.ts'
import { withApi } from '../api/api.ts'
import { type OfOrganization, requireOrganization } from '../api/organization.ts'
import { type Incident, requireRecord } from '../api/records.ts'
import type { Common } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { print } from '../output.ts'

/** `from` and `to`: milliseconds UTC; they bound the opening, the end left out. */
type Export = OfOrganization & { readonly from?: number; readonly to?: number; readonly force?: boolean }

const MARKDOWN = 'text/markdown'
/** With date and id a file name stays under the 255 bytes that file systems allow. */
const LONGEST_SLUG = 100

/** Prints Markdown, or the document as JSON. @throws CommandError that says why there is none */
export async function printPostmortem(id: string, options: Common): Promise<void> {
  const text = await withApi(options, async (api) => {
    const { found, organization } = await requireRecord<Incident>(api, 'incident', id, options)
    const asked = { organization: organization.id, ...(options.json ? {} : { accept: MARKDOWN }) }
    return api.text('GET', `/api/incidents/${found.id}/postmortem`, asked)
  })
  print(options.json ? JSON.stringify(JSON.parse(text), null, 2) : text.replace(/\n$/, ''))
}

/** Writes each postmortem as a file of its own, all of them or, where one would be overwritten unasked, none. */
export async function exportPostmortems(directory: string, options: Export): Promise<void> {
  const { from, to } = options
  if (from !== undefined && to !== undefined && from > to) {
    throw new UsageError('--from: later than --to; exchange the two')
  }
  const files = await withApi(options, async (api) => {
    const { id: organization } = await requireOrganization(api, options)
    const bounds = Object.entries({ from, to }).flatMap(([side, ms]) =>
      ms === undefined ? [] : [`${side}=${new Date(ms).toISOString()}`],
    )
    const incidents = await api.all<Incident>(`/api/incidents?${bounds.join('&')}`, { organization })
    const written = incidents.filter(({ hasPostmortem }) => hasPostmortem)
    const paths = written.map((incident) => join(directory, fileNameOf(incident)))
    if (!options.force) refuseOverwriting(paths)
    mkdirSync(directory, { recursive: true })
    for (const [index, { id }] of written.entries()) {
      const text = await api.text('GET', `/api/incidents/${id}/postmortem`, { organization, accept: MARKDOWN })
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
  'wrote nothing: no incident of this organization and time has a postmortem, "incmon incident list" shows all'

function refuseOverwriting(files: readonly string[]): void {
  const taken = files.filter((file) => existsSync(file))
  const [first] = taken
  if (first === undefined) return
  const others = taken.length > 1 ? ` and ${taken.length - 1} more` : ''
  throw new CommandError(
    `${first}${others} exists already, nothing was written: add --force, or name another directory`,
  )
}

/** `2026-03-14-checkout-is-down-<id>.md`: the day of the opening in UTC; no letter of it can leave the directory. */
function fileNameOf({ id, title, createdAt }: Incident): string {
  const day = new Date(createdAt).toISOString().slice(0, 10)
  let slug = slugOf(title)
  while (Buffer.byteLength(slug) > LONGEST_SLUG) slug = [...slug].slice(0, -1).join('')
  return `${[day, slug.replace(/-+$/, '') || 'untitled', id].join('-')}.md`
}

/** `--from` and `--to`: a date, or a time in ISO 8601. */
export function parseTime(side: 'from' | 'to'): (text: string) => number {
  return (text) => {
    const ms = parseBound(text, side)
    if (ms !== null) return ms
    throw new UsageError(`--${side}: ${text} is no time: allowed are such as 2026-03-14 and 2026-03-14T02:11:09Z`)
  }
}
