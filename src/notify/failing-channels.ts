/** Tells the other channels of an organization that a channel fails, and when it works again. */
import type { Deps } from '../actions/deps.ts'
import { momentText } from '../domain/notification/alert-texts.ts'
import { shortened } from '../domain/notification/names.ts'
import { type MessageContext, type MessageText, SYMBOLS } from '../domain/notification/words.ts'
import { formatDuration } from '../domain/shown-time.ts'
import { MINUTE } from '../domain/units.ts'
import { type ChannelRecord, listRecipients, loadChannelSecrets } from '../store/notification/channels.ts'
import { listOrganizations } from '../store/organizations.ts'
import { baseContext, type NotifierOptions } from './context.ts'
import { deliver } from './deliver.ts'

/** Receivers restart. A channel that fails for less time is not worth a message. */
const TOLD_AFTER = 5 * MINUTE

type Options = Pick<NotifierOptions, 'transports' | 'publicUrl' | 'stopped'>

/**
 * Returns a function that sends the messages of an organization that are due, and resolves when they were sent. Each
 * failure is told once.
 */
export function createFailureNotes(deps: Deps, options: Options): (organizationId: number) => Promise<void> {
  const startedAt = deps.now()
  const told: Told = toldBefore(deps, options.stopped?.from ?? startedAt)
  return async (organizationId) => {
    const channels = listRecipients(deps.db, organizationId)
    await Promise.all(
      channels.map(async (channel) => {
        const words = noteOf(channel, told, startedAt, deps.now())
        const receivers = channels.filter((one) => one.enabled && one.failing === null && one.rowId !== channel.rowId)
        if (!words || receivers.length === 0) return
        if (channel.failing === null) told.delete(channel.rowId)
        else told.set(channel.rowId, { since: channel.failingSince ?? 0, isOff: isOff(channel) })
        await Promise.all(receivers.map((receiver) => send(deps, options, receiver, words)))
      }),
    )
  }
}

type Note = (context: MessageContext) => Pick<MessageText, 'tone' | 'title' | 'body'>

/** Since when the channels fail whose failure was told, and whether it was told that they are disabled, by row id. */
type Told = Map<number, { readonly since: number; readonly isOff: boolean }>

/** Returns what was told before incmon stopped at `at`. */
function toldBefore(deps: Deps, at: number): Told {
  const all = listOrganizations(deps.db).flatMap(({ rowId }) => listRecipients(deps.db, rowId))
  const failing = all.filter((one) => one.enabled && one.failingSince !== null && one.failingSince + TOLD_AFTER < at)
  return new Map(failing.map(({ rowId, failingSince }) => [rowId, { since: failingSince ?? 0, isOff: false }]))
}

function isOff({ enabled, isGone }: ChannelRecord): boolean {
  return !enabled && isGone
}

/** Returns the message about a channel that is due; null if there is none. */
function noteOf(channel: ChannelRecord, told: Told, startedAt: number, now: number): Note | null {
  const { rowId, name, enabled, failing, failingSince } = channel
  const known = told.get(rowId)
  const title = shortened(name)
  if (failing === null || failingSince === null) {
    const body = `They failed for ${formatDuration(now - (known?.since ?? now))}.`
    return known ? () => ({ tone: 'resolved', title: `Messages to ${title} are delivered again.`, body }) : null
  }
  if (isOff(channel)) {
    // A restart is no reason to say it again.
    const isNews = known ? !known.isOff : failingSince >= startedAt - MINUTE
    const words = { title: `Messages to ${title} are not sent any more.`, body: `${failing}.` }
    return isNews ? () => ({ tone: 'warning', ...words }) : null
  }
  if (!enabled || known || now - failingSince < TOLD_AFTER) return null
  const body = `The last attempt failed: ${failing}.`
  return (context) => ({
    tone: 'warning',
    title: `Messages to ${title} have failed since ${momentText(failingSince, context)}.`,
    body,
  })
}

async function send(deps: Deps, options: Options, channel: ChannelRecord, note: Note): Promise<void> {
  const secrets = loadChannelSecrets(deps.db, channel.rowId)
  if (!secrets) return
  const base = options.publicUrl()
  const url = base === '' ? null : `${base}/settings/notifications`
  const context = { ...baseContext(deps, options, channel, null), url }
  const { tone, title, body } = note(context)
  const links = url === null ? [] : [{ text: 'View channels', url }]
  const words = { tone, symbol: SYMBOLS[tone], subject: title, title, body, links }
  const thread = { items: [], incidentId: null, replyTo: null, isFirst: true }
  await deliver({ id: deps.newId(), kind: channel.kind, secrets, words, context, ...thread }, options.transports())
}
