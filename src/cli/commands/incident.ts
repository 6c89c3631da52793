/** incmon incident: incidents listed and shown, and moved by a person, as the API does it. */
import type { IncidentStatus } from '../../domain/incident/incident.ts'
import { type Api, Refused, withApi } from '../api/api.ts'
import { type OfOrganization, requireOrganization } from '../api/organization.ts'
import { type Incident, type Of, requireRecord, serviceNames, type WholeIncident } from '../api/records.ts'
import { type Common, hint } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { print, printList, visible } from '../output.ts'
import { showWhole } from '../show.ts'

export async function listOrgIncidents(options: OfOrganization & { readonly status?: IncidentStatus }): Promise<void> {
  const items = await withApi(options, async (api) => {
    const { id: organization } = await requireOrganization(api, options)
    const nameOf = await serviceNames(api, organization)
    const filter = options.status === undefined ? '' : `?status=${options.status}`
    const incidents = await api.all<Incident>(`/api/incidents${filter}`, { organization })
    return incidents.map((incident) => ({ ...incident, service: nameOf(incident.serviceId) }))
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

/** Prints an incident with its alerts, its probable causes and its timeline. */
export async function showIncident(id: string, options: Common): Promise<void> {
  await withApi(options, async (api) => {
    const { found, organization } = await requireRecord<WholeIncident>(api, 'incident', id, options)
    const nameOf = await serviceNames(api, organization.id)
    const asked = { organization: organization.id }
    const suspects = await api.json<Suspects>('GET', `/api/incidents/${found.id}/suspects`, asked)
    const whole = {
      ...found,
      service: nameOf(found.serviceId),
      organization: organization.name,
      suspects: suspects.data,
    }
    print(options.json ? JSON.stringify(whole, null, 2) : showWhole(whole))
  })
}

type Suspects = { readonly data: Parameters<typeof showWhole>[0]['suspects'] }

/** Acknowledges: somebody works on it now. What has moved on already stays as it is. */
export async function acknowledgeIncident(id: string, options: Common): Promise<void> {
  await move(id, options, async (api, { found, organization }) => {
    if (found.status !== 'open') return `${titleOf(found)} is ${found.status} already`
    await change(api, { found, organization }, { status: 'investigating' })
    return `acknowledged ${titleOf(found)}: it is investigating now`
  })
}

/** Opens a resolved incident again. */
export async function reopenIncident(id: string, options: Common): Promise<void> {
  await move(id, options, async (api, { found, organization }) => {
    if (found.status !== 'resolved') return `${titleOf(found)} is not resolved: it is ${found.status}`
    await change(api, { found, organization }, { status: 'investigating' })
    return `reopened ${titleOf(found)}: it is investigating now`
  })
}

/** Writes a note into the timeline. */
export async function noteIncident(id: string, words: readonly string[], options: Common): Promise<void> {
  const text = words.join(' ').trim()
  if (text === '') throw new UsageError('TEXT: empty; write the note behind the id of the incident')
  await move(id, options, async (api, { found, organization }) => {
    await api.json('POST', `/api/incidents/${found.id}/notes`, { organization: organization.id, body: { text } })
    return `noted in the timeline of ${titleOf(found)}`
  })
}

/** Moves the alerts and the timeline of an incident to another one, and resolves it. */
export async function mergeIncidents(id: string, into: string, options: Common): Promise<void> {
  await move(id, options, async (api, { found, organization }) => {
    const kept = await requireRecord<Incident>(api, 'incident', into, options)
    if (kept.organization.id !== organization.id) {
      throw new CommandError(`${into.trim()} belongs to another organization: name an incident of ${organization.name}`)
    }
    const body = { into: kept.found.id }
    await api.json('POST', `/api/incidents/${found.id}/merge`, { organization: organization.id, body })
    return `merged ${titleOf(found)} into ${titleOf(kept.found)}; the first is resolved`
  })
}

/** Does something with an incident; prints what the work returns, or with --json the incident afterwards. */
async function move(id: string, options: Common, work: (api: Api, of: Of<Incident>) => Promise<string>): Promise<void> {
  await withApi(options, async (api) => {
    const before = await requireRecord<Incident>(api, 'incident', id, options)
    const sentence = await work(api, before)
    if (!options.json) return print(sentence)
    const after = await requireRecord<WholeIncident>(api, 'incident', before.found.id, options)
    print(JSON.stringify({ ...after.found, organization: after.organization.name }))
  })
}

function change(api: Api, { found, organization }: Of<Incident>, body: { readonly status: IncidentStatus }) {
  return api.json<Incident>('PATCH', `/api/incidents/${found.id}`, { organization: organization.id, body })
}

function titleOf({ title }: Incident): string {
  return visible(title)
}

/** Resolves by a person's word, as PATCH does; resolved already, it stays as it is. */
export async function resolveIncident(id: string, options: Common): Promise<void> {
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
    const what = `${titleOf(incident)} (${visible(service)})`
    const done = isChanged ? `resolved ${what}` : `${what} is resolved already, since ${incident.resolvedAt}`
    const although =
      firing > 0 ? `, though ${stillFiring(firing)}: nothing opens for the service until that has cleared` : ''
    const postmortem = incident.hasPostmortem
      ? `${hint(options, `incident postmortem ${incident.id}`)} prints its postmortem`
      : await whyNoPostmortem(api, incident.id, asked)
    print(`${done}${although}; ${postmortem}`)
  })
}

function stillFiring(alerts: number): string {
  return alerts === 1 ? '1 alert still fires' : `${alerts} alerts still fire`
}

async function whyNoPostmortem(api: Api, id: string, asked: { readonly organization: string }): Promise<string> {
  try {
    await api.json('GET', `/api/incidents/${id}/postmortem`, asked)
    return 'it has a postmortem'
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return error.message
    throw error
  }
}
