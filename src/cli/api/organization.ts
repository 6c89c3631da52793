/** The organization that a command works on: named with --org, or the only one. */
import type { Plan, Settings } from '../../domain/organization.ts'
import { type Common, hint } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import type { Api } from './api.ts'

/** Options of commands that work on one organization. */
export type OfOrganization = Common & { readonly org?: string }

/** As `GET /operator/organizations` answers. */
export type Organization = {
  readonly id: string
  readonly name: string
  readonly plan: Plan
  readonly settings: Settings
  readonly createdAt: string
}

export function listOrganizations(api: Api): Promise<Organization[]> {
  return api.json('GET', '/operator/organizations')
}

/** Returns the organization of that name; without a name, the only one. @throws CommandError, UsageError */
export async function requireOrganization(api: Api, { org, ...options }: OfOrganization): Promise<Organization> {
  const all = await listOrganizations(api)
  const names = all.map(({ name }) => name).join(', ')
  const [only, second] = all
  if (!only) throw new CommandError(`there is no organization: ${hint(options, 'org create NAME')} makes one`)
  if (org === undefined && second) throw new UsageError(`name the organization with --org: there are ${names}`)
  const found = org === undefined ? only : all.find(({ name }) => name === org)
  if (!found) {
    throw new CommandError(`no organization ${org}: there are ${names}; ${hint(options, 'org create NAME')} makes one`)
  }
  return found
}
