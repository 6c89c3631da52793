/** incmon alert: lists, shows and resolves alerts. */
import { type Command, Option } from 'commander'
import { visible } from '../../domain/terminal.ts'
import type { IdMatch } from '../../store/id-matches.ts'
import type { Api } from '../api/api.ts'
import {
  type Alert,
  type OrganizationOptions,
  serviceNames,
  type WholeAlert,
  withOrganization,
  withRecord,
} from '../api/records.ts'
import { UsageError } from '../failure.ts'
import { print, printError, printList } from '../output.ts'
import { addCommand, addOrgCommand } from '../plain-command.ts'
import { formatAlert } from '../show.ts'

/** The maximum page size of the API. */
const MAX_LIMIT = 500
const ID = 'the id of the alert, or at least the last 8 characters of the id'

export function addAlert(program: Command): void {
  const alert = addCommand(program, 'alert', 'manage alerts')
  addOrgCommand(alert, 'list', 'list the newest alerts of an organization')
    .addOption(new Option('--status <status>', 'show only alerts with this status').choices(['firing', 'resolved']))
    .option('--limit <number>', 'the maximum number of alerts', parseLimit, 50)
    .action(listAlerts)
  addOrgCommand(alert, 'show', 'show an alert with its incident, its rules and its labels')
    .argument('<id>', ID)
    .action(showAlert)
  addOrgCommand(alert, 'resolve', 'resolve an alert manually').argument('<id>', ID).action(resolveAlert)
}

type Filter = OrganizationOptions & { readonly status?: 'firing' | 'resolved'; readonly limit: number }

/** Lists only the newest alerts, because there might be millions. */
async function listAlerts(options: Filter): Promise<void> {
  const { items, total } = await withOrganization(options, async (api) => {
    const nameOf = await serviceNames(api)
    const status = options.status === undefined ? '' : `&status=${options.status}`
    const page = await api.json<Page>('GET', `/api/alerts?limit=${options.limit}${status}`)
    const items = page.data.map((alert) => ({ ...alert, service: nameOf(alert.serviceId) }))
    return { items, total: page.pagination.total }
  })
  const empty = options.status ? `there are no ${options.status} alerts` : 'there are no alerts yet'
  printList(options, items, empty, {
    STARTED: 'startsAt',
    STATUS: 'status',
    SEVERITY: 'severity',
    SERVICE: 'service',
    ALERT: 'name',
    SUMMARY: [({ name, summary }) => (summary === name ? null : summary), 60],
    ID: 'id',
  })
  if (items.length < total && !options.json) {
    printError(`showing the newest ${items.length} of ${total} alerts; use --limit to show up to ${MAX_LIMIT}`)
  }
}

type Page = { readonly data: readonly Alert[]; readonly pagination: { readonly total: number } }

async function showAlert(id: string, options: OrganizationOptions): Promise<void> {
  await withRecord<WholeAlert, void>('alert', id, options, async ({ api, found, organization }) => {
    const service = (await serviceNames(api))(found.serviceId)
    const whole = { ...found, service, organization: organization.name }
    if (options.json) return print(JSON.stringify(whole, null, 2))
    const incident = found.incidentId === null ? null : await incidentName(api, found.incidentId)
    print(formatAlert({ ...whole, incident }))
  })
}

/** Returns the number and the shortened id of an incident. */
async function incidentName(api: Api, id: string): Promise<string> {
  const [match] = await api.json<IdMatch[]>('GET', `/operator/incidents/${id}`)
  return match?.number ? `${match.number} (${id})` : id
}

async function resolveAlert(id: string, options: OrganizationOptions): Promise<void> {
  await withRecord<Alert, void>('alert', id, options, async ({ api, found, organization }) => {
    const service = (await serviceNames(api))(found.serviceId)
    const isChanged = found.status === 'firing'
    const body = { status: 'resolved' }
    const alert = isChanged ? await api.json<Alert>('PATCH', `/api/alerts/${found.id}`, { body }) : found
    const more = { service, organization: organization.name, changed: isChanged }
    if (options.json) return print(JSON.stringify({ ...alert, ...more }))
    const what = `${visible(alert.name)} (${visible(service)})`
    print(isChanged ? `resolved ${what}` : `${what} was already resolved at ${alert.endsAt}`)
  })
}

function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new UsageError(`--limit: ${text} is not valid: use a number from 1 to ${MAX_LIMIT}`)
}
