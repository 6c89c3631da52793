/**
 * The notifier: sends messages from the outbox. Each channel sends one message at a time, and a slow channel does not
 * delay others.
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { acknowledgePath } from '../actions/acknowledgement.ts'
import type { Deps } from '../actions/deps.ts'
import {
  type Message,
  pruneMessages,
  recordSent,
  retake,
  type SendOutcome,
  settleMessage,
  takeMessage,
} from '../actions/messages.ts'
import { remind } from '../actions/notifications.ts'
import { BUDGETS } from '../domain/budgets.ts'
import { digestTextOf } from '../domain/notification/digest.ts'
import { firstNamed } from '../domain/notification/digest-order.ts'
import type { ChannelKind } from '../domain/notification/format.ts'
import type { MessageContext } from '../domain/notification/words.ts'
import { countGoingOn } from '../store/incident/live-incidents.ts'
import type { ChannelRecord } from '../store/notification/channels.ts'
import { listDueChannels } from '../store/notification/outbox.ts'
import { listOrganizations } from '../store/organizations.ts'
import { baseContext, type Cause, type NotifierOptions, UNKNOWN, withStop } from './context.ts'
import { deliver } from './deliver.ts'
import { createFailureNotes } from './failing-channels.ts'
import { allowedAddresses, PrivateAddress, SendError } from './post.ts'
import { createSlots, takeTurn } from './slots.ts'
import { sendTest } from './test-message.ts'

/** How often the outbox is checked, in milliseconds. A check reads one index. */
const LOOK_EVERY_MS = 200
/** How often reminders are checked, in milliseconds. */
const REMIND_EVERY_MS = 10_000
/** How long a message waits for its likely cause, in milliseconds. */
const CAUSE_WITHIN_MS = 1_000
/** How long the check of a URL waits for DNS, in milliseconds. */
const CHECK_WITHIN_MS = 3_000
/** The maximum number of incidents of a digest that have a link to acknowledge them. */
const MAX_LINKED = 50
/** How long a shutdown waits for responses, in milliseconds. */
const STOP_WITHIN_MS = 2_000

export type Notifier = {
  /** Sends a test message immediately and returns the receiver's response. */
  readonly test: (channel: ChannelRecord) => Promise<SendOutcome>
  readonly hasMailServer: () => boolean
  /** Checks a URL before it is saved. `refusal` is set if the URL can never work. */
  readonly checkTarget: (kind: ChannelKind, target: string) => Promise<TargetCheck>
  /** Returns how many messages of an organization are being sent. */
  readonly sending: (organizationId: number) => number
  /** Returns what is missing from this server's messages, or null if nothing is missing. */
  readonly warning: () => string | null
  /**
   * Resolves when no message is being sent, or after 2 s. A message whose response is lost is sent again after the next
   * start.
   */
  readonly stop: () => Promise<void>
}

const TOO_MANY = 'too many messages are being sent at the moment; try again in a few seconds'

export function startNotifier(deps: Deps, options: NotifierOptions): Notifier {
  const sharing = { ...options, causeOf: shared(options.causeOf) }
  /** The messages currently being sent, by channel. */
  const underWay = new Map<number, Promise<void>>()
  const slots = createSlots({
    inAll: BUDGETS['outgoing-connections'].value,
    perOrganization: BUDGETS['organization-connections'].value,
  })
  const look = () => {
    for (const { channelId, organizationId } of listDueChannels(deps.db, deps.now())) {
      if (underWay.has(channelId)) continue
      const free = slots.take(organizationId)
      // The message stays in the outbox.
      if (!free) continue
      const work = send(deps, sharing, channelId)
        .then(options.worked, options.failed)
        .finally(() => {
          underWay.delete(channelId)
          free()
        })
      underWay.set(channelId, work)
    }
  }
  const stopLooking = repeat(look, LOOK_EVERY_MS, options)
  const tellFailures = createFailureNotes(deps, options)
  let state: 'idle' | 'tidying' | 'stopped' = 'idle'
  /** Handles one organization in each round of the event loop: hundreds of them take seconds. */
  const tidy = async () => {
    for (const [index, one] of listOrganizations(deps.db).entries()) {
      if (index > 0) await turn()
      if (state === 'stopped') return
      remind(deps, [one])
      tellFailures(one.rowId).catch(options.failed)
    }
    pruneMessages(deps)
  }
  const tidyAgain = () => {
    if (state !== 'idle') return
    state = 'tidying'
    const done = () => {
      if (state === 'tidying') state = 'idle'
    }
    tidy().catch(options.failed).finally(done)
  }
  const stopReminding = repeat(tidyAgain, REMIND_EVERY_MS, options)
  return {
    test: async (channel) => {
      const free = slots.take(channel.organizationId)
      if (!free) return { status: null, detail: TOO_MANY, remoteId: null, retryAfter: 0 }
      return sendTest(deps, options, channel).finally(free)
    },
    sending: slots.takenBy,
    ...helpersOf(options),
    stop: async () => {
      stopLooking()
      stopReminding()
      state = 'stopped'
      await Promise.race([Promise.all(underWay.values()), sleep(STOP_WITHIN_MS, null, { ref: false })])
    },
  }
}

type TargetCheck = { readonly refusal: string | null; readonly warning: string | null }

const NO_LINKS =
  'messages contain no links to open or acknowledge an incident: set public-url to the URL at which people reach this server'

