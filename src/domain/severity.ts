/** Severity: one vocabulary for the words of all senders. */

import type { AlertDraft, Labels } from './event/event.ts'
import { cacheByName } from './memoize.ts'

/** All severities, worst first. */
export const SEVERITIES = ['critical', 'error', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

const WORDS: Readonly<Record<Severity | 'none', string>> = {
  critical: 'critical crit fatal emergency emerg disaster page p0 p1 sev0 sev1',
  error: 'error err high major alert p2 sev2',
  warning: 'warning warn medium average minor moderate ticket p3 sev3',
  info: 'info informational information notice low debug p4 p5',
  none: 'none ok normal cleared',
}

const VOCABULARY: ReadonlyMap<string, Severity | 'none'> = new Map(
  [...SEVERITIES, 'none' as const].flatMap((severity) => WORDS[severity].split(' ').map((word) => [word, severity])),
)

const LABELS = ['severity', 'priority', 'level'] as const

/**
 * Returns the severity of an alert, the text of its label (null if there is none) and the rule that decided. Uses the
 * first of the labels severity, priority and level that has a value. No-data and evaluation errors are problems of the
 * monitoring and always warnings.
 */
export function severityOf(draft: AlertDraft): {
  severity: Severity | 'none'
  raw: string | null
  rule: string
} {
  const label = severityLabel(draft.labels)
  const raw = label === null ? null : (draft.labels[label] ?? null)
  if (draft.nature === 'no-data') return { severity: 'warning', raw, rule: 'no data: a problem of the monitoring' }
  if (label === null || raw === null) return { severity: 'warning', raw: null, rule: 'no severity label' }
  return {
    severity: parseSeverity(raw),
    raw,
    rule: isSeverityWord(raw) ? `label ${label}` : `label ${label}: unknown word`,
  }
}

function severityLabel(labels: Labels): (typeof LABELS)[number] | null {
  return LABELS.find((name) => normalised(labels[name] ?? '') !== '') ?? null
}

/**
 * Returns the severity that a sender's word means. Ignores case and blanks. An unknown or missing word is a warning.
 * 'none' means that there is no alert.
 */
export function parseSeverity(raw: string | undefined): Severity | 'none' {
  return VOCABULARY.get(normalised(raw ?? '')) ?? 'warning'
}

const normalised = cacheByName((raw) => raw.replace(/\s/g, '').toLowerCase())

/** Returns whether a word is a known severity. */
export function isSeverityWord(word: string): boolean {
  return VOCABULARY.has(normalised(word))
}

/** Returns the worse of two severities. */
export function worst(a: Severity, b: Severity): Severity {
  return rank(a) >= rank(b) ? a : b
}

/** Returns a number for comparisons: info 0, warning 1, error 2, critical 3. */
export function rank(severity: Severity): number {
  return SEVERITIES.length - 1 - SEVERITIES.indexOf(severity)
}
