/** incmon alert: alerts listed, shown, and resolved by a person. */
import { withApi } from '../api/api.ts'
import { type OfOrganization, requireOrganization } from '../api/organization.ts'
import { type Alert, requireRecord, serviceNames } from '../api/records.ts'
import type { Common } from '../database.ts'
import { UsageError } from '../failure.ts'
import { print, printError, printList, visible } from '../output.ts'
import { showAlertWhole } from '../show.ts'

/** As many as the API answers at once. */
const MOST = 500

type Filter = OfOrganization & { readonly status?: 'firing' | 'resolved'; readonly limit: number }

/** Lists the newest alerts: there may be millions. */
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
        ['SUMMARY', ({ name, summary }) => (summary === name ? null : summary)],
        ['ID', ({ id }) => id],
      ],
      empty: options.status ? `no alert is ${options.status}` : 'no alert yet',
    },
    options.json,
  )
  if (items.length < total && !options.json) {
    printError(`the newest ${items.length} of ${total}: --limit shows up to ${MOST}`)
  }
}

type Page = { readonly data: readonly Alert[]; readonly pagination: { readonly total: number } }

export async function showOneAlert(id: string, options: Common): Promise<void> {
  await withApi(options, async (api) => {
    const { found, organization } = await requireRecord<Alert>(api, 'alert', id, options)
    const service = (await serviceNames(api, organization.id))(found.serviceId)
    const whole = { ...found, service, organization: organization.name }
    print(options.json ? JSON.stringify(whole, null, 2) : showAlertWhole(whole))
  })
}

/** Resolves an alert by a person's word; one that is resolved already stays as it is. */
export async function resolveOneAlert(id: string, options: Common): Promise<void> {
  await withApi(options, async (api) => {
    const { found, organization } = await requireRecord<Alert>(api, 'alert', id, options)
    const service = (await serviceNames(api, organization.id))(found.serviceId)
    const isChanged = found.status === 'firing'
    const asked = { organization: organization.id, body: { status: 'resolved' } }
    const alert = isChanged ? await api.json<Alert>('PATCH', `/api/alerts/${found.id}`, asked) : found
    const more = { service, organization: organization.name, changed: isChanged }
    if (options.json) return print(JSON.stringify({ ...alert, ...more }))
    const what = `${visible(alert.name)} (${visible(service)})`
    print(isChanged ? `resolved ${what}` : `${what} is resolved already, since ${alert.endsAt}`)
  })
}

/** `--limit`: how many alerts are listed. */
export function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MOST) return limit
  throw new UsageError(`--limit: ${text} is no number of alerts: allowed are 1 to ${MOST}`)
}
