/** The timeline rows of a document: who reported or did something, and how often. */
import { rowDetails } from '../incident/timeline-rows.ts'
import type { TimelineRowText } from './document.ts'
import { senderName } from './words.ts'

/** Returns who is responsible for a row: a user, a sender such as `Kubernetes`, or incmon. */
export function actorOf({ actor, source }: Pick<TimelineRowText, 'actor' | 'source'>): string {
  return actor ?? (source === null ? 'incmon' : senderName(source))
}

/** Formats the details after a row's text: ` ×440, seen 879 times, last seen 18:34`. `shown` formats a time. */
export function detailsText(row: TimelineRowText, shown: (at: number) => string): string {
  return rowDetails({ ...row, at: Date.parse(row.at), until: Date.parse(row.until) }, shown)
}
