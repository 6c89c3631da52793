/** /api/organization: the caller's own tenant, its plan and its settings. */
import * as v from 'valibot'
import { PLANS } from '../domain/organization.ts'
import { changeOrganization } from '../operations/organizations.ts'
import { findOrganization, type OrganizationRecord } from '../store/organizations.ts'
import { textField } from './body.ts'
import { notFound } from './problem.ts'
import { wordParameter } from './query.ts'
import { type Route, rest } from './route.ts'
import { instantShape, refusals, shownInstant, success, uuidShape } from './shapes.ts'

const PATH = '/api/organization'
const MAX_NAME = 100

const INCIDENTS = ['critical', 'off'] as const

const organizationShape = v.object({
  id: uuidShape,
  name: v.string(),
  plan: v.picklist(PLANS),
  settings: v.object({ 'auto-incidents': v.picklist(INCIDENTS), 'auto-resolve': v.boolean(), heartbeats: v.boolean() }),
  createdAt: instantShape,
})

const settingsField = v.object(
  {
    'auto-incidents': v.optional(wordParameter(INCIDENTS)),
    'auto-resolve': v.optional(v.boolean('expected true or false')),
    heartbeats: v.optional(v.boolean('expected true or false')),
  },
  'expected an object of settings',
)

export const organizationRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: PATH,
    summary: 'The organization of the token',
    scope: 'read',
    answers: success(organizationShape, 'The organization'),
    handle: ({ c, deps, identity }) => {
      const organization = findOrganization(deps.db, identity.organizationId)
      if (!organization) throw notFound('organization', 'incmon org list')
      return c.json(showOrganization(organization))
    },
  }),
  rest({
    method: 'PATCH',
    path: PATH,
    summary: 'Change the name, the plan or settings of the organization',
    scope: 'admin',
    body: v.object({
      name: v.optional(textField(MAX_NAME)),
      plan: v.optional(wordParameter(PLANS)),
      settings: v.optional(settingsField),
    }),
    answers: { ...success(organizationShape, 'The organization'), ...refusals(409) },
    handle: ({ c, deps, identity, body }) =>
      c.json(showOrganization(changeOrganization(deps, identity.organizationId, body))),
  }),
]

function showOrganization(organization: OrganizationRecord): v.InferInput<typeof organizationShape> {
  const { id, name, plan, settings, createdAt } = organization
  return { id, name, plan, settings, createdAt: shownInstant(createdAt) }
}
