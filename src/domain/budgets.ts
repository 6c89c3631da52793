/** Every limit on clients, tenants and senders: who shares it (`scope`), and what happens at it (`effect`). */

type Scope = 'connection' | 'organization' | 'incident' | 'cluster' | 'channel' | 'request' | 'process'
export type Budget = Readonly<{ scope: Scope; what: string; value: number; unit: string; effect: string }>
const MIB = 1_048_576
/** A limit at which the connection is closed. */
const closing = (scope: Scope, what: string, value: number, unit: string): Budget => {
  return { scope, what, value, unit, effect: 'the connection is closed' }
}
/** A limit at which a request is refused for a moment. */
const refusing = (scope: Scope, what: string, value: number, unit: string): Budget => {
  return { scope, what, value, unit, effect: 'refused with 503 and Retry-After' }
}
/** A limit on the time of regular expressions. */
const steps = (scope: Scope, what: string, value: number, effect: string): Budget => {
  return { scope, what, value, unit: 'steps', effect }
}

/** The defaults fit a machine with 512 MB of memory. The setting `limits` can change those of `LIMIT_NAMES`. */
export const BUDGETS = {
  'open-responses': closing('connection', 'requests without a complete response', 8, 'requests'),
  'unsent-bytes': closing('connection', 'unread bytes when another request arrives', MIB, 'bytes'),
  'unread-time': closing('connection', 'time in which the client reads nothing', 20_000, 'ms'),
  'small-chunks': closing('request', 'chunks of less than 256 bytes on average', 64, 'chunks'),
  'anonymous-form': {
    scope: 'request',
    what: 'an anonymous form',
    value: MIB / 8,
    unit: 'bytes',
    effect: 'refused with 413',
  },
  'body-fields': {
    scope: 'request',
    what: 'different fields in a JSON body',
    value: 10_000,
    unit: 'fields',
    effect: 'refused with 400; if one item has more than 1,000 labels, only it is rejected',
  },
  'live-alerts': {
    scope: 'organization',
    what: 'alerts that fire or ended less than 24 hours ago; the ones that ended first make room',
    value: 50_000,
    unit: 'alerts',
    effect: 'a new alert is refused with 503 and Retry-After; cluster and ci store only the event',
  },
  services: {
    scope: 'organization',
    what: 'services',
    value: 25_000,
    unit: 'services',
    effect: 'an item with a new service is refused like a new alert',
  },
  incidents: {
    scope: 'organization',
    what: 'incidents, except those resolved more than two days ago',
    value: 5_000,
    unit: 'incidents',
    effect: 'opening one by hand is refused with 409; others still open',
  },
  notes: {
    scope: 'incident',
    what: 'notes, and changes of title, severity and start',
    value: 500,
    unit: 'entries',
    effect: 'refused with 409; the status can still change',
  },
  'note-text': {
    scope: 'incident',
    what: 'text of these entries',
    value: 250_000,
    unit: 'characters',
    effect: 'refused with 409; the status can still change',
  },
  timeline: {
    scope: 'incident',
    what: 'timeline entries shown',
    value: 5_000,
    unit: 'entries',
    effect: 'the newest are shown',
  },
  'shown-services': {
    scope: 'request',
    what: 'services on the wall',
    value: 1_000,
    unit: 'services',
    effect: 'those with problems come first, the others are a link',
  },
  'shown-groups': {
    scope: 'request',
    what: 'groups of alerts, and penalties, on a page',
    value: 100,
    unit: 'rows',
    effect: 'the most severe are shown, the others are a link',
  },
  'shown-payload': {
    scope: 'request',
    what: 'a rejected item on the page Sources',
    value: 4_000,
    unit: 'characters',
    effect: 'the rest is in GET /api/rejections',
  },
  senders: {
    scope: 'organization',
    what: 'senders',
    value: 1_000,
    unit: 'senders',
    effect: 'further receivers count as one sender',
  },
  groups: {
    scope: 'organization',
    what: 'alert groups with a known delivery interval',
    value: 20_000,
    unit: 'groups',
    effect: 'it is not learned for further groups',
  },
  channels: {
    scope: 'organization',
    what: 'notification channels',
    value: 100,
    unit: 'channels',
    effect: 'a new one is refused with 409',
  },
  tokens: {
    scope: 'organization',
    what: 'valid tokens',
    value: 500,
    unit: 'tokens',
    effect: 'a new one is refused with 409',
  },
  sessions: { scope: 'organization', what: 'sessions', value: 500, unit: 'sessions', effect: 'the oldest ends' },
  'dry-run': { scope: 'request', what: 'items of a dry run', value: 100, unit: 'items', effect: 'refused with 400' },
  'dry-runs': refusing('process', 'dry runs that wait', 16, 'requests'),
  expressions: {
    scope: 'organization',
    what: 'regular expressions of all current silences, or all rules',
    value: 10_000,
    unit: 'instructions',
    effect: 'a new one is refused with 409',
  },
  'expression-text': {
    scope: 'organization',
    what: 'a label compared with a regular expression',
    value: 4_096,
    unit: 'characters',
    effect: 'the silence does not apply to this alert',
  },
  silences: {
    scope: 'organization',
    what: 'silences that have not expired',
    value: 500,
    unit: 'silences',
    effect: 'a new one is refused with 409',
  },
  'expression-size': {
    scope: 'organization',
    what: 'one compiled regular expression',
    value: 1_500,
    unit: 'instructions',
    effect: 'refused with 400; an existing silence does not apply',
  },
  'expression-work': steps(
    'organization',
    'size of a regular expression × length of the label',
    100_000,
    'the silence does not apply to this alert',
  ),
  'alert-work': steps(
    'organization',
    'the same for all silences and one alert',
    400_000,
    'further silences do not apply',
  ),
  'rule-work': steps('organization', 'the same for all rules', 10_000_000, 'further expressions count as a match'),
  'read-work': steps('request', 'the same for alerts', 400_000_000, 'refused with 400'),
  'event-streams': refusing('organization', 'open event streams', 1_000, 'streams'),
  'list-text': {
    scope: 'request',
    what: 'text of the records of a list',
    value: 4 * MIB,
    unit: 'characters',
    effect: 'refused with 400, except a single record',
  },
  'alertmanager-answer': {
    scope: 'request',
    what: "alerts or groups in an answer of Alertmanager's API",
    value: 24 * MIB,
    unit: 'bytes',
    effect: 'refused with 400, which names the filters',
  },
  'cluster-objects': {
    scope: 'cluster',
    what: 'objects of Kubernetes that are watched',
    value: 50_000,
    unit: 'objects',
    effect: 'further objects are ignored; its state says so',
  },
  'object-items': { scope: 'cluster', what: 'list items of an object', value: 100, unit: 'items', effect: 'cut off' },
  'object-text': { scope: 'cluster', what: 'a text of an object', value: 4_096, unit: 'characters', effect: 'cut off' },
  'told-incidents': {
    scope: 'organization',
    what: 'unresolved incidents that reminders and channels cover',
    value: 500,
    unit: 'incidents',
    effect: 'the most severe, then the newest',
  },
  'channel-messages': {
    scope: 'channel',
    what: 'messages within 30 seconds',
    value: 3,
    unit: 'messages',
    effect: 'further messages are combined into one',
  },
  'organization-connections': {
    scope: 'organization',
    what: 'messages that are being sent',
    value: 16,
    unit: 'connections',
    effect: 'further messages wait',
  },
  'outgoing-connections': {
    scope: 'process',
    what: 'messages that are being sent',
    value: 64,
    unit: 'connections',
    effect: 'further messages wait',
  },
  'pending-bodies': refusing('process', 'pending bodies', 32 * MIB, 'bytes'),
  'parsed-bodies': {
    scope: 'process',
    what: 'long bodies parsed at once',
    value: 2 * MIB,
    unit: 'bytes',
    effect: 'others wait',
  },
  'kept-descriptors': {
    scope: 'process',
    what: 'file descriptors kept free',
    value: 128,
    unit: 'descriptors',
    effect: 'max-connections is lowered',
  },
  'all-unsent-bytes': {
    scope: 'process',
    what: 'unread bytes of all connections',
    value: 32 * MIB,
    unit: 'bytes',
    effect: 'the slowest connections are closed',
  },
} as const satisfies Readonly<Record<string, Budget>>
