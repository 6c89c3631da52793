/** The notifier: works the outbox off, one message at a time for each channel, so that a slow one delays no other. */
import type { ChannelKind } from '../domain/notification/format.ts'
import { type Context, type Item, wordsOfSeveral } from '../domain/notification/words.ts'
import { acknowledgePath } from '../operations/acknowledgement.ts'
import type { Deps } from '../operations/deps.ts'
import { type Message, type Outcome, pruneMessages, settleMessage, takeMessage } from '../operations/messages.ts'
import { remind } from '../operations/notifications.ts'
import { type ChannelRecord, loadChannelSecrets } from '../store/notification/channels.ts'
import { listDueChannels } from '../store/notification/outbox.ts'
import { deliver, type Means } from './deliver.ts'
import { allowedAddresses, PrivateAddress, SendError } from './post.ts'

/** How often the outbox is looked at, in milliseconds: it is one read of an index. */
const LOOK_EVERY = 200
/** How often reminders are looked for, in milliseconds. */
const REMIND_EVERY = 10_000
/** How long a check of an address waits for DNS, in milliseconds. */
const CHECK_WITHIN = 3_000
/** How long a stop waits for answers, in milliseconds. */
const STOP_WITHIN = 2_000

export type Cause = Pick<Context, 'cause' | 'suspects'>

export type Surroundings = {
  readonly means: () => Means
  /** Where people reach the pages, without a slash at the end; '' if it is not known. */
  readonly publicUrl: () => string
  /** Finds the likely cause of an incident; slow, so in a thread. */
  readonly causeOf: (organizationId: number, incidentId: string) => Promise<Cause | null>
  /** From 0 to 1. */
  readonly random: () => number
  readonly failed: (error: unknown) => void
  readonly worked: () => void
}

export type Notifier = {
  /** Sends a test message now, and returns what the receiver answered. */
  readonly test: (channel: ChannelRecord) => Promise<Outcome>
  readonly hasMailServer: () => boolean
  /** Says what is wrong with an address before it is saved. `refusal`: nothing could ever be sent there. */
  readonly checkTarget: (kind: ChannelKind, target: string) => Promise<TargetCheck>
  /** Returns what the messages of this server lack; null if nothing. */
  readonly warning: () => string | null
  /** Resolves when no message is on its way, within 2 s. A message whose answer is lost is sent again after the next start. */
  readonly stop: () => Promise<void>
}

const UNKNOWN: Cause = { cause: '', suspects: [] }
const DAY = 24 * 3_600_000
/** How long the link that acknowledges an incident works, in milliseconds: over a weekend. */
const LINK_LIFE = 3 * DAY

export function startNotifier(deps: Deps, around: Surroundings): Notifier {
  const sharing = { ...around, causeOf: shared(around.causeOf) }
  /** The message on its way, by channel. */
  const busy = new Map<number, Promise<void>>()
  const look = () => {
    for (const channelId of listDueChannels(deps.db, deps.now())) {
      if (busy.has(channelId)) continue
      const work = send(deps, sharing, channelId)
        .then(around.worked, around.failed)
        .finally(() => busy.delete(channelId))
      busy.set(channelId, work)
    }
  }
  const stopLooking = repeat(look, LOOK_EVERY, around)
  const tidy = () => {
    remind(deps)
    pruneMessages(deps)
  }
  const stopReminding = repeat(tidy, REMIND_EVERY, around)
  return {
    test: (channel) => sendTest(deps, around, channel),
    ...helpersOf(around),
    stop: async () => {
      stopLooking()
      stopReminding()
      const late = AbortSignal.timeout(STOP_WITHIN)
      const aborted = new Promise((resolve) => late.addEventListener('abort', resolve, { once: true }))
      await Promise.race([Promise.all(busy.values()), aborted])
    },
  }
}

export type TargetCheck = { readonly refusal: string | null; readonly warning: string | null }

const NO_LINKS =
  'messages have no links, not even one to acknowledge an incident: set public-url to the address at which people reach this server'

/** What a notifier answers without sending anything. */
export function helpersOf({
  means,
  publicUrl,
}: Pick<Surroundings, 'means' | 'publicUrl'>): Pick<Notifier, 'hasMailServer' | 'checkTarget' | 'warning'> {
  return {
    hasMailServer: () => means().mailServer !== null,
    warning: () => (publicUrl() === '' ? NO_LINKS : null),
    checkTarget: async (kind, target) => {
      const url = kind === 'mail' ? null : URL.parse(target)
      if (!url) return { refusal: null, warning: null }
      try {
        await allowedAddresses(url.hostname, { ...means().network, timeoutMs: CHECK_WITHIN })
        return { refusal: null, warning: null }
      } catch (error) {
        if (error instanceof PrivateAddress) return { refusal: error.message, warning: null }
        // DNS may know the name later.
        if (error instanceof SendError) return { refusal: null, warning: error.message }
        throw error
      }
    },
  }
}

