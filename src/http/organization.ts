/** /api/organization: the caller's own tenant, its plan and its settings. */
import * as v from 'valibot'
import { PLANS } from '../domain/organization.ts'
import { changeOrganization } from '../operations/organizations.ts'
import { findOrganization, type OrganizationRecord } from '../store/organizations.ts'
import { textField } from './body.ts'
import { notFound } from './problem.ts'
import { wordParameter } from './query.ts'
import { type Route, rest } from './route.ts'
import { described, idShape, instantShape, refusals, shownInstant, success } from './shapes.ts'

const PATH = '/api/organization'
const MAX_NAME = 100

const INCIDENTS = ['critical', 'off'] as const

const NAMED = 'Its name, unlike that of every other'
const PLANNED = 'Team and Pro get postmortems'
const SETTINGS = {
  'auto-incidents': 'Whether incidents open by themselves: when a service turns critical, or never',
  'auto-resolve': 'Whether an incident that recovered, and that nobody touched for a day, is resolved by itself',
  heartbeats: 'Whether the silence of a heartbeat opens an incident',
} as const

const organizationShape = v.object({
  id: idShape,
  name: described(v.string(), NAMED, 'default'),
  plan: described(v.picklist(PLANS), PLANNED, 'Pro'),
  settings: described(
    v.object({
      'auto-incidents': described(v.picklist(INCIDENTS), SETTINGS['auto-incidents']),
      'auto-resolve': described(v.boolean(), SETTINGS['auto-resolve'], true),
      heartbeats: described(v.boolean(), SETTINGS.heartbeats, true),
    }),
    'What it decides by itself',
  ),
  createdAt: described(instantShape, 'When it was made'),
})

const settingsField = v.object(
  {
    'auto-incidents': v.optional(described(wordParameter(INCIDENTS), SETTINGS['auto-incidents'])),
    'auto-resolve': v.optional(described(v.boolean('expected true or false'), SETTINGS['auto-resolve'], true)),
    heartbeats: v.optional(described(v.boolean('expected true or false'), SETTINGS.heartbeats, true)),
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
      name: v.optional(described(textField(MAX_NAME), NAMED, 'shop')),
      plan: v.optional(described(wordParameter(PLANS), PLANNED, 'Pro')),
      settings: v.optional(described(settingsField, 'What is not named stays as it is')),
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
