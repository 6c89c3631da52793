/** Every limit on what clients, tenants and senders can use, with what happens at the limit. */

/** Who shares the limit. */
type BudgetScope = 'connection' | 'organization' | 'incident' | 'channel' | 'request' | 'process'

export type Budget = {
  readonly scope: BudgetScope
  readonly what: string
  readonly value: number
  readonly unit: string
  /** What happens at the limit. */
  readonly effect: string
  /** Whether the setting `limits` can change the value. */
  readonly isAdjustable?: true
}

const MIB = 1_048_576
/** The defaults fit a machine with 512 MB of memory. */
export const BUDGETS = {
  'open-responses': {
    scope: 'connection',
    what: 'requests without a complete response',
    value: 8,
    unit: 'requests',
    effect: 'the connection is closed',
  },
  'unsent-bytes': {
    scope: 'connection',
    what: 'unread bytes when another request arrives',
    value: MIB,
    unit: 'bytes',
    effect: 'the connection is closed',
  },
  'unread-time': {
    scope: 'connection',
    what: 'time in which the client reads nothing of a response',
    value: 20_000,
    unit: 'ms',
    effect: 'the connection is closed',
  },
  'anonymous-form': {
    scope: 'request',
    what: 'the form of a visitor who is not signed in',
    value: MIB / 8,
    unit: 'bytes',
    effect: 'the answer is 413',
  },
  'body-fields': {
    scope: 'request',
    what: 'different fields in a JSON body; fields in a different order are different',
    value: 10_000,
    unit: 'fields',
    effect: 'the answer is 400; if one item has more than 1,000 labels, only this item is rejected',
  },
  'live-alerts': {
    scope: 'organization',
    what: 'alerts that are firing or ended less than 24 hours ago; the ones that ended first make room',
    value: 50_000,
    unit: 'alerts',
    effect:
      'a new alert is not stored, and the answer is 503 with Retry-After; for cluster and ci, the event is stored without an alert',
    isAdjustable: true,
  },
  services: {
    scope: 'organization',
    what: 'services',
    value: 25_000,
    unit: 'services',
    effect: 'as for live alerts, for items that would create a service',
    isAdjustable: true,
  },
  incidents: {
    scope: 'organization',
    what: 'incidents that are unresolved or were resolved less than two days ago',
    value: 5_000,
    unit: 'incidents',
    effect: 'an incident that somebody opens by hand is refused with 409; others still open',
    isAdjustable: true,
  },
  notes: {
    scope: 'incident',
    what: 'notes, and changes of the title, the severity and the start',
    value: 500,
    unit: 'entries',
    effect: 'a further one is refused with 409; the status can still change',
  },
  'note-text': {
    scope: 'incident',
    what: 'the text of these notes and changes',
    value: 250_000,
    unit: 'characters',
    effect: 'a further one is refused with 409; the status can still change',
  },
  timeline: {
    scope: 'incident',
    what: 'stored timeline entries that are shown',
    value: 5_000,
    unit: 'entries',
    effect: 'only the newest ones are shown',
  },
  'shown-services': {
    scope: 'request',
    what: 'services on the wall of the overview',
    value: 1_000,
    unit: 'services',
    effect: 'those with problems come first, and a link leads to the list of the others',
  },
  'shown-groups': {
    scope: 'request',
    what: 'groups of alerts, and penalties, on the page of a service or an incident',
    value: 100,
    unit: 'rows',
    effect: 'the most severe ones are shown, and a link leads to the alerts of the others',
  },
  'shown-payload': {
    scope: 'request',
    what: 'the text and the error of a rejected item on the page Sources',
    value: 4_000,
    unit: 'characters',
    effect: 'the rest is in GET /api/rejections',
  },
  senders: {
    scope: 'organization',
    what: 'senders, which are receivers of a source in a cluster',
    value: 1_000,
    unit: 'senders',
    effect: 'further receivers count as one sender without a receiver',
  },
  groups: {
    scope: 'organization',
    what: 'alert groups with a known delivery interval',
    value: 20_000,
    unit: 'groups',
    effect: 'the delivery interval of further groups is not learned',
  },
  channels: {
    scope: 'organization',
    what: 'notification channels',
    value: 100,
    unit: 'channels',
    effect: 'a new channel is refused with 409',
  },
  tokens: { scope: 'organization', what: 'valid tokens', value: 500, unit: 'tokens', effect: 'a new one gets 409' },
  sessions: {
    scope: 'organization',
    what: 'sessions of signed-in users',
    value: 500,
    unit: 'sessions',
    effect: 'the oldest session ends when another user signs in',
  },
  'dry-run': {
    scope: 'request',
    what: 'items of a dry run, which delays all other requests',
    value: 250,
    unit: 'items',
    effect: 'the answer is 400, and nothing is stored',
  },
  'dry-runs': {
    scope: 'process',
    what: 'dry runs that wait for their turn',
    value: 16,
    unit: 'requests',
    effect: 'the answer is 503 with Retry-After',
  },
  expressions: {
    scope: 'organization',
    what: 'the size of all regular expressions of silences that have not expired',
    value: 10_000,
    unit: 'instructions',
    effect: 'a new or changed silence is refused with 409',
  },
  'expression-text': {
    scope: 'organization',
    what: 'the length of a label that is compared with a regular expression',
    value: 4_096,
    unit: 'characters',
    effect: 'the silence does not apply to this alert',
  },
  silences: {
    scope: 'organization',
    what: 'silences that have not expired',
    value: 500,
    unit: 'silences',
    effect: 'a new silence is refused with 409',
  },
  'expression-size': {
    scope: 'organization',
    what: 'the size of one regular expression after it is compiled',
    value: 1_500,
    unit: 'instructions',
    effect: 'the silence is refused with 400; an existing one does not apply',
  },
  'expression-work': {
    scope: 'organization',
    what: 'the size of a regular expression multiplied by the length of the label that it is compared with',
    value: 200_000,
    unit: 'steps',
    effect: 'the silence does not apply to this alert',
  },
  'event-streams': {
    scope: 'organization',
    what: 'open event streams',
    value: 1_000,
    unit: 'streams',
    effect: 'the answer is 503 with Retry-After',
  },
  'alertmanager-groups': {
    scope: 'request',
    what: "the alerts in an answer of Alertmanager's API with the groups of all receivers",
    value: 24 * MIB,
    unit: 'bytes',
    effect: 'the answer is 400 and names the filters',
  },
  'channel-messages': {
    scope: 'channel',
    what: 'messages within 30 seconds',
    value: 3,
    unit: 'messages',
    effect: 'further messages wait, and are combined into one',
  },
  'organization-connections': {
    scope: 'organization',
    what: 'messages that are being sent',
    value: 16,
    unit: 'connections',
    effect: 'further messages wait in the outbox',
  },
  'outgoing-connections': {
    scope: 'process',
    what: 'messages that are being sent',
    value: 64,
    unit: 'connections',
    effect: 'further messages wait in the outbox',
  },
  'kept-descriptors': {
    scope: 'process',
    what: 'file descriptors for the database, its threads, the log and outgoing connections',
    value: 128,
    unit: 'descriptors',
    effect: 'max-connections is lowered, so that they are free',
  },
  'all-unsent-bytes': {
    scope: 'process',
    what: 'unread bytes of all connections',
    value: 32 * MIB,
    unit: 'bytes',
    effect: 'the connections that have had unread bytes for the longest time are closed',
  },
} as const satisfies Readonly<Record<string, Budget>>
