/** incmon incident: lists, shows and changes incidents through the API. */
import { type Command, Option } from 'commander'
import { firingText, INCIDENT_STATUSES, type IncidentStatus } from '../../../domain/incident/incident.ts'
import { SEVERITIES, type Severity } from '../../../domain/severity.ts'
import { visible } from '../../../domain/terminal.ts'
import { countOf, joinNames } from '../../../domain/text.ts'
import type { Api } from '../../api/api.ts'
import {
  type Incident,
  isPartOf,
  type Named,
  type OrganizationOptions,
  requireRecord,
  type Suspect,
  serviceNames,
  type WholeIncident,
  withOrganization,
  withRecord,
} from '../../api/records.ts'
import { CommandError, ErrorResponse, UsageError } from '../../failure.ts'
import { hint, print, printList, spellCommands } from '../../output.ts'
import { addCommand, addOrgCommand } from '../../plain-command.ts'
import { formatIncident } from '../../show.ts'
import { addIncidentActions } from './incident-actions.ts'
import { addPostmortem } from './postmortem.ts'

const ID = 'the number or id of the incident, or at least the last 8 characters of the id'

export function addIncident(program: Command): void {
  const incident = addCommand(program, 'incident', 'manage incidents and their postmortems')
  addOrgCommand(incident, 'list', 'list the incidents of an organization, newest first')
    .addOption(new Option('--status <status>', 'show only incidents with this status').choices(INCIDENT_STATUSES))
    .action(listIncidents)
  addOrgCommand(incident, 'show', 'show an incident with its alerts, suspects and timeline')
    .argument('<id>', ID)
    .action(showIncident)
  addOrgCommand(incident, 'open', 'open an incident; firing alerts of its service that are in no incident join it')
    .argument('<service>', 'the name or id of the service, or namespace/name')
    .argument('<title...>', 'the title')
    .addOption(new Option('--severity <severity>', 'the severity').choices(SEVERITIES).default('critical'))
    .action(openIncident)
  addOrgCommand(incident, 'edit', 'change the title or the severity of an incident')
    .argument('<id>', ID)
    .option('--title <title>', 'the new title')
    .addOption(new Option('--severity <severity>', 'the new severity').choices(SEVERITIES))
    .action(editIncident)
  addOrgCommand(incident, 'ack', 'acknowledge an incident to show that somebody is working on it')
    .argument('<id>', ID)
    .option('--group', 'acknowledge all open incidents with the same cause')
    .action(acknowledgeIncident)
  addOrgCommand(incident, 'note', 'add a note to the timeline of an incident')
    .argument('<id>', ID)
    .argument('<text...>', 'the note')
    .action(noteIncident)
  addOrgCommand(
    incident,
    'resolve',
    'resolve an incident and, on the Team and Pro plans, create its postmortem; alerts that are still firing open no new incident until they have ended',
  )
    .argument('<id>', ID)
    .action(resolveIncident)
  addOrgCommand(incident, 'reopen', 'reopen a resolved incident').argument('<id>', ID).action(reopenIncident)
  addOrgCommand(
    incident,
    'merge',
    'move the alerts, links and notes of an incident to another incident, then resolve the first incident',
  )
    .argument('<id>', 'the number or id of the incident to merge')
    .argument('<into>', 'the number or id of the incident to keep')
    .action(mergeIncidents)
  addIncidentActions(incident, ID)
  addPostmortem(incident, ID)
}

async function listIncidents(options: OrganizationOptions & { readonly status?: IncidentStatus }): Promise<void> {
  const items = await withOrganization(options, async (api) => {
    const serviceOf = await serviceNames(api)
    const filter = options.status === undefined ? '' : `?status=${options.status}`
    const incidents = await api.all<Incident>(`/api/incidents${filter}`)
    return incidents.map((incident) => ({ ...incident, service: serviceOf(incident.serviceId) }))
  })
  const empty = options.status ? `there are no ${options.status} incidents` : 'there are no incidents yet'
  printList(options, items, empty, {
    NUMBER: 'number',
    CREATED: 'createdAt',
    STATUS: 'status',
    SEVERITY: 'severity',
    SERVICE: 'service',
    TITLE: 'title',
    POSTMORTEM: ({ hasPostmortem }) => (hasPostmortem ? 'yes' : null),
    ID: 'id',
  })
}

async function showIncident(id: string, options: OrganizationOptions): Promise<void> {
  await withRecord<WholeIncident, void>('incident', id, options, async ({ api, found, organization }) => {
    const service = (await serviceNames(api))(found.serviceId)
    const suspects = await api.all<Suspect>(`/api/incidents/${found.id}/suspects`)
    const whole = { ...found, service, organization: organization.name, suspects }
    print(options.json ? JSON.stringify(whole, null, 2) : formatIncident(whole))
  })
}

async function openIncident(
  service: string,
  words: readonly string[],
  options: OrganizationOptions & { readonly severity: Severity },
): Promise<void> {
  const opened = await withOrganization(options, async (api) => {
    const services = await api.json<{ id: string; name: string; namespace: string }[]>(
      'GET',
      '/api/services?archived=1',
    )
    const isMeant = (one: (typeof services)[number]) =>
      [one.name, `${one.namespace}/${one.name}`].includes(service) || isPartOf(one.id, service)
    const [found, second] = services.filter(isMeant)
    if (!found)
      throw new CommandError(
        `there is no service named ${service}: list them with "incmon service list". A service is created by its first alert or event; until then, open the incident for a related service`,
      )
    if (second) throw new CommandError(`several services are named ${service}: use NAMESPACE/NAME or the id`)
    const body = { title: words.join(' '), serviceId: found.id, severity: options.severity }
    return api.json<Incident>('POST', '/api/incidents', { body })
  })
  print(options.json ? JSON.stringify(opened) : `opened ${nameOf(opened)}`)
}

