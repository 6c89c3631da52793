/** incmon incident: lists, shows and changes incidents through the API. */
import type { IncidentStatus } from '../../domain/incident/incident.ts'
import { type Api, ErrorResponse, withApi } from '../api/api.ts'
import { type OrganizationOptions, requireOrganization } from '../api/organization.ts'
import { type Incident, type InOrganization, requireRecord, serviceNames, type WholeIncident } from '../api/records.ts'
import { hint, spellCommands } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { print, printList, visible } from '../output.ts'
import { formatIncident } from '../show.ts'

/** Lists the incidents of an organization, newest first. */
export async function listOrgIncidents(
  options: OrganizationOptions & { readonly status?: IncidentStatus },
): Promise<void> {
  const items = await withApi(options, async (api) => {
    const { id: organization } = await requireOrganization(api, options)
    const serviceOf = await serviceNames(api, organization)
    const filter = options.status === undefined ? '' : `?status=${options.status}`
    const incidents = await api.all<Incident>(`/api/incidents${filter}`, { organization })
    return incidents.map((incident) => ({ ...incident, service: serviceOf(incident.serviceId) }))
  })
  printList(
    {
      items,
      columns: [
        ['NUMBER', ({ number }) => number],
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

/** Prints an incident with its alerts, its probable causes and its timeline. */
export async function showIncident(id: string, options: OrganizationOptions): Promise<void> {
  await withApi(options, async (api) => {
    const { found, organization } = await requireRecord<WholeIncident>(api, 'incident', id, options)
    const serviceOf = await serviceNames(api, organization.id)
    const asked = { organization: organization.id }
    const suspects = await api.json<Suspects>('GET', `/api/incidents/${found.id}/suspects`, asked)
    const whole = {
      ...found,
      service: serviceOf(found.serviceId),
      organization: organization.name,
      suspects: suspects.data,
    }
    print(options.json ? JSON.stringify(whole, null, 2) : formatIncident(whole))
  })
}

type Suspects = { readonly data: Parameters<typeof formatIncident>[0]['suspects'] }

/** Acknowledges an incident: somebody works on it. Changes only an open incident. */
export async function acknowledgeIncident(id: string, options: OrganizationOptions): Promise<void> {
  await move(id, options, async (api, { found, organization }) => {
    if (found.status !== 'open') return `${nameOf(found)} is already ${found.status}`
    await change(api, { found, organization }, { status: 'investigating' })
    return `acknowledged ${nameOf(found)}: its status is now investigating`
  })
}

/** Opens a resolved incident again. */
export async function reopenIncident(id: string, options: OrganizationOptions): Promise<void> {
  await move(id, options, async (api, { found, organization }) => {
    if (found.status !== 'resolved') return `${nameOf(found)} is not resolved: its status is ${found.status}`
    await change(api, { found, organization }, { status: 'investigating' })
    return `reopened ${nameOf(found)}: its status is now investigating`
  })
}

/** Writes a note into the timeline. */
export async function noteIncident(id: string, words: readonly string[], options: OrganizationOptions): Promise<void> {
  const text = words.join(' ').trim()
  if (text === '') throw new UsageError('<text>: empty; write the note after the number of the incident')
  await move(id, options, async (api, { found, organization }) => {
    await api.json('POST', `/api/incidents/${found.id}/notes`, { organization: organization.id, body: { text } })
    return `added a note to ${nameOf(found)}`
  })
}

/** Moves the alerts and the timeline of an incident to another one, and resolves it. */
export async function mergeIncidents(id: string, into: string, options: OrganizationOptions): Promise<void> {
  await move(id, options, async (api, { found, organization }) => {
    const kept = await requireRecord<Incident>(api, 'incident', into, options)
    if (kept.organization.id !== organization.id) {
      throw new CommandError(`${into.trim()} belongs to another organization: name an incident of ${organization.name}`)
    }
    const body = { into: kept.found.id }
    await api.json('POST', `/api/incidents/${found.id}/merge`, { organization: organization.id, body })
    return `merged ${nameOf(found)} into ${nameOf(kept.found)}: incident ${found.number} is now resolved`
  })
}

/** Changes an incident and prints the sentence from `work`, or the changed incident with --json. */
async function move(
  id: string,
  options: OrganizationOptions,
  work: (api: Api, of: InOrganization<Incident>) => Promise<string>,
): Promise<void> {
  await withApi(options, async (api) => {
    const before = await requireRecord<Incident>(api, 'incident', id, options)
    const sentence = await work(api, before)
    if (!options.json) return print(sentence)
    const after = await requireRecord<WholeIncident>(api, 'incident', before.found.id, options)
    print(JSON.stringify({ ...after.found, organization: after.organization.name }))
  })
}

function change(
  api: Api,
  { found, organization }: InOrganization<Incident>,
  body: { readonly status: IncidentStatus },
) {
  return api.json<Incident>('PATCH', `/api/incidents/${found.id}`, { organization: organization.id, body })
}

function nameOf({ number, title }: Incident): string {
  return `incident ${number} (${visible(title)})`
}

/** Resolves an incident, as PATCH does. An incident that is already resolved does not change. */
export async function resolveIncident(id: string, options: OrganizationOptions): Promise<void> {
  await withApi(options, async (api) => {
    const before = await requireRecord<Incident>(api, 'incident', id, options)
    const isChanged = before.found.status !== 'resolved'
    const incident = await change(api, before, { status: 'resolved' })
    const asked = { organization: before.organization.id }
    const service = (await serviceNames(api, before.organization.id))(incident.serviceId)
    const path = `/api/alerts?serviceId=${incident.serviceId}&status=firing&limit=1`
    const { pagination } = await api.json<{ pagination: { total: number } }>('GET', path, asked)
    const firing = pagination.total
    if (options.json) {
      const more = { service, organization: before.organization.name, changed: isChanged, firingAlerts: firing }
      return print(JSON.stringify({ ...incident, ...more }))
    }
    const what = `${nameOf(incident)} of ${visible(service)}`
    print(isChanged ? `resolved ${what}` : `${what} is already resolved, since ${incident.resolvedAt}`)
    if (firing > 0) print(`no new incident opens for ${visible(service)} until its ${firingAlerts(firing)}`)
    const postmortem = hint(options, `incident postmortem ${incident.number}`)
    print(
      incident.hasPostmortem
        ? `read its postmortem with ${postmortem}`
        : await whyNoPostmortem(api, incident.id, asked, options),
    )
  })
}

function firingAlerts(alerts: number): string {
  return alerts === 1 ? 'firing alert has ended' : `${alerts} firing alerts have ended`
}

async function whyNoPostmortem(
  api: Api,
  id: string,
  asked: { readonly organization: string },
  options: OrganizationOptions,
): Promise<string> {
  try {
    await api.json('GET', `/api/incidents/${id}/postmortem`, asked)
    return 'it has a postmortem'
  } catch (error) {
    if (error instanceof ErrorResponse && error.status === 404) return spellCommands(error.message, options)
    throw error
  }
}
