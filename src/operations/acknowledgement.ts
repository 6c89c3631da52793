/** Acknowledgement by link: a signed link in a message acknowledges one incident, for a limited time. */
import { timingSafeEqual } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { changeIncident } from '../domain/decide/incident-changes.ts'
import { countReopenings, findIncident, type IncidentRecord } from '../store/incident/incidents.ts'
import { findChannelById, loadChannelSecrets } from '../store/notification/channels.ts'
import type { Deps } from './deps.ts'

export const ACKNOWLEDGE_PATH = '/acknowledge'
/** A signature for this purpose is invalid for any other. */
const PURPOSE = 'acknowledge'
/** How long a link is valid, in milliseconds. Three days cover a weekend. */
const LINK_LIFE_MS = 3 * 24 * 3_600_000

/** The content of a link. */
type AcknowledgeLink = {
  readonly channelId: string
  readonly incidentId: string
  /** How often the incident had been reopened. A link does not acknowledge a later reopening. */
  readonly opening: string
  /** In milliseconds UTC, exact to the second. */
  readonly until: number
}

/**
 * Returns the path and query of a link that is valid until the incident is reopened, for three days at most. The link
 * is signed as in Standard Webhooks, with a separate key of the channel.
 */
export function acknowledgePath(
  deps: Pick<Deps, 'db' | 'now'>,
  { channelId, incidentId }: Pick<AcknowledgeLink, 'channelId' | 'incidentId'>,
  key: string,
): string {
  const until = Math.floor((deps.now() + LINK_LIFE_MS) / 1000)
  const opening = String(countReopenings(deps.db, incidentId))
  const signature = signatureOf({ channelId, incidentId, opening, until: until * 1000 }, key)
  const query = { incident: incidentId, channel: channelId, opening, until: String(until), signature }
  return `${ACKNOWLEDGE_PATH}?${new URLSearchParams(query)}`
}

/** The incident to acknowledge, and who may do so. Both belong to `organizationId`. */
export type Acknowledging = {
  readonly organizationId: number
  readonly incident: IncidentRecord
  /** The name of the channel to which the link was sent. */
  readonly channel: string
}

/** Why a link is not valid. */
export type DeadLink = 'expired' | 'reopened' | 'invalid'

/**
 * Checks a link. Returns a reason other than `invalid` only if the signature is valid.
 * @param get returns a query parameter or a form field; '' if there is none
 */
export function readAcknowledgeLink(deps: Deps, get: (name: string) => string): Acknowledging | DeadLink {
  const link = { incidentId: get('incident'), channelId: get('channel'), opening: get('opening') }
  const until = Number(get('until')) * 1000
  const channel = findChannelById(deps.db, link.channelId)
  const secrets = channel?.enabled ? loadChannelSecrets(deps.db, channel.rowId) : null
  if (!channel || !secrets || !Number.isSafeInteger(until)) return 'invalid'
  if (!isSame(signatureOf({ ...link, until }, secrets.acknowledging), get('signature'))) return 'invalid'
  if (until <= deps.now()) return 'expired'
  const { organizationId, name } = channel
  const incident = findIncident(deps.db, organizationId, link.incidentId)
  if (!incident) return 'invalid'
  if (link.opening !== String(countReopenings(deps.db, incident.id))) return 'reopened'
  return { organizationId, incident, channel: name }
}

/**
 * Acknowledges an incident, unless it is already acknowledged.
 * @param actor the name of the signed-in person; null if nobody is signed in
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

function signatureOf({ channelId, incidentId, opening, until }: AcknowledgeLink, key: string): string {
  return new Webhook(key).sign(PURPOSE, new Date(until), `${incidentId} ${channelId} ${opening}`)
}

function isSame(right: string, given: string): boolean {
  const [a, b] = [Buffer.from(right), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
