/** incmon setup-link: prints a link that signs one person in with a browser. */
import type { Command } from 'commander'
import type { Listening } from '../../server/context.ts'
import { setupAddress } from '../../server/welcome.ts'
import { type OrganizationOptions, withOrganization } from '../api/records.ts'
import { hint, requireConfig } from '../database.ts'
import { UsageError } from '../failure.ts'
import { print, printError } from '../output.ts'
import { addOrgCommand } from '../plain-command.ts'
import { configuredAddress, namedAddress, reachableUrl } from '../server-address.ts'

type Options = OrganizationOptions & { readonly url?: string }

export function addSetupLink(program: Command): void {
  addOrgCommand(
    program,
    'setup-link',
    'print a link that signs one person in as administrator; it works once, within 30 minutes',
  )
    .option(
      '--url <url>',
      'where browsers reach the server (default: INCMON_URL, else public-url, else where the server listens)',
    )
    .action(printSetupLink)
}

/** Without a server, the link works after the next start. */
async function printSetupLink(options: Options): Promise<void> {
  const named = namedAddress(options)
  const { secret, listening } = await withOrganization(options, async (api) => {
    const server = await api.json<{ listening: Listening | null }>('GET', '/operator/server')
    const made = await api.json<{ secret: string }>('POST', '/operator/setup-links')
    return { ...server, ...made }
  })
  const link = setupAddress(named ?? addressFor(listening, options), secret)
  print(options.json ? JSON.stringify({ link }) : link)
  if (listening === null) printError(`no server is running: start ${hint(options, 'serve')} before you open the link`)
}

function addressFor(listening: Listening | null, options: Options): string {
  if (listening !== null) return reachableUrl(listening.publicUrl)
  const config = requireConfig(options)
  const publicUrl = config['public-url'].replace(/\/+$/, '')
  if (publicUrl !== '') return publicUrl
  if (config.port !== 0) return configuredAddress(config)
  throw new UsageError('port 0 means any free port, and no server is running: start the server first, or set --url')
}