/** Returns the notifier's functions that do not send messages. */
export function helpersOf({
  transports,
  publicUrl,
}: Pick<NotifierOptions, 'transports' | 'publicUrl'>): Pick<Notifier, 'hasMailServer' | 'checkTarget' | 'warning'> {
  return {
    hasMailServer: () => transports().mailServer !== null,
    warning: () => (publicUrl() === '' ? NO_LINKS : null),
    checkTarget: async (kind, target) => {
      const url = kind === 'mail' ? null : URL.parse(target)
      if (!url) return { refusal: null, warning: null }
      try {
        await allowedAddresses(url.hostname, { ...transports().network, timeoutMs: CHECK_WITHIN_MS })
        return { refusal: null, warning: null }
      } catch (error) {
        if (error instanceof PrivateAddress) return { refusal: error.message, warning: null }
        // The name might become resolvable later.
        if (error instanceof SendError) return { refusal: null, warning: error.message }
        throw error
      }
    },
  }
}

/** Returns a function that looks up an incident's cause once for all channels. */
function shared(causeOf: NotifierOptions['causeOf']): NotifierOptions['causeOf'] {
  const underWay = new Map<string, Promise<Cause | null>>()
  return (organizationId, incidentId, names) => {
    const key = JSON.stringify([incidentId, names])
    const known = underWay.get(key)
    if (known) return known
    const found = causeOf(organizationId, incidentId, names).finally(() => underWay.delete(key))
    underWay.set(key, found)
    return found
  }
}

function repeat(work: () => void, every: number, { failed }: NotifierOptions): () => void {
  const timer = setInterval(() => {
    try {
      work()
    } catch (error) {
      // Pending messages stay in the outbox until the next check.
      failed(error)
    }
  }, every)
  return () => clearInterval(timer)
}

async function send(deps: Deps, options: NotifierOptions, channelId: number): Promise<void> {
  for (;;) {
    await takeTurn()
    const message = takeMessage(deps, channelId)
    if (!message) return
    await sendMessage(deps, options, message)
  }
}

async function sendMessage(deps: Deps, options: NotifierOptions, taken: Message): Promise<void> {
  const context = await contextOf(deps, options, taken)
  await takeTurn()
  // The state may have changed while the cause was computed.
  const message = retake(deps, taken)
  if (!message) return
  const { leader, channel, secrets, items, incidentId, replyTo, isFirst } = message
  const words = withStop(digestTextOf(items, context), options.stopped, channel, context)
  recordSent(deps, message, words)
  const outgoing = { id: leader.id, kind: channel.kind, secrets, items, words, context, incidentId, replyTo, isFirst }
  const outcome = await deliver(outgoing, options.transports())
  await takeTurn()
  settleMessage(deps, message, outcome, options.random())
}

async function contextOf(deps: Deps, options: NotifierOptions, message: Message): Promise<MessageContext> {
  const { channel, incidentId } = message
  const named = incidentId ?? firstNamed(message.items, deps.now())
  const names = incidentId === null ? null : newOf(message.items)
  const cause = named === null ? null : await soon(options.causeOf(channel.organizationId, named, names))
  // The suspects of a webhook's message are those of its only incident.
  const found = cause && incidentId === null ? { ...cause, suspects: [] } : cause
  const links = acknowledgeLinksOf(deps, options.publicUrl(), message)
  const isCut = new Set(message.items.map(({ incident }) => incident.id)).size >= BUDGETS['told-incidents'].value
  const inAll = isCut ? countGoingOn(deps.db, channel.organizationId) : null
  return { ...baseContext(deps, options, channel, incidentId), ...(found ?? UNKNOWN), ...links, inAll }
}

/** Returns the conditions that a message is about if it is only about new ones; otherwise null. */
function newOf(items: Message['items']): readonly string[] | null {
  return items.every(({ kind }) => kind === 'worse') ? items.flatMap((item) => item.names) : null
}

/** Limits the wait for a cause, because the worker thread might be busy with pages. */
async function soon(causeOf: Promise<Cause | null>): Promise<Cause | null> {
  const late = new AbortController()
  const nothing = sleep(CAUSE_WITHIN_MS, null, late).catch(() => null)
  return Promise.race([causeOf.catch(() => null), nothing]).finally(() => late.abort())
}

/** Returns the acknowledge link of the incident or group that a message is about, or the links of several incidents. */
function acknowledgeLinksOf(
  deps: Deps,
  base: string,
  { items, channel, secrets, incidentId: only }: Message,
): Pick<MessageContext, 'acknowledgeUrl' | 'acknowledgeUrls'> {
  const none = { acknowledgeUrl: null, acknowledgeUrls: {} }
  if (base === '') return none
  const urlOf = (incidentId: string) =>
    `${base}${acknowledgePath(deps, { channelId: channel.id, incidentId }, secrets.acknowledging)}`
  if (only === null) {
    const open = new Set(items.filter(({ incident }) => incident.status === 'open').map(({ incident }) => incident.id))
    const linked = [...open].slice(0, MAX_LINKED)
    return { ...none, acknowledgeUrls: Object.fromEntries(linked.map((id) => [id, urlOf(id)])) }
  }
  const last = items.at(-1)
  const members = last?.kind === 'group' ? last.group?.incidents : undefined
  const isOpen = (members ?? [last?.incident]).some((incident) => incident?.status === 'open')
  return isOpen ? { ...none, acknowledgeUrl: urlOf(only) } : none
}
