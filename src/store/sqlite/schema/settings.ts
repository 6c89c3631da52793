/** The tables for organizations, access and notification channels as Kysely types. */
import type { Generated } from 'kysely'
import type { ChannelKind } from '../../../domain/notification/format.ts'
import type { MessageKind } from '../../../domain/notification/kind.ts'
import type { Untold } from '../../../domain/notification/truth.ts'
import type { Severity } from '../../../domain/severity.ts'

export type SettingsTables = {
  organizations: {
    id: Generated<number>
    uuid: Buffer
    name: string
    plan: 'Free' | 'Team' | 'Pro'
    settings: Generated<string>
    created_at: number
    last_incident: Generated<number>
  }
  tokens: {
    id: Generated<number>
    uuid: Buffer
    organization_id: number
    name: string
    hash: Buffer
    scopes: string
    cluster: Generated<string>
    created_at: number
    expires_at: number | null
    revoked_at: number | null
    last_used_at: number | null
  }
  sessions: {
    id: Generated<number>
    uuid: Buffer
    organization_id: number
    token_id: number | null
    hash: Buffer
    person: string
    agent: string
    created_at: number
    last_used_at: number
    expires_at: number
  }
  setup_links: { hash: Buffer; organization_id: number; expires_at: number }
  channels: {
    id: Generated<number>
    uuid: Buffer
    organization_id: number
    name: string
    kind: ChannelKind
    target: string
    enabled: Generated<number>
    settings: string
    failing: string | null
    failing_since: number | null
    gone: Generated<0 | 1>
    delivered_at: number | null
    created_at: number
  }
  channel_secrets: {
    channel_id: number
    target: string
    acknowledging: string
    signing: string | null
    earlier: string | null
    earlier_until: number | null
  }
  outbox: {
    id: Generated<number>
    uuid: Buffer
    organization_id: number
    channel_id: number
    incident_id: number | null
    kind: MessageKind
    actor: string | null
    severity_before: Severity | null
    status: Generated<'pending' | 'delivered' | 'failed'>
    leader_id: number | null
    attempts: Generated<number>
    created_at: number
    due_at: number
    expires_at: number
    ended_at: number | null
    answer_status: number | null
    detail: string | null
    remote_id: string | null
    facts: Generated<string>
    is_digest: Generated<number>
    sent: string | null
  }
  untold: {
    id: Generated<number>
    incident_id: number
    channel_id: number
    kind: MessageKind
    at: number
    reason: Untold
  }
}
