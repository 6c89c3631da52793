/** incmon setup-link: a link that signs one person in with a browser. */
import { setupAddress } from '../../server/welcome.ts'
import { withApi } from '../api/api.ts'
import { type OfOrganization, requireOrganization } from '../api/organization.ts'
import { print } from '../output.ts'
import { serverAddress } from '../server-address.ts'

/** Prints the link; it works while the server runs on this database. */
export async function printSetupLink(options: OfOrganization & { readonly url?: string }): Promise<void> {
  const url = serverAddress(options)
  const { secret } = await withApi(options, async (api) => {
    const { id: organization } = await requireOrganization(api, options)
    return api.json<{ secret: string }>('POST', '/operator/setup-links', { organization })
  })
  const link = setupAddress(url, secret)
  print(options.json ? JSON.stringify({ link }) : link)
}
