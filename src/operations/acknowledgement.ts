/** Acknowledgement by link: a signed link in a message acknowledges one incident, for a limited time. */
import { timingSafeEqual } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { changeIncident } from '../domain/decide/incident-changes.ts'
import { findIncident, type IncidentRecord } from '../store/incident/incidents.ts'
import { findChannelById, loadChannelSecrets } from '../store/notification/channels.ts'
import type { Deps } from './deps.ts'

export const ACKNOWLEDGE_PATH = '/acknowledge'
/** A signature for this purpose is valid for no other one. */
const PURPOSE = 'acknowledge'
/** How long a link is valid, in milliseconds: over a weekend. A link that claims a longer time is not ours, though a receiver of webhooks has the key. */
export const LINK_LIFE_MS = 3 * 24 * 3_600_000

/** What a link says. `until`: in milliseconds UTC, exact to the second. */
type AcknowledgeLink = { readonly channelId: string; readonly incidentId: string; readonly until: number }

/** Returns the path and query of a link. It is signed after Standard Webhooks with the key of the channel. */
export function acknowledgePath(link: AcknowledgeLink, key: string): string {
  const { channelId, incidentId, until } = link
  const query = {
    incident: incidentId,
    channel: channelId,
    until: String(Math.floor(until / 1000)),
    signature: signatureOf(link, key),
  }
  return `${ACKNOWLEDGE_PATH}?${new URLSearchParams(query)}`
}

/** Who may acknowledge which incident. `organizationId` is that of both. */
export type Acknowledging = {
  readonly organizationId: number
  readonly incident: IncidentRecord
  /** The name of the channel that the link was sent to. */
  readonly channel: string
}

/**
 * Checks a link. `expired` is told apart only for a signature that is right.
 * @param get returns a query parameter or a form field; '' if there is none
 */
export function readAcknowledgeLink(deps: Deps, get: (name: string) => string): Acknowledging | 'expired' | 'invalid' {
  const link = { incidentId: get('incident'), channelId: get('channel'), until: Number(get('until')) * 1000 }
  const channel = findChannelById(deps.db, link.channelId)
  const secrets = channel && loadChannelSecrets(deps.db, channel.rowId)
  const now = deps.now()
  if (!channel?.enabled || !secrets || !(link.until <= now + LINK_LIFE_MS)) return 'invalid'
  const isEarlierValid = secrets.earlierUntil !== null && now < secrets.earlierUntil
  const keys = [secrets.signing, isEarlierValid ? secrets.earlier : null].filter((key) => key !== null)
  if (!keys.some((key) => isSame(signatureOf(link, key), get('signature')))) return 'invalid'
  if (link.until <= now) return 'expired'
  const { organizationId, name } = channel
  const incident = findIncident(deps.db, organizationId, link.incidentId)
  return incident ? { organizationId, incident, channel: name } : 'invalid'
}

/**
 * Acknowledges an incident, unless somebody has done so before.
 * @param actor the name of the person who is signed in; null if nobody is
 */
export async function acknowledge(
  deps: Deps,
  { organizationId, incident, channel }: Acknowledging,
  actor: string | null,
) {
  const name = actor ?? `Somebody (by link in #${channel.replace(/^#/, '')})`
  await deps.engine.run(organizationId, (ctx, now) => {
    const { status } = ctx.state.incidents.get(incident.rowId) ?? incident
    if (status === 'open') changeIncident(ctx, incident.id, { status: 'investigating' }, name, now)
  })
}

function signatureOf({ channelId, incidentId, until }: AcknowledgeLink, key: string): string {
  return new Webhook(key).sign(PURPOSE, new Date(until), `${incidentId} ${channelId}`)
}

function isSame(right: string, given: string): boolean {
  const [a, b] = [Buffer.from(right), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
