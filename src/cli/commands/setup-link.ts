/** incmon setup-link: a link that signs one person in with a browser. */
import { createSetupLink } from '../../operations/sessions.ts'
import { setupAddress } from '../../server/welcome.ts'
import { type Common, requireOrganization, withDatabase } from '../database.ts'
import { print } from '../output.ts'
import { serverAddress } from '../server-address.ts'

/** Prints the link; it works while the server runs on this database. */
export async function printSetupLink(
  options: Common & { readonly org?: string; readonly url?: string },
): Promise<void> {
  const url = serverAddress(options)
  const { secret } = await withDatabase(options, (deps) =>
    createSetupLink(deps, requireOrganization(deps.db, options.org).key),
  )
  const link = setupAddress(url, secret)
  print(options.json ? JSON.stringify({ link }) : link)
}
