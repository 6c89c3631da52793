/** The messages that incmon sends to webhooks, as the OpenAPI document describes them. */
import * as v from 'valibot'
import { NOTIFICATION_KINDS } from '../../../domain/notification/kind.ts'
import * as shape from '../../shapes.ts'
import { alertShape } from '../alerts.ts'
import { incidentShape } from '../incidents/incident-shape.ts'
import { suspectShape } from '../incidents/incidents.ts'

const { id, number, title, status, startedAt, acknowledgedBy, problem, group } = incidentShape.entries
/** The problem stands beside the incident. */
const shown = v.omit(incidentShape, ['serviceId', 'createdAt', 'group', 'recoveredAt', 'problem']).entries
const { source, name, severity, summary, labels, annotations, startsAt, endsAt } = alertShape.entries

const text = shape.object(
  {
    title: shape.text('The first line', 'checkout has been critical since 14:02 UTC (4 min).'),
    body: shape.text('The other lines', 'HighErrorRate: 40 % of all requests fail. 12 alerts. Incident #12.'),
    links: shape.objects(
      {
        text: shape.text('What the link opens', 'Runbook: HighErrorRate'),
        url: shape.text('The address', 'https://wiki.example.com/high-error-rate'),
      },
      'The links of the message: acknowledge, runbooks, incident; empty if there are none',
    ),
  },
  'The message for people',
)
const service = shape.object(
  {
    name: shape.text('The name of the service', 'checkout'),
    namespace: shape.text('Its namespace', 'shop'),
    cluster: shape.text('Its cluster; may be empty', 'production'),
  },
  'The affected service',
)
const incident = shape.object(shown, 'The incident')
const alerts = shape.objects(
  { id: shape.id, source, name, severity, summary, labels, annotations, startsAt, endsAt },
  'At most 20 alerts, firing ones first',
)
const { kind, ref, serviceId, score } = suspectShape.entries
const suspects = shape.objects({ kind, ref, serviceId, score }, 'The most probable causes')
const url = shape.nullable(
  v.string(),
  'The page; null if public-url is not set',
  'https://incmon.example.com/incidents/1',
)
const acknowledgeUrl = shape.nullable(v.string(), 'The link to acknowledge; null unless the incident is open', null)
const item = {
  at: shape.instant('When the incident changed'),
  actor: shape.nullable(v.string(), 'Who changed the incident; null for incmon', null),
  problem,
  conditions: shape.described(v.array(v.string()), 'The critical conditions of the message', ['HighErrorRate']),
  incident,
  service,
  alerts,
  group,
}
const timestamp = shape.instant('When the message was sent')
const kinds = NOTIFICATION_KINDS.filter((kind) => kind !== 'group' && kind !== 'sender-silent')

const shared = { ...item, suspects, message: text, url, acknowledgeUrl }

const incidentMessageShape = shape.named('IncidentMessage', {
  type: shape.choice([...kinds.map((kind) => `incident.${kind}`), 'sender.silent'], 'What happened'),
  timestamp,
  data: shape.object(shared, 'The incident at the time of sending'),
})
const member = { id, number, title, severity, status, startedAt, acknowledgedBy, problem, service }
const groupShape = shape.named('GroupMessage', {
  type: v.literal('incident.group'),
  timestamp,
  data: shape.object(
    {
      ...shared,
      cause: shape.text('The common cause', 'postgres'),
      leader: shape.object(member, 'The incident that leads the group'),
      incidents: shape.objects(member, 'All incidents of the group'),
      incident: shape.object(member, 'The same as leader'),
    },
    'The group at the time of sending',
  ),
})
const digestShape = shape.named('DigestMessage', {
  type: v.literal('incidents.digest'),
  timestamp,
  data: shape.object(
    {
      notifications: shape.objects(
        { type: shape.choice(NOTIFICATION_KINDS, 'What happened'), ...item, acknowledgeUrl },
        'In order',
      ),
      message: text,
      url,
    },
    'Several notifications in one message',
  ),
})
const testShape = shape.named('TestMessage', {
  type: v.literal('test'),
  timestamp,
  data: shape.object({ message: text, url }, 'A test message'),
})

const aboutChannelShape = shape.named('ChannelMessage', {
  type: v.literal('channel'),
  timestamp,
  data: shape.object({ message: text, url }, 'Which channel fails, or works again'),
})

/** Each kind of outgoing message, with its description. */
export const MESSAGES = {
  incident: ['An incident opened, changed or was resolved', incidentMessageShape],
  group: ['Three or more incidents have a common cause', groupShape],
  digest: ['Several notifications in one message', digestShape],
  test: ['Somebody tested the channel', testShape],
  channel: ['Another channel fails, or works again', aboutChannelShape],
} as const