async function editIncident(
  id: string,
  { title, severity, ...options }: OrganizationOptions & { readonly title?: string; readonly severity?: Severity },
): Promise<void> {
  if (title === undefined && severity === undefined)
    throw new UsageError('nothing to change: specify --title or --severity')
  await change(id, options, async ({ api, found }) => {
    const after = await api.json<Incident>('PATCH', `/api/incidents/${found.id}`, { body: { title, severity } })
    return `changed incident ${after.number}: ${visible(after.title)}, ${after.severity}`
  })
}

/** Acknowledges an incident if its status is `open`, or all open incidents of its group. */
async function acknowledgeIncident(
  id: string,
  options: OrganizationOptions & { readonly group?: boolean },
): Promise<void> {
  await change(id, options, async ({ api, found }) => {
    if (options.group) {
      const { data } = await api.json<{ data: Incident[] }>('POST', `/api/incidents/${found.id}/acknowledge-group`)
      return `acknowledged ${countOf(data.length, 'incident')}: ${joinNames(data.map(nameOf))}`
    }
    if (found.status !== 'open') return `${nameOf(found)} is already ${found.status}`
    await setStatus(api, found, 'investigating')
    return `acknowledged ${nameOf(found)}: its status is now investigating`
  })
}

async function reopenIncident(id: string, options: OrganizationOptions): Promise<void> {
  await change(id, options, async ({ api, found }) => {
    if (found.status !== 'resolved') return `${nameOf(found)} is not resolved: its status is ${found.status}`
    await setStatus(api, found, 'investigating')
    return `reopened ${nameOf(found)}: its status is now investigating`
  })
}

async function noteIncident(id: string, words: readonly string[], options: OrganizationOptions): Promise<void> {
  const text = words.join(' ').trim()
  if (text === '') throw new UsageError('<text> is empty: write the note after the incident number')
  await change(id, options, async ({ api, found }) => {
    await api.json('POST', `/api/incidents/${found.id}/notes`, { body: { text } })
    return `added a note to ${nameOf(found)}`
  })
}

async function mergeIncidents(id: string, into: string, options: OrganizationOptions): Promise<void> {
  await change(id, options, async ({ api, found, organization }) => {
    const kept = await requireRecord<Incident>(api, 'incident', into, organization.name)
    await api.json('POST', `/api/incidents/${found.id}/merge`, { body: { into: kept.found.id } })
    return `merged ${nameOf(found)} into ${nameOf(kept.found)}: incident ${found.number} is now resolved`
  })
}

/** Changes an incident. Prints the sentence that `work` returns or, with --json, the changed incident. */
async function change(
  id: string,
  options: OrganizationOptions,
  work: (named: Named<Incident>) => Promise<string>,
): Promise<void> {
  await withRecord<Incident, void>('incident', id, options, async (before) => {
    const sentence = await work(before)
    if (!options.json) return print(sentence)
    const after = await before.api.json<WholeIncident>('GET', `/api/incidents/${before.found.id}`)
    print(JSON.stringify({ ...after, organization: before.organization.name }))
  })
}

function setStatus(api: Api, { id }: Incident, status: IncidentStatus): Promise<Incident> {
  return api.json('PATCH', `/api/incidents/${id}`, { body: { status } })
}

function nameOf({ number, title }: Incident): string {
  return `incident ${number} (${visible(title)})`
}

async function resolveIncident(id: string, options: OrganizationOptions): Promise<void> {
  await withRecord<Incident, void>('incident', id, options, async ({ api, found, organization }) => {
    const isChanged = found.status !== 'resolved'
    const incident = await setStatus(api, found, 'resolved')
    const service = (await serviceNames(api))(incident.serviceId)
    if (options.json) {
      const more = { service, organization: organization.name, changed: isChanged }
      return print(JSON.stringify({ ...incident, ...more }))
    }
    const what = `${nameOf(incident)} of ${visible(service)}`
    print(isChanged ? `resolved ${what}` : `${what} was already resolved at ${incident.resolvedAt}`)
    const { firingAlerts } = incident
    const until =
      firingAlerts === 1 ? 'it opens no new incident until it has' : 'they open no new incident until they have'
    if (firingAlerts > 0) print(`${firingText(firingAlerts)}: ${until} ended`)
    const postmortem = hint(options, `incident postmortem ${incident.number}`)
    const read = `read its postmortem with ${postmortem}`
    print(incident.hasPostmortem ? read : await whyNoPostmortem(api, incident.id, options))
  })
}

async function whyNoPostmortem(api: Api, id: string, options: OrganizationOptions): Promise<string> {
  try {
    await api.json('GET', `/api/incidents/${id}/postmortem`)
    return 'it has a postmortem'
  } catch (error) {
    if (error instanceof ErrorResponse && error.status === 404) return spellCommands(error.message, options)
    throw error
  }
}
