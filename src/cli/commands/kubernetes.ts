/** incmon kubernetes: prints what to create in a cluster, and checks the permissions of the configured clusters. */
import type { Command } from 'commander'
import { visible } from '../../domain/terminal.ts'
import { unreachableRemedy } from '../../domain/unreachable.ts'
import { requireConfig } from '../database.ts'
import { CommandError, NegativeAnswer, UsageError } from '../failure.ts'
import { type Common, print, printList } from '../output.ts'
import { addCommand, addKeys } from '../plain-command.ts'

export function addKubernetes(program: Command): void {
  const kubernetes = addCommand(program, 'kubernetes', 'watch Kubernetes clusters')
  addCommand(kubernetes, 'manifest', 'print the service account and the read-only role that incmon needs, as YAML')
    .option('--namespace <name>', 'the namespace of the service account', 'incmon')
    .action(printManifest)
  const check = addCommand(kubernetes, 'check', 'check whether incmon may read the configured clusters')
  addKeys(check, ['kubernetes']).action(checkClusters)
}

async function printManifest({ namespace }: { readonly namespace: string }): Promise<void> {
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(namespace)) {
    throw new UsageError('--namespace: use lower-case letters, digits and hyphens')
  }
  const { manifestOf } = await import('../../kubernetes/check.ts')
  print(manifestOf(namespace))
}

/** @throws NegativeAnswer if a permission is missing */
async function checkClusters(options: Common): Promise<void> {
  const { kubernetes } = requireConfig(options)
  if (kubernetes.length === 0) {
    throw new CommandError(
      'no cluster is configured: add a [[kubernetes]] table to incmon.toml, or use --kubernetes KUBECONFIG',
    )
  }
  const { checkCluster } = await import('../../kubernetes/check.ts')
  const found = []
  for (const value of kubernetes) found.push(await checkCluster(value).catch(explained))
  if (options.json) print(JSON.stringify(found, null, 2))
  else
    for (const { name, server, permissions } of found) {
      print(`${visible(name)} (${visible(server)})`)
      printList({}, permissions, '', {
        RESOURCE: 'resource',
        ALLOWED: ({ isAllowed }) => (isAllowed ? 'yes' : 'no'),
        'MISSING WITHOUT IT': ({ isAllowed, without }) => (isAllowed ? '' : without),
      })
    }
  if (found.some(({ permissions }) => permissions.some(({ isAllowed }) => !isAllowed))) throw new NegativeAnswer()
}

function explained(error: unknown): never {
  if (error instanceof Error && error.constructor.name === 'ApiError') {
    const { status } = error as Error & { readonly status: number }
    const what = status === 401 ? 'the API server refused the token; create a new one' : error.message
    const remedy = unreachableRemedy(error.message)
    throw new CommandError(`the API server cannot be asked: ${what}${remedy === null ? '' : `; ${remedy}`}`)
  }
  throw error
}
