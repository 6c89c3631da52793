/** incmon service: services listed, and two of them merged. */
import { createInterface } from 'node:readline/promises'
import type { Deps } from '../../operations/deps.ts'
import { mergeServices } from '../../operations/services.ts'
import { listServices, type ServiceRecord } from '../../store/services.ts'
import { type Common, requireOrganization, withDatabase } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { instant, print, printList, visible } from '../output.ts'

type OfOrganization = Common & { readonly org?: string }

export async function listOrgServices(options: OfOrganization & { readonly archived?: boolean }): Promise<void> {
  const items = await withDatabase(options, ({ db, now }) => {
    const { key } = requireOrganization(db, options.org)
    return listServices(db, key, now(), options.archived ?? false).map(show)
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
      empty: 'no service yet: services come with the first webhook, "incmon send-test metrics" sends one',
    },
    options.json,
  )
}

function show({ id, name, namespace, cluster, status, score, lastAlertAt, archived }: ServiceRecord) {
  return { id, name, namespace, cluster, status, score, lastAlertAt: instant(lastAlertAt), archived }
}

/** `from` and `into` are ids, or names as `namespace/name`. */
export async function mergeOrgServices(
  from: string,
  into: string,
  options: OfOrganization & { readonly yes?: boolean },
): Promise<void> {
  await withDatabase(options, async (deps) => {
    const { key } = requireOrganization(deps.db, options.org)
    const [gone, kept] = [from, into].map((text) => requireService(deps, key, text)) as [ServiceRecord, ServiceRecord]
    if (gone.id === kept.id) throw new CommandError(`${titleOf(gone)} cannot be merged into itself: name two services`)
    if (!options.yes) await requireConsent(`Merge ${titleOf(gone)} into ${titleOf(kept)}? Nothing undoes it. [y/N] `)
    mergeServices(deps, key, gone.id, kept.id)
    if (options.json) return print(JSON.stringify({ from: show(gone), into: show(kept) }))
    print(`merged ${titleOf(gone)} into ${titleOf(kept)}; what is sent under the old name follows`)
  })
}

function requireService({ db, now }: Deps, organizationId: number, text: string): ServiceRecord {
  const all = listServices(db, organizationId, now(), true)
  const found = all.filter((service) => [service.id, pathOf(service), titleOf(service)].includes(text.trim()))
  const [only, second] = found
  if (second) throw new CommandError(`${text} is in several clusters: use one of the ids ${found.map(({ id }) => id)}`)
  if (!only) {
    throw new CommandError(
      `no service ${text}: "incmon service list --archived" shows them; name an id or namespace/name`,
    )
  }
  return only
}

function pathOf({ namespace, name }: ServiceRecord): string {
  return `${namespace}/${name}`
}

function titleOf(service: ServiceRecord): string {
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
