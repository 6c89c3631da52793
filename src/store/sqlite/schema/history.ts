/** The tables for timelines, changes, postmortems, pruning and rejections as Kysely types. */
import type { Generated } from 'kysely'
import type { Source } from '../../../domain/event/event.ts'

export type HistoryTables = {
  timeline: {
    id: Generated<number>
    incident_id: number
    at: number
    kind: string
    code: string | null
    text: string
    facts: string | null
    actor: string | null
    ref: string | null
  }
  pipelines: {
    id: Generated<number>
    organization_id: number
    service_id: number
    ref: string
    event_id: number
    facts: string
    starts_at: number
    ends_at: number
  }
  correlations: {
    id: Generated<number>
    uuid: Buffer
    organization_id: number
    service_id: number
    change_kind: 'pipeline' | 'rollout'
    change_ref: string
    change_event_id: number
    alert_id: number
    evidence_event_id: number
    evidence_count: number
    score: number
    band: 'strong' | 'probable' | 'possible'
    reasons: string
    lag_seconds: number
    verdict: 'confirmed' | 'rejected' | null
    /** The name of the token or user; null without a verdict, and for verdicts before migration 14. */
    verdict_by: string | null
    created_at: number
  }
  postmortems: {
    id: Generated<number>
    uuid: Buffer
    incident_id: number
    revision: number
    state: 'draft' | 'final'
    document: string
    edits: Generated<string>
    generated_at: number
  }
  postmortems_due: { id: Generated<number>; incident_id: number; resolved_at: number; due_at: number }
  graphs: {
    incident_id: number
    alert: string | null
    asked_at: number
    tries: number
    fault: string | null
    fetched_at: number | null
    graph: string | null
  }
  postmortem_references: { ref: string; postmortem_id: number }
  pruning: { organization_id: number; waiting: string | null }
  rejections: {
    id: Generated<number>
    uuid: Buffer
    organization_id: number
    source: Source
    item: number
    error: string
    payload: string
    received_at: number
  }
}
