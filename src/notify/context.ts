/** What the notifier needs, and the facts that all messages share. */
import type { Deps } from '../actions/deps.ts'
import { momentText } from '../domain/notification/alert-texts.ts'
import type { MessageContext, MessageText } from '../domain/notification/words.ts'
import { MINUTE } from '../domain/units.ts'
import type { Stop } from '../store/incident/stops.ts'
import type { ChannelRecord } from '../store/notification/channels.ts'
import { findOrganization } from '../store/organizations.ts'
import type { Transports } from './deliver.ts'

export type Cause = Pick<MessageContext, 'cause' | 'suspects'>

export type NotifierOptions = {
  readonly transports: () => Transports
  /** Returns the public URL of the pages without a trailing slash, or '' if it is unknown. */
  readonly publicUrl: () => string
  /**
   * Finds the likely cause of what goes on in an incident or, if conditions are given, of these. The search is slow, so it
   * runs in a worker thread.
   */
  readonly causeOf: (
    organizationId: number,
    incidentId: string,
    names: readonly string[] | null,
  ) => Promise<Cause | null>
  /** When incmon was not running before this start; null if it was. */
  readonly stopped?: Stop | null | undefined
  /** Returns a random number between 0 and 1. */
  readonly random: () => number
  readonly failed: (error: unknown) => void
  readonly worked: () => void
}

export const UNKNOWN: Cause = { cause: '', suspects: [] }

export function baseContext(
  deps: Deps,
  options: Pick<NotifierOptions, 'publicUrl'>,
  channel: ChannelRecord,
  incidentId: string | null,
): MessageContext {
  const base = options.publicUrl()
  const url = base === '' ? null : `${base}/incidents${incidentId === null ? '' : `/${incidentId}`}`
  return {
    now: deps.now(),
    timeZone: channel.settings.timeZone,
    resolveAfter: resolveAfterOf(deps, channel),
    url,
    acknowledgeUrl: null,
    acknowledgeUrls: {},
    ...UNKNOWN,
  }
}

function resolveAfterOf(deps: Deps, { organizationId }: ChannelRecord): number | null {
  const minutes = findOrganization(deps.db, organizationId)?.settings['auto-resolve'] ?? 'off'
  return minutes === 'off' ? null : minutes * MINUTE
}

/** Adds to the first message of a channel after a stop of incmon when incmon was not running. */
export function withStop(
  words: MessageText,
  stop: Stop | null | undefined,
  channel: ChannelRecord,
  context: MessageContext,
): MessageText {
  if (!stop || Math.max(channel.deliveredAt ?? 0, channel.createdAt) >= stop.to) return words
  const [from, to] = [momentText(stop.from, context), momentText(stop.to, context)]
  return { ...words, body: `${words.body} incmon was not running from ${from} to ${to}.`.trimStart() }
}
