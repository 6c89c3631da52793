/** /operator/setup-links: creates links that sign in one person with a browser. */
import { createSetupLink } from '../../operations/sessions.ts'
import { operatorIdentity } from '../middleware/operator.ts'
import { json } from '../middleware/reply.ts'
import { operator } from '../route.ts'

export const setupLinkRoute = operator({
  method: 'POST',
  path: '/operator/setup-links',
  handle: ({ c, deps }) => json(createSetupLink(deps, operatorIdentity(c, deps.db).organizationId), 201),
})
