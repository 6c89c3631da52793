/** /operator/setup-links: creates links that sign in one person with a browser. */
import { createSetupLink } from '../../operations/sessions.ts'
import { operatorIdentity } from '../middleware/operator.ts'
import { json } from '../middleware/reply.ts'
import { operator } from '../route.ts'

export const setupLinkRoute = operator({
  method: 'POST',
  path: '/operator/setup-links',
  handle: async ({ c, store }) => {
    const { organizationId } = await operatorIdentity(c, store)
    return json(await store.run(createSetupLink, organizationId), 201)
  },
})
