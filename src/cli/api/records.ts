/** The records that commands use, and functions that find a record by an id or number entered by the user. */
import type { InferInput } from 'valibot'
import { clientVariables } from '../../config.ts'
import { serviceName } from '../../domain/text.ts'
import type { alertShape, alertWithEventsShape } from '../../http/api/alerts.ts'
import type { incidentShape, wholeIncidentShape } from '../../http/api/incidents/incident-shape.ts'
import type { suspectShape } from '../../http/api/incidents/incidents.ts'
import type { serviceShape, wholeServiceShape } from '../../http/api/services.ts'
import type { showOrganization } from '../../http/operator/routes.ts'
import type { IdMatch } from '../../store/id-matches.ts'
import { CommandError, UsageError } from '../failure.ts'
import type { Common } from '../output.ts'
import { type Api, withApi } from './api.ts'

export type Incident = InferInput<typeof incidentShape>
export type WholeIncident = InferInput<typeof wholeIncidentShape>
export type Alert = InferInput<typeof alertShape>
export type WholeAlert = InferInput<typeof alertWithEventsShape>
export type Service = InferInput<typeof serviceShape>
export type WholeService = InferInput<typeof wholeServiceShape>
export type Suspect = InferInput<typeof suspectShape>

/** A record with its organization, and the API for that organization. */
export type Named<Found> = {
  readonly api: Api
  readonly found: Found
  readonly organization: IdMatch['organization']
}

/** The minimum length of a shortened id. */
export const SHORTEST_PART = 8

/** Returns whether a word is an id, or 8 or more characters from its start or its end. */
export function isPartOf(id: string, word: string): boolean {
  const part = word.trim().toLowerCase()
  return part.length >= SHORTEST_PART && (id.startsWith(part) || id.endsWith(part))
}

type Noun = 'incident' | 'alert' | 'silence'

/** Runs a command with the record that `word` identifies. @throws CommandError like `requireRecord` */
export function withRecord<Found, Result>(
  noun: Noun,
  word: string,
  options: OrganizationOptions,
  work: (named: Named<Found>) => Promise<Result>,
): Promise<Result> {
  return withApi(options, async (api) => work(await requireRecord<Found>(api, noun, word, options.org)))
}

/**
 * Returns the record that `word` identifies. `word` is an incident number, an id, or 8 or more characters from the
 * start or the end of an id. Searches all organizations unless --org or INCMON_ORG names one.
 * @throws CommandError if several records match or if no record matches. If no record matches, the message names the
 * command that lists the records.
 */
export async function requireRecord<Found>(api: Api, noun: Noun, word: string, org?: string): Promise<Named<Found>> {
  const { id, organization } = await requireMatch(api, noun, word.trim(), org)
  const own = api.of(organization.id)
  return { api: own, found: await own.json<Found>('GET', `/api/${noun}s/${id}`), organization }
}

async function requireMatch(api: Api, noun: Noun, word: string, org?: string): Promise<IdMatch> {
  const chosen = namedOrganization(org) === undefined ? null : await requireOrganization(api, org)
  const all = await api.json<IdMatch[]>('GET', `/operator/${noun}s/${encodeURIComponent(word)}`)
  const found = chosen === null ? all : all.filter(({ organization }) => organization.id === chosen.id)
  const [only, second] = found
  if (!only) throw new CommandError(noRecord(noun, word, chosen?.name ?? null))
  if (!second) return only
  if (/^\d{1,7}$/.test(word)) {
    const names = found.map(({ organization }) => organization.name).join(', ')
    throw new CommandError(
      `several organizations have an incident ${word}: choose one of ${names} with --org or INCMON_ORG`,
    )
  }
  const ends = found.map(({ id }) => id.slice(-SHORTEST_PART)).join(', ')
  throw new CommandError(
    `${word} matches the ids of several ${noun}s: enter the last characters of one id, such as ${ends}`,
  )
}

function noRecord(noun: Noun, word: string, organization: string | null): string {
  const isShort = /^[0-9a-f-]{1,7}$/i.test(word) && !(noun === 'incident' && /^\d+$/.test(word))
  const place = organization === null ? '' : ` in ${organization}`
  const what = isShort ? `${word} is too short` : `no ${noun} ${word}${place}`
  const number = noun === 'incident' ? 'its number, or ' : ''
  return `${what}: enter ${number}at least ${SHORTEST_PART} characters of its id, as shown by "incmon ${noun} list"`
}

/** Returns all services in the organization. */
export function listServices(api: Api, archived: boolean): Promise<Service[]> {
  return api.json('GET', `/api/services?archived=${archived ? 1 : 0}`)
}

/** Returns a function that maps a service id to the service's name, such as `shop/cart`. */
export async function serviceNames(api: Api): Promise<(id: string) => string> {
  const services = await listServices(api, true)
  const names = new Map(services.map((service) => [service.id, serviceName(service)]))
  return (id) => names.get(id) ?? id
}

/** Options of commands that apply to one organization. */
export type OrganizationOptions = Common & { readonly org?: string }

/** An item in the response of `GET /operator/organizations`. */
export type Organization = ReturnType<typeof showOrganization>

/** Runs a command with the API for its organization. @throws CommandError, UsageError */
export function withOrganization<Result>(
  options: OrganizationOptions,
  work: (api: Api, organization: Organization) => Promise<Result>,
): Promise<Result> {
  return withApi(options, async (api) => {
    const organization = await requireOrganization(api, options.org)
    return work(api.of(organization.id), organization)
  })
}

export function listOrganizations(api: Api): Promise<Organization[]> {
  return api.json('GET', '/operator/organizations')
}

/** Returns the name that --org or INCMON_ORG gives, or undefined. */
export function namedOrganization(org?: string): string | undefined {
  return org ?? clientVariables().organization ?? undefined
}

/**
 * Returns the organization named by --org or INCMON_ORG or, if both are missing, the only organization.
 * @throws CommandError, UsageError
 */
export async function requireOrganization(api: Api, named?: string): Promise<Organization> {
  const org = namedOrganization(named)
  const all = await listOrganizations(api)
  const names = all.map(({ name }) => name).join(', ')
  const [only, second] = all
  if (!only) throw new CommandError('there are no organizations: create one with "incmon org create NAME"')
  if (org === undefined && second)
    throw new UsageError(`there are several organizations: choose one of ${names} with --org or INCMON_ORG`)
  if (org?.trim() === '') throw new UsageError(`--org is empty: choose one of ${names}`)
  const found = org === undefined ? only : all.find(({ name }) => name === org)
  if (!found) {
    throw new CommandError(
      `there is no organization named ${org}: choose one of ${names}, or create it with "incmon org create NAME"`,
    )
  }
  return found
}
