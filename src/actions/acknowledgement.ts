/** Acknowledge links: a signed link in a message acknowledges one incident for a limited time. */
import { timingSafeEqual } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { acknowledgeIncidents } from '../engine/changes/incidents/incident-changes.ts'
import { countReopenings, findIncident, type IncidentRecord } from '../store/incident/incidents.ts'
import { findChannelById, loadChannelSecrets } from '../store/notification/channels.ts'
import type { Deps } from './deps.ts'

export const ACKNOWLEDGE_PATH = '/acknowledge'
/** Signatures for this purpose are not valid for any other purpose. */
const PURPOSE = 'acknowledge'
/** How long a link is valid, in milliseconds. Three days cover a weekend. */
const LINK_LIFE_MS = 3 * 24 * 3_600_000

/** The data in a link. */
type AcknowledgeLink = {
  readonly channelId: string
  readonly incidentId: string
  /** How many times the incident had been reopened. Another reopening makes the link invalid. */
  readonly opening: string
  /** The Unix time when the link expires, in milliseconds but rounded to the second. */
  readonly until: number
}

/**
 * Returns the path and query of a link that is valid for three days or until the incident is reopened. The link is
 * signed as in Standard Webhooks, with a separate key per channel.
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

/** The incident to acknowledge. */
export type Acknowledging = { readonly organizationId: number; readonly incident: IncidentRecord }

/** Why a link is not valid. */
type DeadLink = 'expired' | 'reopened' | 'invalid'

/**
 * Validates a link. Reasons other than `invalid` are returned only if the signature is correct.
 * @param get returns a query parameter or form field; '' if absent
 */
export function readAcknowledgeLink(deps: Deps, get: (name: string) => string): Acknowledging | DeadLink {
  const link = { incidentId: get('incident'), channelId: get('channel'), opening: get('opening') }
  const until = Number(get('until')) * 1000
  const channel = findChannelById(deps.db, link.channelId)
  const secrets = channel?.enabled ? loadChannelSecrets(deps.db, channel.rowId) : null
  if (!channel || !secrets || !Number.isSafeInteger(until)) return 'invalid'
  if (!isSame(signatureOf({ ...link, until }, secrets.acknowledging), get('signature'))) return 'invalid'
  if (until <= deps.now()) return 'expired'
  const { organizationId } = channel
  const incident = findIncident(deps.db, organizationId, link.incidentId)
  if (!incident) return 'invalid'
  if (link.opening !== String(countReopenings(deps.db, incident.id))) return 'reopened'
  return { organizationId, incident }
}

/**
 * Acknowledges incidents. Does nothing about those that are acknowledged already.
 * @param actor the name of the person
 */
export async function acknowledge(deps: Deps, organizationId: number, ids: readonly string[], actor: string) {
  await deps.engine.run(organizationId, (ctx, now) => acknowledgeIncidents(ctx, ids, actor, now))
}

function signatureOf({ channelId, incidentId, opening, until }: AcknowledgeLink, key: string): string {
  return new Webhook(key).sign(PURPOSE, new Date(until), `${incidentId} ${channelId} ${opening}`)
}

function isSame(right: string, given: string): boolean {
  const [a, b] = [Buffer.from(right), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}
