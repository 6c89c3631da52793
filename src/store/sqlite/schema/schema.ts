/** The tables as Kysely types. The columns are documented in `sql/`. */
import type { Generated } from 'kysely'
import type { Source } from '../../../domain/event/event.ts'
import type { Severity } from '../../../domain/severity.ts'
import type { HistoryTables } from './history.ts'
import type { SettingsTables } from './settings.ts'

export type Schema = SettingsTables &
  HistoryTables & {
    services: {
      id: Generated<number>
      uuid: Buffer
      organization_id: number
      cluster: string
      namespace: string
      name: string
      status: Generated<'healthy' | 'degraded' | 'critical'>
      score: Generated<number>
      health: Generated<string>
      healthy_since: number | null
      suppressed: Generated<number>
      last_alert_at: number | null
      last_event_at: number | null
      created_at: number
      evaluate_at: number | null
    }
    aliases: { organization_id: number; kind: string; value: string; service_id: number }
    image_projects: { organization_id: number; project: string; service_id: number }
    images: { service_id: number; path: string; tag: string; pulled_at: number }
    payloads: { event_id: number; body: string | Buffer }
    incidents: {
      id: Generated<number>
      uuid: Buffer
      organization_id: number
      service_id: number
      title: string
      severity: Severity
      status: 'open' | 'investigating' | 'identified' | 'monitoring' | 'resolved'
      origin: 'manual' | 'automatic'
      cause: Generated<'service' | 'silence'>
      created_at: number
      started_at: number
      number: Generated<number>
      acknowledged_at: number | null
      resolved_at: number | null
      touched_at: number | null
      alert_count: Generated<number>
      lowest_score: number | null
      acknowledged_by: string | null
      previous: Buffer | null
      problem: Generated<string>
      actions: Generated<string>
    }
    alerts: {
      id: Generated<number>
      uuid: Buffer
      organization_id: number
      service_id: number
      incident_id: number | null
      source: Source
      name: string
      severity: Severity
      said: string | null
      status: 'firing' | 'resolved'
      resolution: 'reported' | 'inferred' | 'expired' | 'manual' | null
      summary: string
      labels: string
      annotations: string
      links: string
      fingerprint: string
      failure: string | null
      node: string | null
      rules: string
      evidence: string
      starts_at: number
      ends_at: number | null
      last_seen_at: number
      occurrences: number
      cluster: Generated<string>
      logical_key: Generated<string>
      group_id: number | null
      received_at: Generated<number>
      end_received_at: number | null
      last_event_id: number | null
      last_event_hash: Generated<number>
      settled_at: number | null
      expires_at: number | null
    }
    alert_fingerprints: {
      alert_id: number
      fingerprint: string
      severity: Severity
      said: string | null
      labels: string | null
      generator: string | null
      started_at: number
      ended: number
      seen_at: number
      expires_at: number | null
      changed_at: number | null
    }
    alert_counts: { organization_id: number; level: number; part: number; alerts: number }
    service_alert_counts: { level: number; part: number; service_id: number; alerts: number }
    events: {
      id: Generated<number>
      uuid: Buffer
      organization_id: number
      service_id: number | null
      alert_id: number | null
      source: Source
      kind: string
      name: string
      object: string
      severity: Severity
      text: string
      count: Generated<number>
      awaited: string | null
      first_seen_at: number | null
      at: number
      received_at: number
    }
    kubernetes_objects: {
      organization_id: number
      cluster: string
      uid: string
      kind: string
      namespace: string
      name: string
      version: string
      owner: string | null
      facts: string
    }
    kubernetes_positions: { organization_id: number; cluster: string; resource: string; version: string; at: number }
    kubernetes_gaps: { organization_id: number; cluster: string; starts_at: number; ends_at: number }
    idempotency_keys: { organization_id: number; route: string; key: string; answer: string; received_at: number }
    senders: {
      id: Generated<number>
      organization_id: number
      source: Source
      cluster: string
      receiver: string
      events: Generated<number>
      rejections: Generated<number>
      last_event_at: number | null
      last_rejection_at: number | null
      reports_ends: Generated<number>
      reports_repeats: Generated<number>
      lag: number | null
      lag_at: number | null
      clock: string | null
      names_cluster: number | null
      longest_gap: Generated<number>
      gaps: Generated<number>
      hours: Generated<string>
      heartbeat_at: number | null
      heartbeat_gap: Generated<number>
      heartbeat_due_at: number | null
      tokens: Generated<string>
      heartbeats: Generated<string>
    }
    groups: {
      id: Generated<number>
      sender_id: number
      key: string
      members: string
      delivered_at: number
      longest_gap: Generated<number>
      gaps: Generated<number>
    }
    silences: {
      id: Generated<number>
      uuid: Buffer
      organization_id: number
      matchers: string
      starts_at: number
      ends_at: number
      schedule: string | null
      comment: string
      created_by: string
      created_at: number
      revision: Generated<number>
      changes_at: number | null
      labels_only: Generated<number>
      annotations: Generated<string>
    }
    silenced_alerts: { alert_id: number; silence_id: number }
    service_states: { service_id: number; at: number; status: 'healthy' | 'degraded' | 'critical'; score: number }
    schema_migrations: { version: number; name: string; applied_at: number }
  }
