/** /operator/organizations: lists, creates and changes organizations. */
import * as v from 'valibot'
import { PLANS, type Plan } from '../../domain/organization.ts'
import { changeOrganization, createOrganization } from '../../operations/organizations.ts'
import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import { instantText } from '../api/shapes.ts'
import { textField } from '../middleware/body.ts'
import { notFound } from '../middleware/problem.ts'
import { wordParameter } from '../middleware/query.ts'
import { json } from '../middleware/reply.ts'
import { operator } from '../route.ts'

const PATH = '/operator/organizations'
const MAX_NAME = 100
const FREE: Plan = 'Free'

export const operatorOrganizationRoutes = [
  operator({
    method: 'GET',
    path: PATH,
    handle: async ({ store }) => json((await store.read(listOrganizations)).map(showTenant)),
  }),
  operator({
    method: 'POST',
    path: PATH,
    body: v.object({ name: textField(MAX_NAME), plan: v.optional(wordParameter(PLANS), FREE) }),
    handle: async ({ store, body }) => json(showTenant(await store.run(createOrganization, body)), 201),
  }),
  operator({
    method: 'PATCH',
    path: `${PATH}/:id`,
    body: v.object({ name: v.optional(textField(MAX_NAME)), plan: v.optional(wordParameter(PLANS)) }),
    handle: async ({ store, id, body }) => {
      const found = (await store.read(listOrganizations)).find((one) => one.id === id)
      if (!found) throw notFound('organization', 'GET /operator/organizations')
      return json(showTenant(await store.run(changeOrganization, found.rowId, body)))
    },
  }),
]

function showTenant({ id, name, plan, settings, createdAt }: OrganizationRecord) {
  return { id, name, plan, settings, createdAt: instantText(createdAt) }
}
