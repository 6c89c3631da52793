/** /api/organization: the name, plan and settings of the caller's organization. */
import * as v from 'valibot'
import { changeOrganization } from '../../actions/organizations.ts'
import { DEFAULT_SETTINGS, MAX_RETENTION_DAYS, PLANS, toAutoResolve } from '../../domain/organization.ts'
import { isTimeZone } from '../../domain/time-zone.ts'
import { findOrganizationView } from '../../store/views.ts'
import { textField, wholeNumberField } from '../middleware/body.ts'
import { required } from '../middleware/problem.ts'
import { wordParameter } from '../middleware/query.ts'
import { json, type Reply } from '../middleware/reply.ts'
import { type Call, type Route, rest } from '../route.ts'
import * as shape from '../shapes.ts'
import { refusals, success } from './answers.ts'

const PATH = '/api/organization'
const MAX_NAME = 100
const MAX_ZONE = 100

const INCIDENTS = ['critical', 'off'] as const

const NAMED = 'A unique name'
const PLANNED = 'The plan. Team and Pro have postmortems.'
const flagField = v.boolean('expected true or false')
const daysField = wholeNumberField('days', 1, MAX_RETENTION_DAYS)
const minutesField = wholeNumberField('minutes', 0, 1440)
const timeZoneField = v.pipe(
  shape.described(
    textField(MAX_ZONE),
    'The time zone in which pages show times; each browser can choose another time zone',
    'Europe/Berlin',
  ),
  v.check(isTimeZone, 'expected a time zone such as Europe/Berlin'),
)

const MAX_URL = 1000
const MAX_LABEL = 200
const MAX_LABELS = 20
const prometheusField = v.pipe(
  v.string('expected a string'),
  v.trim(),
  v.maxLength(MAX_URL, `at most ${MAX_URL} characters are allowed`),
  v.check(isPrometheusUrl, 'expected a URL such as http://prometheus:9090, without a user, a password or parameters'),
)

function isPrometheusUrl(text: string): boolean {
  const url = URL.parse(text)
  if (!url) return text === ''
  const { protocol, username, password, search, hash } = url
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ''
}

const AUTO_RESOLVE = 'expected a whole number of minutes from 1 to 10080, or "off"'

const settingsShape = v.object(
  {
    'auto-incidents': shape.described(
      wordParameter(INCIDENTS),
      'Whether incidents open automatically for critical services',
    ),
    'auto-resolve': shape.described(
      v.pipe(
        v.union([wholeNumberField('minutes', 1, 10_080), v.literal('off'), v.boolean()], AUTO_RESOLVE),
        v.transform(toAutoResolve),
      ),
      'How many minutes after its recovery an incident is resolved if no user has touched it, or off. The earlier ' +
        'values true (30) and false (off) are still accepted',
      30,
    ),
    heartbeats: shape.described(flagField, 'Whether a missing heartbeat opens an incident', true),
    'deploy-silence-minutes': shape.described(
      minutesField,
      'The maximum number of minutes for which a running deploy silences its service; 0: never',
      30,
    ),
    'time-zone': timeZoneField,
    'retention-events-days': shape.described(
      daysField,
      'The number of days to keep events; at most retention-alerts-days',
      30,
    ),
    'retention-alerts-days': shape.described(
      daysField,
      'The number of days to keep alerts, and incidents without a postmortem',
      400,
    ),
    'retention-incidents-days': shape.described(
      wholeNumberField('days', 0, MAX_RETENTION_DAYS),
      'The number of days to keep resolved incidents with their postmortems, but at least retention-alerts-days; 0: forever',
      730,
    ),
    'prometheus-url': shape.described(
      prometheusField,
      'The URL of the Prometheus whose graphs incidents show; empty: no graphs. Prometheus must answer without a password',
      'http://prometheus.example.com:9090',
    ),
    'group-by': shape.described(
      v.pipe(
        v.array(textField(MAX_LABEL), 'expected a list of label names'),
        v.maxLength(MAX_LABELS, `at most ${MAX_LABELS} labels are allowed`),
      ),
      'The labels by which GET /alertmanager/api/v2/alerts/groups groups alerts; `...`: all labels',
      DEFAULT_SETTINGS['group-by'],
    ),
  },
  'expected an object of settings',
)

const shareShape = v.object({
  due: shape.count('The number of expired records', 6),
  total: shape.count('The total number of records', 10),
})

/** An organization with its settings. */
const organizationShape = shape.named('Organization', {
  id: shape.id,
  name: shape.text(NAMED, 'default'),
  plan: shape.choice(PLANS, PLANNED, 'Pro'),
  settings: shape.described(settingsShape, 'The settings'),
  pruningWaits: shape.nullable(
    v.object({
      since: shape.instant('When pruning was paused for confirmation'),
      events: shape.described(shareShape, 'The number of expired events and the total number of events'),
      alerts: shape.described(shareShape, 'The number of expired alerts and the total number of alerts'),
    }),
    'The expired records. Null unless pruning is paused because more than half of the records have expired. Run incmon prune --yes to confirm the deletion',
  ),
  createdAt: shape.instant('When the organization was created'),
})

const showOrganization = shape.shower(organizationShape)

/** The fields that can be changed through the API and the settings pages. */
export const organizationChangeBody = shape.object(
  {
    name: shape.optional(textField(MAX_NAME), NAMED, 'shop'),
    plan: shape.optional(wordParameter(PLANS), PLANNED, 'Pro'),
    settings: shape.optional(v.partial(settingsShape), 'Omitted settings stay unchanged'),
  },
  'The changes',
  { settings: { heartbeats: DEFAULT_SETTINGS.heartbeats } },
)

export const organizationRoutes: readonly Route[] = [
  rest(`GET ${PATH}`, {
    summary: 'Show the organization of the token',
    scope: 'read',
    answers: success(organizationShape, 'The organization'),
    handle: answerOrganization,
  }),
  rest(`PATCH ${PATH}`, {
    summary: 'Change the name, the plan or settings of the organization',
    scope: 'admin',
    body: organizationChangeBody,
    answers: {
      ...success(organizationShape, 'The organization'),
      ...refusals({ 409: 'An organization with this name exists' }),
    },
    handle: async (call) => {
      await call.own.run(changeOrganization, call.body)
      return answerOrganization(call)
    },
  }),
]

async function answerOrganization({ own }: Call): Promise<Reply> {
  const found = own.read(findOrganizationView)
  const { organization, waiting } = await required(found, 'organization', 'incmon org list')
  const pruningWaits = waiting && {
    since: shape.instantText(waiting.since),
    events: waiting.events,
    alerts: waiting.alerts,
  }
  const settings = { ...organization.settings, 'group-by': [...organization.settings['group-by']] }
  return json(showOrganization({ ...organization, settings, pruningWaits }))
}
