/** incmon alert: lists, shows and resolves alerts. */
import { withApi } from '../api/api.ts'
import { type OrganizationOptions, requireOrganization } from '../api/organization.ts'
import { type Alert, incidentName, requireRecord, serviceNames } from '../api/records.ts'
import { UsageError } from '../failure.ts'
import { print, printError, printList, visible } from '../output.ts'
import { formatAlert } from '../show.ts'

/** The maximum page size of the API. */
const MAX_LIMIT = 500

type Filter = OrganizationOptions & { readonly status?: 'firing' | 'resolved'; readonly limit: number }

/** Lists the newest alerts, because there may be millions. */
export async function listOrgAlerts(options: Filter): Promise<void> {
  const { items, total } = await withApi(options, async (api) => {
    const { id: organization } = await requireOrganization(api, options)
    const nameOf = await serviceNames(api, organization)
    const status = options.status === undefined ? '' : `&status=${options.status}`
    const path = `/api/alerts?limit=${options.limit}${status}`
    const page = await api.json<Page>('GET', path, { organization })
    const items = page.data.map((alert) => ({ ...alert, service: nameOf(alert.serviceId) }))
    return { items, total: page.pagination.total }
  })
  printList(
    {
      items,
      columns: [
        ['STARTED', ({ startsAt }) => startsAt],
        ['STATUS', ({ status }) => status],
        ['SEVERITY', ({ severity }) => severity],
        ['SERVICE', ({ service }) => service],
        ['ALERT', ({ name }) => name],
        ['SUMMARY', ({ name, summary }) => (summary === name ? null : summary), 60],
        ['ID', ({ id }) => id],
      ],
      empty: options.status ? `no alert is ${options.status}` : 'no alert yet',
    },
    options.json,
  )
  if (items.length < total && !options.json) {
    printError(`showing the newest ${items.length} of ${total}: --limit shows up to ${MAX_LIMIT}`)
  }
}

type Page = { readonly data: readonly Alert[]; readonly pagination: { readonly total: number } }

/** Prints an alert with its labels and its incident. */
export async function showOneAlert(id: string, options: OrganizationOptions): Promise<void> {
  await withApi(options, async (api) => {
    const { found, organization } = await requireRecord<Alert>(api, 'alert', id, options)
    const service = (await serviceNames(api, organization.id))(found.serviceId)
    const whole = { ...found, service, organization: organization.name }
    if (options.json) return print(JSON.stringify(whole, null, 2))
    const incident = found.incidentId === null ? null : await incidentName(api, found.incidentId)
    print(formatAlert({ ...whole, incident }))
  })
}

/** Resolves an alert. An alert that is already resolved does not change. */
export async function resolveOneAlert(id: string, options: OrganizationOptions): Promise<void> {
  await withApi(options, async (api) => {
    const { found, organization } = await requireRecord<Alert>(api, 'alert', id, options)
    const service = (await serviceNames(api, organization.id))(found.serviceId)
    const isChanged = found.status === 'firing'
    const asked = { organization: organization.id, body: { status: 'resolved' } }
    const alert = isChanged ? await api.json<Alert>('PATCH', `/api/alerts/${found.id}`, asked) : found
    const more = { service, organization: organization.name, changed: isChanged }
    if (options.json) return print(JSON.stringify({ ...alert, ...more }))
    const what = `${visible(alert.name)} (${visible(service)})`
    print(isChanged ? `resolved ${what}` : `${what} is already resolved, since ${alert.endsAt}`)
  })
}

/** Parses the number of alerts in `--limit`. */
export function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new UsageError(`--limit: ${text} is not a number of alerts: write 1 to ${MAX_LIMIT}`)
}
