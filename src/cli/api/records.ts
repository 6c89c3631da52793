/** Records as the API answers them, as far as commands read them; and how one is found by its id. */
import type { IncidentStatus } from '../../domain/incident/incident.ts'
import { serviceName } from '../../domain/postmortem/words.ts'
import { type Common, hint } from '../database.ts'
import { CommandError } from '../failure.ts'
import { type Api, Refused } from './api.ts'
import { listOrganizations, type Organization } from './organization.ts'

export type Incident = {
  readonly id: string
  readonly title: string
  readonly serviceId: string
  readonly severity: string
  readonly status: IncidentStatus
  readonly createdAt: string
  readonly startedAt: string
  readonly acknowledgedAt: string | null
  readonly resolvedAt: string | null
  readonly alertCount: number
  readonly hasPostmortem: boolean
}

export type TimelineEntry = {
  readonly at: string
  readonly count: number
  readonly text: string
  readonly actor: string | null
}

export type WholeIncident = Incident & {
  readonly alerts: readonly Alert[]
  readonly timeline: readonly TimelineEntry[]
}

export type Alert = {
  readonly id: string
  readonly serviceId: string
  readonly source: string
  readonly name: string
  readonly severity: string
  readonly status: 'firing' | 'resolved'
  readonly resolution: string | null
  readonly summary: string
  readonly labels: Readonly<Record<string, string>>
  readonly startsAt: string
  readonly endsAt: string | null
  readonly lastSeenAt: string
  readonly occurrences: number
  readonly incidentId: string | null
}

/** As `GET /api/services` lists them. */
export type Service = {
  readonly id: string
  readonly name: string
  readonly namespace: string
  readonly cluster: string
  readonly status: string
  readonly score: number
  readonly lastAlertAt: string | null
  readonly archived: boolean
}

/** A record with the organization to which it belongs. */
export type Of<Found> = { readonly found: Found; readonly organization: Organization }

/**
 * Finds a record by its id in all organizations, since an id is of one alone.
 * @throws CommandError that names the command which lists the ids
 */
export async function requireRecord<Found>(
  api: Api,
  noun: 'incident' | 'alert' | 'silence',
  id: string,
  options: Common,
): Promise<Of<Found>> {
  const path = `/api/${noun}s/${encodeURIComponent(id.trim())}`
  for (const organization of await listOrganizations(api)) {
    try {
      return { found: await api.json<Found>('GET', path, { organization: organization.id }), organization }
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 404) throw error
    }
  }
  throw new CommandError(`no ${noun} ${id.trim()}: ${hint(options, `${noun} list`)} shows the id of each`)
}

/** Returns the services of an organization. @param organization its id */
export function listServices(api: Api, organization: string, archived: boolean): Promise<Service[]> {
  return api.json('GET', `/api/services?archived=${archived ? 1 : 0}`, { organization })
}

/** Returns what finds the name of a service by its id, such as `shop/cart`. */
export async function serviceNames(api: Api, organization: string): Promise<(id: string) => string> {
  const services = await listServices(api, organization, true)
  const names = new Map(services.map((service) => [service.id, serviceName(service)]))
  return (id) => names.get(id) ?? id
}
