/** incmon org: creates and lists organizations, and changes their plans. */
import { Argument, type Command, Option } from 'commander'
import { isPrintable, PLANS, type Plan } from '../../domain/organization.ts'
import { shellQuote, visible } from '../../domain/terminal.ts'
import { withApi } from '../api/api.ts'
import { listOrganizations, type Organization, requireOrganization } from '../api/records.ts'
import { UsageError } from '../failure.ts'
import { type Common, hint, print, printList } from '../output.ts'
import { addCommand } from '../plain-command.ts'

const MAX_NAME = 100
const PATH = '/operator/organizations'
const POSTMORTEMS: Readonly<Record<Plan, string>> = {
  Free: 'which does not include postmortems',
  Team: 'with postmortems',
  Pro: 'with postmortems',
}

export function addOrg(program: Command): void {
  const org = addCommand(program, 'org', 'organizations')
  addCommand(org, 'create', 'create an organization')
    .argument('<name>', 'the name of the organization')
    .addOption(new Option('--plan <plan>', 'the plan of the organization').choices(PLANS).default('Free'))
    .action(createOrg)
  addCommand(org, 'list', 'list the organizations').action(listOrgs)
  addCommand(org, 'set-plan', 'change the plan of an organization')
    .argument('<name>', 'the name of the organization')
    .addArgument(new Argument('<plan>', 'the new plan').choices(PLANS))
    .action(setPlan)
}

/** Creates an organization, and the database if it does not exist. */
async function createOrg(name: string, options: Common & { readonly plan: Plan }): Promise<void> {
  const wanted = name.trim()
  if (wanted === '' || wanted.length > MAX_NAME) throw new UsageError(`<name>: use 1 to ${MAX_NAME} characters`)
  if (!isPrintable(wanted)) throw new UsageError('<name>: control characters are not allowed; use printable characters')
  const body = { name: wanted, plan: options.plan }
  const made = await withApi(options, (api) => api.json<Organization>('POST', PATH, { body }), 'create')
  if (options.json) return print(JSON.stringify(made))
  const other =
    made.plan === 'Free' ? `; change the plan with ${hint(options, `org set-plan ${shellQuote(made.name)} Team`)}` : ''
  print(`created organization ${visible(made.name)} on the ${made.plan} plan, ${POSTMORTEMS[made.plan]}${other}`)
}

async function listOrgs(options: Common): Promise<void> {
  const items = await withApi(options, listOrganizations)
  const empty = `there are no organizations: create one with ${hint(options, 'org create NAME')}`
  printList(options, items, empty, { NAME: 'name', PLAN: 'plan', CREATED: 'createdAt', ID: 'id' })
}

async function setPlan(name: string, plan: Plan, options: Common): Promise<void> {
  const changed = await withApi(options, async (api) => {
    const { id } = await requireOrganization(api, name)
    return api.json<Organization>('PATCH', `${PATH}/${id}`, { body: { plan } })
  })
  if (options.json) return print(JSON.stringify(changed))
  print(`${visible(changed.name)} is now on the ${changed.plan} plan`)
}
