/** Notification channels. The secrets of channels are in a separate table that only the sending code reads. */

import type { Selectable } from 'kysely'
import { BUDGETS } from '../../domain/budgets.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import { type Channel, DEFAULT_CHANNEL } from '../../domain/notification/channel.ts'
import type { Listed, Page } from '../../domain/pagination.ts'
import { readPage } from '../read.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import type { Schema } from '../sqlite/schema/schema.ts'
import { uuidBytes, uuidFromBytes, uuidOrNone } from '../sqlite/uuid.ts'

export type ChannelRecord = Channel & {
  readonly rowId: number
  readonly organizationId: number
  readonly createdAt: number
  /** Whether incmon has disabled the channel, because its receiver does not exist any more. */
  readonly isGone: boolean
}

/** The maximum number of channels per organization. Every incident change is matched against all channels. */
export const MAX_CHANNELS = BUDGETS.channels.value

/** A channel's secrets, which are used only for sending. */
export type ChannelSecrets = {
  readonly target: string
  /** The key for signing acknowledge links, which is never sent to the receiver. */
  readonly acknowledging: string
  /** The key for signing webhook messages, shared with the receiver; null for other kinds of channels. */
  readonly signing: string | null
  readonly earlier: string | null
  readonly earlierUntil: number | null
}

/** Lists one page of an organization's channels, oldest first. */
export function listChannels(db: Db, organizationId: number, page: Page): Listed<ChannelRecord> {
  const all = db.sql.selectFrom('channels').where('organization_id', '=', organizationId)
  return readPage(db, all, all.selectAll().orderBy('id'), page, toRecord)
}

/** Lists all of an organization's channels, oldest first. */
export function listRecipients(db: Db, organizationId: number): readonly ChannelRecord[] {
  return db.all(ofOrganization, { organizationId }).map(toRecord)
}

const ofOrganization = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('channels')
    .selectAll()
    .where('organization_id', '=', hole('organizationId'))
    .orderBy('id')
    .limit(MAX_CHANNELS),
)

/** Finds a channel by UUID. Returns undefined if the organization has no such channel. */
export function findChannel(db: Db, organizationId: number, id: string): ChannelRecord | undefined {
  const channel = findChannelById(db, id)
  return channel?.organizationId === organizationId ? channel : undefined
}

/** Finds a channel in any organization. Used to verify signed links. Returns undefined if there is no such channel. */
export function findChannelById(db: Db, id: string): ChannelRecord | undefined {
  const row = db.first(db.sql.selectFrom('channels').selectAll().where('uuid', '=', uuidOrNone(id)))
  return row ? toRecord(row) : undefined
}

export function findChannelByRow(db: Db, rowId: number): ChannelRecord | undefined {
  const row = db.first(db.sql.selectFrom('channels').selectAll().where('id', '=', rowId))
  return row ? toRecord(row) : undefined
}

export function findChannelByName(db: Db, organizationId: number, name: string): ChannelRecord | undefined {
  const channels = db.sql.selectFrom('channels').selectAll().where('organization_id', '=', organizationId)
  const row = db.first(channels.where('name', '=', name))
  return row ? toRecord(row) : undefined
}

/** Reads a channel's secrets. Call this function only for sending. */
export function loadChannelSecrets(db: Db, rowId: number): ChannelSecrets | null {
  const row = db.first(db.sql.selectFrom('channel_secrets').selectAll().where('channel_id', '=', rowId))
  if (!row) return null
  const { target, acknowledging, signing, earlier, earlier_until: earlierUntil } = row
  return { target, acknowledging, signing, earlier, earlierUntil }
}

type Wanted = Pick<ChannelRecord, 'name' | 'kind' | 'target' | 'enabled' | 'settings'>

export function insertChannel(
  db: Db,
  made: Wanted & Pick<ChannelRecord, 'id' | 'organizationId' | 'createdAt'>,
  secrets: ChannelSecrets,
): void {
  const { id, organizationId, createdAt, enabled, settings, name, kind, target } = made
  const row = { uuid: uuidBytes(id), organization_id: organizationId, created_at: createdAt, name, kind, target }
  const values = { ...row, enabled: enabled ? 1 : 0, settings: JSON.stringify(settings) }
  const rowId = db.insert(db.sql.insertInto('channels').values(values))
  replaceChannelSecrets(db, rowId, secrets)
}

export function updateChannel(db: Db, rowId: number, to: Omit<Wanted, 'kind'>): void {
  const { name, target, enabled, settings } = to
  const changed = { name, target, enabled: enabled ? 1 : 0, settings: JSON.stringify(settings) }
  db.run(db.sql.updateTable('channels').set(changed).where('id', '=', rowId))
}

type Named = Pick<LiveService, 'id' | 'name'>

/** Adds to the rules that name a service its ID when it gets another name, or the ID of the one into which it was merged. */
export function followService(db: Db, organizationId: number, before: Named, after: Named): void {
  for (const { rowId, settings, ...channel } of listRecipients(db, organizationId)) {
    const rules = settings.rules.map((rule) => {
      const named = rule.services ?? []
      const isAbout = named.includes(before.name) || named.includes(before.id)
      return isAbout && !named.includes(after.id) ? { ...rule, services: [...named, after.id] } : rule
    })
    const isSame = rules.every((rule, index) => rule === settings.rules[index])
    if (!isSame) updateChannel(db, rowId, { ...channel, settings: { ...settings, rules } })
  }
}

export function replaceChannelSecrets(db: Db, rowId: number, secrets: ChannelSecrets): void {
  const { earlierUntil, ...texts } = secrets
  const row = { channel_id: rowId, ...texts, earlier_until: earlierUntil }
  db.run(db.sql.replaceInto('channel_secrets').values(row))
}

/** Deletes a channel, its secrets and its deliveries. */
export function deleteChannel(db: Db, rowId: number): void {
  db.run(db.sql.deleteFrom('channels').where('id', '=', rowId))
}

/** Records that a message was delivered. */
export function recordDelivery(db: Db, rowId: number, at: number): void {
  const state = { failing: null, failing_since: null, gone: 0, delivered_at: at } as const
  db.run(db.sql.updateTable('channels').set(state).where('id', '=', rowId))
}

/** Records why an attempt failed. `disable`: whether the receiver no longer exists. */
export function recordFailure(db: Db, rowId: number, failing: string, at: number, disable: boolean): void {
  db.run(
    db.sql
      .updateTable('channels')
      .set((eb) => ({ failing, failing_since: eb.fn.coalesce('failing_since', eb.val(at)), gone: disable ? 1 : 0 }))
      .$if(disable, (channels) => channels.set({ enabled: 0 }))
      .where('id', '=', rowId),
  )
}

function toRecord(row: Selectable<Schema['channels']>): ChannelRecord {
  return {
    rowId: row.id,
    id: uuidFromBytes(row.uuid),
    organizationId: row.organization_id,
    name: row.name,
    kind: row.kind,
    target: row.target,
    enabled: row.enabled === 1,
    settings: { ...DEFAULT_CHANNEL, ...JSON.parse(row.settings) },
    failing: row.failing,
    failingSince: row.failing_since,
    deliveredAt: row.delivered_at,
    createdAt: row.created_at,
    isGone: row.gone === 1,
  }
}
