/** The changes of an incident's title, severity and start in its timeline. */
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import { formatDuration } from '../../../domain/shown-time.ts'
import type { Context } from '../../state/context.ts'
import { addEntry } from './incidents.ts'

/** Adds edits to the timeline. `actor`: null for an automatic change. */
export function noteEdits(
  ctx: Context,
  incident: LiveIncident,
  texts: readonly string[],
  actor: string | null,
  now: number,
): void {
  for (const text of texts) addEntry(ctx, incident, { at: now, kind: 'edited', code: null, text, actor, ref: null })
}

/** Returns the changes of title, severity and start as sentences of the timeline. */
export function edits(before: LiveIncident, after: LiveIncident): string[] {
  return [
    ...(before.title === after.title ? [] : [`changed the title: ${after.title}`]),
    ...(before.severity === after.severity ? [] : [`severity changed from ${before.severity} to ${after.severity}`]),
    ...(before.startedAt === after.startedAt
      ? []
      : [`start time moved ${movedText(after.startedAt - before.startedAt)}`]),
  ]
}

function movedText(ms: number): string {
  return `${formatDuration(Math.abs(ms))} ${ms < 0 ? 'earlier' : 'later'}`
}
