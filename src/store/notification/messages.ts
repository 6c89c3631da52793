/** Lists messages: what was sent to which channel, and why a message failed. */

import { sql } from 'kysely'
import type { IncidentStatus } from '../../domain/incident/incident.ts'
import type { MessageStatus } from '../../domain/notification/schedule.ts'
import { behindFailure } from '../../domain/notification/told.ts'
import type { Page } from '../../domain/pagination.ts'
import { nextAttempt } from '../incident/told-messages.ts'
import { readPage } from '../read.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import { findChannel } from './channels.ts'

/** `problem` and `firing`: the state of the incident at the moment of sending. */
type SentMessage = {
  readonly title: string
  readonly body: string
  readonly status: IncidentStatus
  readonly problem: 'on' | 'off'
  readonly firing: readonly string[]
}

/** Lists one page of an organization's messages, newest first. Undefined fields are ignored. */
export function listMessages(
  db: Db,
  organizationId: number,
  { channelId, status }: { channelId?: string | undefined; status?: MessageStatus | undefined },
  page: Page,
) {
  const channel = channelId === undefined ? null : findChannel(db, organizationId, channelId)
  if (channel === undefined) return { items: [], total: 0 }
  let wanted = db.sql
    .selectFrom('outbox')
    .where('outbox.organization_id', '=', organizationId)
    .where((eb) => eb.or([eb('leader_id', 'is', null), eb('leader_id', '=', eb.ref('outbox.id'))]))
  if (channel) wanted = wanted.where('channel_id', '=', channel.rowId)
  if (status) wanted = wanted.where('outbox.status', '=', status)
  const rows = wanted
    .innerJoin('channels', 'channels.id', 'outbox.channel_id')
    .select(['outbox.uuid', 'channels.uuid as channelUuid', 'channels.name as channel', 'outbox.kind'])
    .select(['outbox.status', 'attempts', 'outbox.created_at as createdAt', 'due_at as dueAt'])
    .select(['ended_at as endedAt', 'answer_status as answerStatus', 'detail', 'sent', 'leader_id as leaderId'])
    .select(['channels.failing', nextAttempt])
    .select(sql<Buffer | null>`(SELECT uuid FROM incidents WHERE incidents.id = outbox.incident_id)`.as('incident'))
    .select(sql<number>`(SELECT count(*) FROM outbox AS entry WHERE entry.leader_id = outbox.id)`.as('count'))
    .orderBy('outbox.id', 'desc')
  return readPage(
    db,
    wanted,
    rows,
    page,
    ({ uuid, channelUuid, incident, sent, leaderId, failing, nextAt, ...row }) => {
      const isPending = row.status === 'pending'
      const behind = isPending ? behindFailure({ leaderId, failing, dueAt: row.dueAt, nextAt }) : null
      return {
        ...row,
        id: uuidFromBytes(uuid),
        channelId: uuidFromBytes(channelUuid),
        /** The incident of the first notification; null if deleted. */
        incidentId: incident && uuidFromBytes(incident),
        /** The message as it was sent, with the state that justified it; null before the first attempt. */
        sent: sent === null ? null : (JSON.parse(sent) as SentMessage),
        count: Math.max(1, row.count),
        /** The time of the next attempt; null if there will be none. */
        dueAt: isPending ? (behind?.dueAt ?? row.dueAt) : null,
        detail: row.detail ?? behind?.detail ?? null,
      }
    },
  )
}
