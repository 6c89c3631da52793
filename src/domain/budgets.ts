/** Every limit on what clients, tenants and senders can use. */

const MIB = 1_048_576

/**
 * The limits, in the order of the table in docs/operations.md. The table says who shares each limit, what it counts, and
 * what happens when it is reached. The values fit a machine with 512 MB of memory.
 */
export const BUDGETS = {
  'open-responses': 8,
  'unsent-bytes': MIB, // bytes
  'unread-time': 20_000, // ms
  'anonymous-form': MIB / 8, // bytes
  'body-fields': 10_000,
  'live-alerts': 50_000,
  services: 25_000,
  incidents: 5_000,
  notes: 500,
  'note-text': 250_000, // characters
  timeline: 5_000,
  'shown-services': 1_000,
  'shown-groups': 100,
  'shown-payload': 4_000, // characters
  senders: 1_000,
  groups: 20_000,
  channels: 100,
  tokens: 500,
  sessions: 500,
  'dry-run': 250,
  'dry-runs': 16,
  expressions: 10_000, // instructions
  'expression-text': 4_096, // characters
  silences: 500,
  'expression-size': 1_500, // instructions
  'expression-work': 200_000, // steps
  'event-streams': 1_000,
  'list-text': 4 * MIB, // characters
  'alertmanager-groups': 24 * MIB, // bytes
  'channel-messages': 3,
  'organization-connections': 16,
  'outgoing-connections': 64,
  'kept-descriptors': 128,
  'all-unsent-bytes': 32 * MIB, // bytes
} as const

/** What happens at the limits that `incmon doctor` counts. */
export const AT_LIMIT = {
  'live-alerts':
    'a new alert is refused with 503 and Retry-After; for cluster and ci, the event is stored without an alert',
  services: 'an item with a new service is refused like a new alert',
  channels: 'a new one is refused with 409',
  tokens: 'a new one is refused with 409',
  silences: 'a new one is refused with 409',
  senders: 'further receivers count as one sender',
} as const
