/** incmon service: services listed, and two of them merged. */
import { createInterface } from 'node:readline/promises'
import { withApi } from '../api/api.ts'
import { type OfOrganization, requireOrganization } from '../api/organization.ts'
import { listServices, type Service } from '../api/records.ts'
import { hint } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { print, printList, visible } from '../output.ts'

export async function listOrgServices(options: OfOrganization & { readonly archived?: boolean }): Promise<void> {
  const items = await withApi(options, async (api) => {
    const { id } = await requireOrganization(api, options)
    return listServices(api, id, options.archived ?? false)
  })
  printList(
    {
      items,
      columns: [
        ['NAMESPACE', ({ namespace }) => namespace],
        ['NAME', ({ name }) => name],
        ['CLUSTER', ({ cluster }) => cluster],
        ['STATUS', ({ status }) => status],
        ['SCORE', ({ score }) => score],
        ['LAST ALERT', ({ lastAlertAt }) => lastAlertAt],
        ['ID', ({ id }) => id],
      ],
      empty: `no service yet: services come with the first webhook, ${hint(options, 'send-test metrics')} sends one`,
    },
    options.json,
  )
}

/** `from` and `into` are ids, or names as `namespace/name`. */
export async function mergeOrgServices(
  from: string,
  into: string,
  options: OfOrganization & { readonly yes?: boolean },
): Promise<void> {
  await withApi(options, async (api) => {
    const { id: organization } = await requireOrganization(api, options)
    const all = await listServices(api, organization, true)
    const [gone, kept] = [requireService(all, from, options), requireService(all, into, options)]
    if (gone.id === kept.id) throw new CommandError(`${titleOf(gone)} cannot be merged into itself: name two services`)
    if (!options.yes) await requireConsent(`Merge ${titleOf(gone)} into ${titleOf(kept)}? Nothing undoes it. [y/N] `)
    await api.json('POST', `/api/services/${gone.id}/merge`, { organization, body: { into: kept.id } })
    if (options.json) return print(JSON.stringify({ from: gone, into: kept }))
    print(`merged ${titleOf(gone)} into ${titleOf(kept)}; what is sent under the old name follows`)
  })
}

function requireService(all: readonly Service[], text: string, options: OfOrganization): Service {
  const found = all.filter((service) => [service.id, pathOf(service), titleOf(service)].includes(text.trim()))
  const [only, second] = found
  if (second) throw new CommandError(`${text} is in several clusters: use one of the ids ${found.map(({ id }) => id)}`)
  if (!only) {
    throw new CommandError(
      `no service ${text}: ${hint(options, 'service list --archived')} shows them; name an id or namespace/name`,
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

/** Nothing undoes a merge, so that a person says yes, or a script said `--yes`. */
async function requireConsent(question: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new UsageError('nothing undoes a merge, and there is no terminal to ask on: add --yes')
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // Ctrl-C and Ctrl-D end the question without an answer, and leave the cursor behind it.
  const unanswered = () => {
    print('')
    return ''
  }
  const answer = await terminal.question(question).catch(unanswered)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('nothing was merged: it was not confirmed')
}
