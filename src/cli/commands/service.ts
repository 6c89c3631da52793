/** incmon service: lists, shows and merges services. */
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { misspelled } from '../../domain/suggestion.ts'
import { visible } from '../../domain/terminal.ts'
import {
  isPartOf,
  listServices,
  type OrganizationOptions,
  type Service,
  type WholeService,
  withOrganization,
} from '../api/records.ts'
import { CommandError, UsageError } from '../failure.ts'
import { hint, print, printList } from '../output.ts'
import { addCommand, addOrgCommand } from '../plain-command.ts'
import { formatService } from '../show.ts'

export function addService(program: Command): void {
  const service = addCommand(program, 'service', 'manage services, which are the monitored workloads')
  addOrgCommand(service, 'list', 'list the services of an organization')
    .option('--archived', 'include archived services')
    .action(printServices)
  addOrgCommand(service, 'show', 'show a service with the reasons for its score, its open incidents and newest alerts')
    .argument('<service>', 'the service, as id or namespace/name')
    .action(showService)
  addOrgCommand(service, 'merge', 'merge a service into another service and move the history; a merge cannot be undone')
    .argument('<from>', 'the service to remove, as id or namespace/name')
    .argument('<into>', 'the service that receives the history')
    .option('--yes', 'skip the confirmation')
    .action(mergeServices)
}

async function printServices(options: OrganizationOptions & { readonly archived?: boolean }): Promise<void> {
  const items = await withOrganization(options, (api) => listServices(api, options.archived ?? false))
  const empty = `there are no services: the first webhook creates one; send a test with ${hint(options, 'send-test alertmanager')}`
  printList(options, items, empty, {
    NAMESPACE: 'namespace',
    NAME: 'name',
    CLUSTER: 'cluster',
    STATUS: 'status',
    SCORE: 'score',
    REASON: ['reason', 60],
    'LAST ALERT': 'lastAlertAt',
    ID: 'id',
  })
}

async function showService(name: string, options: OrganizationOptions): Promise<void> {
  await withOrganization(options, async (api, organization) => {
    const { id } = requireService(await listServices(api, true), name)
    const whole = { ...(await api.json<WholeService>('GET', `/api/services/${id}`)), organization: organization.name }
    print(options.json ? JSON.stringify(whole, null, 2) : formatService(whole))
  })
}

type MergeOptions = OrganizationOptions & { readonly yes?: boolean }

async function mergeServices(from: string, into: string, options: MergeOptions): Promise<void> {
  await withOrganization(options, async (api) => {
    const all = await listServices(api, true)
    const [removed, kept] = [requireService(all, from), requireService(all, into)]
    if (removed.id === kept.id)
      throw new CommandError(`${titleOf(removed)} cannot be merged into itself: choose two different services`)
    if (!options.yes)
      await requireConsent(`Merge ${titleOf(removed)} into ${titleOf(kept)}? This cannot be undone. [y/N] `)
    await api.json('POST', `/api/services/${removed.id}/merge`, { body: { into: kept.id } })
    if (options.json) return print(JSON.stringify({ from: removed, into: kept }))
    print(
      `merged ${titleOf(removed)} into ${titleOf(kept)}; future events with the old name will belong to ${titleOf(kept)}`,
    )
  })
}

function requireService(all: readonly Service[], text: string): Service {
  const named = all.filter((service) => [pathOf(service), titleOf(service)].includes(text.trim()))
  const found = named.length > 0 ? named : all.filter(({ id }) => isPartOf(id, text))
  const [only, second] = found
  if (second)
    throw new CommandError(`${text} means several services: use one of the ids ${found.map(({ id }) => id).join(', ')}`)
  if (!only) {
    const meant = all.find(({ name }) => name === text.trim())
    const near = meant ? pathOf(meant) : misspelled(text.trim(), all.map(pathOf))
    const ask = near === null ? '' : `did you mean ${visible(near)}? `
    throw new CommandError(
      `there is no service ${text}: ${ask}use an id or namespace/name, as shown by "incmon service list --archived"`,
    )
  }
  return only
}

function pathOf({ namespace, name }: Service): string {
  return `${namespace}/${name}`
}

function titleOf(service: Service): string {
  return visible(service.cluster === '' ? pathOf(service) : `${service.cluster}/${pathOf(service)}`)
}

/** Asks for confirmation, because a merge cannot be undone. */
async function requireConsent(question: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new UsageError('a merge cannot be undone, and there is no terminal to ask for confirmation: add --yes')
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // Ctrl-C and Ctrl-D end the prompt without an answer and without a newline.
  const unanswered = () => {
    print('')
    return ''
  }
  const answer = await terminal.question(question).catch(unanswered)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was merged: the merge was not confirmed')
}
