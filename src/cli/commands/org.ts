/** incmon org: organizations made, listed, and put on a plan. */
import type { Plan } from '../../domain/organization.ts'
import { changeOrganization, createOrganization } from '../../operations/organizations.ts'
import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import { type Common, requireOrganization, withDatabase, withMadeDatabase } from '../database.ts'
import { UsageError } from '../failure.ts'
import { instant, print, printList, visible } from '../output.ts'

const MAX_NAME = 100

export async function createOrg(name: string, options: Common & { readonly plan: Plan }): Promise<void> {
  const wanted = name.trim()
  if (wanted === '' || wanted.length > MAX_NAME) throw new UsageError(`NAME: 1 to ${MAX_NAME} characters are allowed`)
  const made = await withMadeDatabase(options, (deps) => createOrganization(deps, { name: wanted, plan: options.plan }))
  if (options.json) return print(JSON.stringify(show(made)))
  print(`made the organization ${visible(made.name)} on plan ${made.plan}`)
}

export async function listOrgs(options: Common): Promise<void> {
  const items = (await withDatabase(options, ({ db }) => listOrganizations(db))).map(show)
  printList(
    {
      items,
      columns: [
        ['NAME', ({ name }) => name],
        ['PLAN', ({ plan }) => plan],
        ['CREATED', ({ createdAt }) => createdAt],
        ['ID', ({ id }) => id],
      ],
      empty: 'no organization yet: "incmon org create NAME" makes one',
    },
    options.json,
  )
}

export async function setPlan(name: string, plan: Plan, options: Common): Promise<void> {
  const changed = await withDatabase(options, (deps) =>
    changeOrganization(deps, requireOrganization(deps.db, name).key, { plan }),
  )
  if (options.json) return print(JSON.stringify(show(changed)))
  print(`${visible(changed.name)} is on plan ${changed.plan} now`)
}

function show({ id, name, plan, settings, createdAt }: OrganizationRecord) {
  return { id, name, plan, settings, createdAt: instant(createdAt) }
}