/** Finds the cause of an incident once for all channels that are told about it at the same time. */
function shared(causeOf: Surroundings['causeOf']): Surroundings['causeOf'] {
  const underWay = new Map<string, Promise<Cause | null>>()
  return (organizationId, incidentId) => {
    const known = underWay.get(incidentId)
    if (known) return known
    const found = causeOf(organizationId, incidentId).finally(() => underWay.delete(incidentId))
    underWay.set(incidentId, found)
    return found
  }
}

function repeat(work: () => void, every: number, { failed }: Surroundings): () => void {
  const timer = setInterval(() => {
    try {
      work()
    } catch (error) {
      // What waits stays in the outbox and is looked at again.
      failed(error)
    }
  }, every)
  return () => clearInterval(timer)
}

async function send(deps: Deps, around: Surroundings, channelId: number): Promise<void> {
  const message = takeMessage(deps, channelId)
  if (!message) return
  const context = await contextOf(deps, around, message)
  const { leader, channel, secrets, items, incidentId, replyTo, isFirst } = message
  const words = wordsOfSeveral(items, context)
  const letter = { id: leader.id, kind: channel.kind, secrets, items, words, context, incidentId, replyTo, isFirst }
  const outcome = await deliver(letter, around.means())
  settleMessage(deps, message, outcome, around.random())
}

async function contextOf(deps: Deps, around: Surroundings, message: Message): Promise<Context> {
  const { channel, incidentId } = message
  // A message does not wait for a cause that cannot be found.
  const found = incidentId === null ? null : await around.causeOf(channel.organizationId, incidentId).catch(() => null)
  const acknowledgeUrl = acknowledgeUrlOf(deps, around.publicUrl(), message)
  return { ...baseContext(deps, around, channel, incidentId), ...(found ?? UNKNOWN), acknowledgeUrl }
}

/** Returns the link for messages about one incident that nobody has acknowledged; null for all others. */
function acknowledgeUrlOf(deps: Deps, base: string, { items, channel, secrets, incidentId }: Message): string | null {
  const last = items.at(-1)
  const { signing } = secrets
  if (base === '' || signing === null || incidentId === null || last?.incident.status !== 'open') return null
  const link = { channelId: channel.id, incidentId, until: deps.now() + LINK_LIFE }
  return `${base}${acknowledgePath(link, signing)}`
}

function baseContext(
  deps: Deps,
  around: Pick<Surroundings, 'publicUrl'>,
  channel: ChannelRecord,
  incidentId: string | null,
): Context {
  const base = around.publicUrl()
  const url = base === '' ? null : `${base}/incidents${incidentId === null ? '' : `/${incidentId}`}`
  return { now: deps.now(), timeZone: channel.settings.timeZone, url, acknowledgeUrl: null, ...UNKNOWN }
}

/** Sends a test message over a channel, and returns what the receiver answered. */
export async function sendTest(
  deps: Deps,
  around: Pick<Surroundings, 'means' | 'publicUrl'>,
  channel: ChannelRecord,
): Promise<Outcome> {
  const secrets = loadChannelSecrets(deps.db, channel.rowId)
  if (!secrets) throw new Error(`channel ${channel.id} has no secrets`)
  const context = baseContext(deps, around, channel, null)
  const items = [testItem(deps, channel)]
  const thread = { incidentId: null, replyTo: null, isFirst: true }
  const words = wordsOfSeveral(items, context)
  return deliver({ id: deps.newId(), kind: channel.kind, secrets, items, words, context, ...thread }, around.means())
}

function testItem(deps: Deps, { id, name }: ChannelRecord): Item {
  const now = deps.now()
  return {
    kind: 'test',
    at: now,
    actor: null,
    severityBefore: null,
    incident: {
      ...{ id, number: 0, title: name, severity: 'info', status: 'open' },
      ...{ alertCount: 0, firingAlerts: 0, hasPostmortem: false },
      ...{ startedAt: now, resolvedAt: null },
    },
    service: { name: 'incmon', namespace: '', cluster: '' },
  }
}
