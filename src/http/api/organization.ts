/** /api/organization: the name, plan and settings of the caller's organization. */
import * as v from 'valibot'
import { DEFAULT_SETTINGS, MAX_RETENTION_DAYS, PLANS } from '../../domain/organization.ts'
import { isTimeZone } from '../../domain/time-zone.ts'
import { changeOrganization } from '../../operations/organizations.ts'
import { findOrganizationView } from '../../store/views.ts'
import { textField } from '../middleware/body.ts'
import { required } from '../middleware/problem.ts'
import { wordParameter } from '../middleware/query.ts'
import { json, type Reply } from '../middleware/reply.ts'
import { type Call, type Route, rest } from '../route.ts'
import { countShape, described, idShape, instantShape, instantText, refusals, success } from './shapes.ts'

const PATH = '/api/organization'
const MAX_NAME = 100
const MAX_ZONE = 100

const INCIDENTS = ['critical', 'off'] as const

const NAMED = 'A unique name'
const PLANNED = 'The plan. Team and Pro have postmortems.'
const SETTINGS = {
  'auto-incidents': 'Whether incidents open automatically for critical services',
  'auto-resolve': 'Whether a recovered incident is resolved automatically if nobody changes it for 24 hours',
  heartbeats: 'Whether a missing heartbeat opens an incident',
  'deploy-silence-minutes': 'The maximum number of minutes for which a running deploy silences its service; 0: never',
  'time-zone': 'The time zone in which pages show times; each browser can choose another one',
  'retention-events-days': 'The number of days to keep events; at most retention-alerts-days',
  'retention-alerts-days': 'The number of days to keep alerts and incidents',
} as const

const DAYS = `expected a whole number of days from 1 to ${MAX_RETENTION_DAYS}`
const daysField = v.pipe(v.number(DAYS), v.integer(DAYS), v.minValue(1, DAYS), v.maxValue(MAX_RETENTION_DAYS, DAYS))

const MINUTES = 'expected a whole number of minutes from 0 to 1440'
const minutesField = v.pipe(v.number(MINUTES), v.integer(MINUTES), v.minValue(0, MINUTES), v.maxValue(1440, MINUTES))

const timeZoneField = v.pipe(
  described(textField(MAX_ZONE), SETTINGS['time-zone'], 'Europe/Berlin'),
  v.check(isTimeZone, 'expected a time zone such as Europe/Berlin'),
)

const shareShape = v.object({
  due: described(countShape, 'The number of expired records', 6),
  total: described(countShape, 'The total number of records', 10),
})

const organizationShape = v.object({
  id: idShape,
  name: described(v.string(), NAMED, 'default'),
  plan: described(v.picklist(PLANS), PLANNED, 'Pro'),
  settings: described(
    v.object({
      'auto-incidents': described(v.picklist(INCIDENTS), SETTINGS['auto-incidents']),
      'auto-resolve': described(v.boolean(), SETTINGS['auto-resolve'], true),
      heartbeats: described(v.boolean(), SETTINGS.heartbeats, true),
      'deploy-silence-minutes': described(countShape, SETTINGS['deploy-silence-minutes'], 0),
      'time-zone': described(v.string(), SETTINGS['time-zone'], 'Europe/Berlin'),
      'retention-events-days': described(countShape, SETTINGS['retention-events-days'], 30),
      'retention-alerts-days': described(countShape, SETTINGS['retention-alerts-days'], 400),
    }),
    'The settings',
  ),
  pruningWaits: described(
    v.nullable(
      v.object({
        since: described(instantShape, 'When pruning was paused for confirmation'),
        events: described(shareShape, 'The number of expired events and the total number of events'),
        alerts: described(shareShape, 'The number of expired alerts and the total number of alerts'),
      }),
    ),
    'The expired records. Null unless pruning is paused because more than half of the records have expired. Run incmon prune --yes to confirm the deletion',
  ),
  createdAt: described(instantShape, 'When the organization was created'),
})

const settingsField = v.object(
  {
    'auto-incidents': v.optional(described(wordParameter(INCIDENTS), SETTINGS['auto-incidents'])),
    'auto-resolve': v.optional(described(v.boolean('expected true or false'), SETTINGS['auto-resolve'], true)),
    heartbeats: v.optional(described(v.boolean('expected true or false'), SETTINGS.heartbeats, true)),
    'deploy-silence-minutes': v.optional(described(minutesField, SETTINGS['deploy-silence-minutes'], 30)),
    'time-zone': v.optional(timeZoneField),
    'retention-events-days': v.optional(described(daysField, SETTINGS['retention-events-days'], 30)),
    'retention-alerts-days': v.optional(described(daysField, SETTINGS['retention-alerts-days'], 400)),
  },
  'expected an object of settings',
)

/** The fields that can be changed through the API and the settings pages. */
export const organizationChangeBody = described(
  v.object({
    name: v.optional(described(textField(MAX_NAME), NAMED, 'shop')),
    plan: v.optional(described(wordParameter(PLANS), PLANNED, 'Pro')),
    settings: v.optional(described(settingsField, 'Omitted settings stay unchanged')),
  }),
  'The changes',
  { settings: { heartbeats: DEFAULT_SETTINGS.heartbeats } },
)

export const organizationRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: PATH,
    summary: 'Show the organization of the token',
    scope: 'read',
    answers: success(organizationShape, 'The organization'),
    handle: answerOrganization,
  }),
  rest({
    method: 'PATCH',
    path: PATH,
    summary: 'Change the name, the plan or settings of the organization',
    scope: 'admin',
    body: organizationChangeBody,
    answers: { ...success(organizationShape, 'The organization'), ...refusals(409) },
    handle: async (call) => {
      await call.store.run(changeOrganization, call.identity.organizationId, call.body)
      return answerOrganization(call)
    },
  }),
]

async function answerOrganization({ store, identity }: Call<unknown, unknown>): Promise<Reply> {
  const found = store.read(findOrganizationView, identity.organizationId)
  const { organization, waiting } = await required(found, 'organization', 'incmon org list')
  const { id, name, plan, settings, createdAt } = organization
  const pruningWaits = waiting && { since: instantText(waiting.since), events: waiting.events, alerts: waiting.alerts }
  return json({ id, name, plan, settings, pruningWaits, createdAt: instantText(createdAt) } satisfies Shown)
}

type Shown = v.InferInput<typeof organizationShape>
