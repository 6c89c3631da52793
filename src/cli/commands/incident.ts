/** incmon incident: incidents listed and resolved, and their postmortems printed or written to files. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { IncidentStatus } from '../../domain/incident/incident.ts'
import { parseBound } from '../../domain/instant.ts'
import { markdown, merge, type Postmortem } from '../../domain/postmortem/postmortem.ts'
import { serviceName } from '../../domain/postmortem/words.ts'
import { slugOf } from '../../domain/service/from-project.ts'
import { changeIncident } from '../../operations/incidents.ts'
import { whyNoPostmortem } from '../../operations/postmortems.ts'
import { listFiringAlerts } from '../../store/history/alert-search.ts'
import { findIncident, type IncidentRecord, listIncidents } from '../../store/incidents.ts'
import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import { findPostmortem } from '../../store/postmortems.ts'
import { findService, listServices } from '../../store/services.ts'
import type { Db } from '../../store/sqlite/open.ts'
import { type Common, requireOrganization, withDatabase } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { instant, print, printList, visible } from '../output.ts'

type OfOrganization = Common & { readonly org?: string }
/** `from` and `to`: milliseconds UTC; they bound the opening, the end left out. */
type Export = OfOrganization & { readonly from?: number; readonly to?: number; readonly force?: boolean }

/** Who acts, in timelines. */
const ACTOR = 'the command line'
const EVERY = { page: 1, limit: 1_000_000 }
/** With date and id a file name stays under the 255 bytes that file systems allow. */
const LONGEST_SLUG = 100

export async function listOrgIncidents(options: OfOrganization & { readonly status?: IncidentStatus }): Promise<void> {
  const items = await withDatabase(options, ({ db, now }) => {
    const { key } = requireOrganization(db, options.org)
    const names = new Map(listServices(db, key, now(), true).map((service) => [service.id, serviceName(service)]))
    const { items } = listIncidents(db, key, { status: options.status }, EVERY)
    return items.map((incident) => show(incident, names.get(incident.serviceId) ?? incident.serviceId))
  })
  printList(
    {
      items,
      columns: [
        ['CREATED', ({ createdAt }) => createdAt],
        ['STATUS', ({ status }) => status],
        ['SEVERITY', ({ severity }) => severity],
        ['SERVICE', ({ service }) => service],
        ['TITLE', ({ title }) => title],
        ['POSTMORTEM', ({ hasPostmortem }) => (hasPostmortem ? 'yes' : null)],
        ['ID', ({ id }) => id],
      ],
      empty: options.status ? `no incident is ${options.status}` : 'no incident yet',
    },
    options.json,
  )
}

function show({ key: _, ...incident }: IncidentRecord, service: string) {
  const { createdAt, startedAt, acknowledgedAt, resolvedAt } = incident
  const began = { createdAt: instant(createdAt), startedAt: instant(startedAt) }
  return { ...incident, service, ...began, acknowledgedAt: instant(acknowledgedAt), resolvedAt: instant(resolvedAt) }
}

/** Resolves by a person's word, as PATCH does; resolved already, it stays as it is. */
export async function resolveIncident(id: string, options: Common): Promise<void> {
  const { incident, organization, service, firing, isChanged } = await withDatabase(options, (deps) => {
    const { incident, organization } = requireIncident(deps.db, id.trim())
    const isChanged = changeIncident(deps, organization.key, incident.id, { status: 'resolved' }, ACTOR)
    const service = findService(deps.db, organization.key, incident.serviceId, deps.now())
    const filter = { serviceId: incident.serviceId }
    const { total } = listFiringAlerts(deps.db, organization.key, filter, { page: 1, limit: 1 })
    const resolved = requireIncident(deps.db, incident.id)
    return { ...resolved, service: service ? serviceName(service) : '', firing: total, isChanged }
  })
  const { name, plan } = organization
  if (options.json) {
    const more = { organization: name, changed: isChanged, firingAlerts: firing }
    return print(JSON.stringify({ ...show(incident, service), ...more }))
  }
  const what = `${visible(incident.title)} (${visible(service)})`
  const done = isChanged ? `resolved ${what}` : `${what} is resolved already, since ${instant(incident.resolvedAt)}`
  const although =
    firing > 0 ? `, though ${stillFiring(firing)}: nothing opens for the service until that has cleared` : ''
  const postmortem = incident.hasPostmortem
    ? `"incmon incident postmortem ${incident.id}" prints its postmortem`
    : whyNoPostmortem(plan, incident.resolvedAt)
  print(`${done}${although}; ${postmortem}`)
}

function stillFiring(alerts: number): string {
  return alerts === 1 ? '1 alert still fires' : `${alerts} alerts still fire`
}

/** Markdown, or the document as JSON. @throws CommandError that says why there is none */
export async function printPostmortem(id: string, options: Common): Promise<void> {
  const postmortem = await withDatabase(options, ({ db }) => {
    const { incident, organization } = requireIncident(db, id.trim())
    const found = postmortemOf(db, organization, incident)
    if (!found) throw new CommandError(whyNoPostmortem(organization.plan, incident.resolvedAt))
    return found
  })
  print(options.json ? JSON.stringify(postmortem, null, 2) : markdown(postmortem).replace(/\n$/, ''))
}

/** Looks through all organizations: an incident's id is of one alone. */
function requireIncident(db: Db, id: string): { incident: IncidentRecord; organization: OrganizationRecord } {
  for (const organization of listOrganizations(db)) {
    const incident = findIncident(db, organization.key, id)
    if (incident) return { incident, organization }
  }
  throw new CommandError(`no incident ${id}: "incmon incident list" shows the id of each`)
}

function postmortemOf(db: Db, { key }: OrganizationRecord, { id }: IncidentRecord): Postmortem | null {
  const found = findPostmortem(db, key, id)
  return found && merge(found.document, found.edits, found.state)
}

/** Writes each postmortem as a file of its own, all of them or, where one would be overwritten unasked, none. */
export async function exportPostmortems(directory: string, options: Export): Promise<void> {
  const { from, to } = options
  if (from !== undefined && to !== undefined && from > to) {
    throw new UsageError('--from: later than --to; exchange the two')
  }
  const files = await withDatabase(options, ({ db }) => {
    const organization = requireOrganization(db, options.org)
    const { items } = listIncidents(db, organization.key, { from, to }, EVERY)
    const written = items.filter(({ hasPostmortem }) => hasPostmortem)
    if (!options.force) refuseOverwriting(written.map((incident) => join(directory, fileNameOf(incident))))
    mkdirSync(directory, { recursive: true })
    return written.map((incident) => writePostmortem(db, organization, incident, { directory, force: options.force }))
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

function writePostmortem(
  db: Db,
  organization: OrganizationRecord,
  incident: IncidentRecord,
  to: { readonly directory: string; readonly force: boolean | undefined },
): string {
  const file = join(to.directory, fileNameOf(incident))
  const postmortem = postmortemOf(db, organization, incident)
  if (postmortem) writeFileSync(file, markdown(postmortem), { flag: to.force ? 'w' : 'wx' })
  return file
}

/** `2026-03-14-checkout-is-down-<id>.md`: the day of the opening in UTC; no letter of it can leave the directory. */
function fileNameOf({ id, title, createdAt }: IncidentRecord): string {
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
