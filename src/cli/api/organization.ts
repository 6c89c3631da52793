/** Finds the organization of a command: the one that --org names, or the only one. */
import type { Plan, Settings } from '../../domain/organization.ts'
import { type Common, hint } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { type Api, withApi } from './api.ts'

/** Options of commands that work on one organization. */
export type OrganizationOptions = Common & { readonly org?: string }

/** The response of `GET /operator/organizations`. */
export type Organization = {
  readonly id: string
  readonly name: string
  readonly plan: Plan
  readonly settings: Settings
  readonly createdAt: string
}

/** Runs the work of a command with the API for its organization. @throws CommandError, UsageError */
export function withOrganization<Result>(
  options: OrganizationOptions,
  work: (api: Api, organization: Organization) => Promise<Result>,
): Promise<Result> {
  return withApi(options, async (api) => {
    const organization = await requireOrganization(api, options)
    return work(api.of(organization.id), organization)
  })
}

/** Returns all organizations. */
export function listOrganizations(api: Api): Promise<Organization[]> {
  return api.json('GET', '/operator/organizations')
}

/** Returns the organization of that name; without a name, the only one. @throws CommandError, UsageError */
export async function requireOrganization(api: Api, { org, ...options }: OrganizationOptions): Promise<Organization> {
  const all = await listOrganizations(api)
  const names = all.map(({ name }) => name).join(', ')
  const [only, second] = all
  if (!only) throw new CommandError(`there is no organization: create one with ${hint(options, 'org create NAME')}`)
  if (org === undefined && second)
    throw new UsageError(`there are several organizations: name one of ${names} with --org`)
  if (org?.trim() === '') throw new UsageError(`--org: empty; name one of ${names}`)
  const found = org === undefined ? only : all.find(({ name }) => name === org)
  if (!found) {
    throw new CommandError(
      `there is no organization ${org}: name one of ${names}, or create it with ${hint(options, 'org create NAME')}`,
    )
  }
  return found
}
