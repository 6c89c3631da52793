/** Maps the severity terms of all senders to one scale. */

import type { AlertDraft } from './event/event.ts'
import { cacheByName } from './memoize.ts'
import { isPlaceholder } from './placeholder.ts'
import { cutText } from './text.ts'

/** Worst first. */
export const SEVERITIES = ['critical', 'error', 'warning', 'info'] as const
export type Severity = (typeof SEVERITIES)[number]

/** The verbs that describe a service with a problem of a given severity. */
export const STATES = {
  critical: { is: 'is critical', hasBeen: 'has been critical', was: 'was critical' },
  error: { is: 'has errors', hasBeen: 'has had errors', was: 'had errors' },
  warning: { is: 'has a warning', hasBeen: 'has had a warning', was: 'had a warning' },
  info: { is: 'has a notice', hasBeen: 'has had a notice', was: 'had a notice' },
} as const satisfies Record<Severity, object>

/** The accepted words. A word of several parts is written without its separator. */
export const SEVERITY_WORDS: Readonly<Record<Severity | 'none', string>> = {
  critical: 'critical crit fatal emergency emerg disaster page urgent blocker severe veryhigh p0 p1 s0 s1 sev0 sev1',
  error: 'error err high major alert p2 s2 sev2',
  warning: 'warning warn medium average minor moderate ticket p3 s3 sev3',
  info: 'info informational information notice low debug trace p4 p5 s4 sev4',
  none: 'none ok normal cleared',
}

/** Worst first. */
const LEVELS = [...SEVERITIES, 'none'] as const
const VOCABULARY: ReadonlyMap<string, Severity | 'none'> = new Map(
  LEVELS.flatMap((severity) => SEVERITY_WORDS[severity].split(' ').map((word) => [word, severity])),
)

/** After one of these words, a value does not say how bad the alert is. */
const NEGATIONS = new Set(['non', 'not', 'no', 'un'])
/** A severity has few words. More words are not read. */
const MAX_WORDS = 20
const SEPARATORS = /[^\p{L}\p{N}]+/u

/**
 * The labels that can contain the severity, in order. Sloth and Grafana's SLOs write one of their own, and Grafana reads
 * `og_priority` for Opsgenie. The last ones are what people call it. Each can begin with a capital.
 */
export const SEVERITY_LABELS = [
  ...['severity', 'sloth_severity', 'grafana_slo_severity', 'priority', 'og_priority', 'level'],
  ...['severity_level', 'alert_severity', 'urgency', 'criticality'],
] as const
const IN_ANY_CASE = SEVERITY_LABELS.flatMap((name) => [name, name.charAt(0).toUpperCase() + name.slice(1)])

/** Where an alert's severity was found. An annotation is used only if no label contains a severity. */
type SeveritySource = { readonly in: 'label' | 'annotation'; readonly name: string; readonly raw: string }

/** The maximum length of the original value, in characters. Each live alert keeps it in memory. */
const MAX_SAID = 100

/**
 * Returns an alert's severity, the original value (null if there is none), and the rule that applied. Missing data and
 * evaluation errors are problems with the monitoring itself and are always warnings.
 */
export function severityOf(draft: AlertDraft): { severity: Severity | 'none'; raw: string | null; rule: string } {
  const found = findSeverity(draft)
  const raw = found ? cutText(found.raw, MAX_SAID).toWellFormed() : null
  if (draft.nature === 'no-data')
    return { severity: 'warning', raw, rule: 'no data: a problem with the monitoring itself' }
  if (!found) return { severity: 'warning', raw: null, rule: 'no severity label' }
  const rule = `${found.in} ${found.name}`
  return { severity: parseSeverity(found.raw), raw, rule: isSeverityWord(found.raw) ? rule : `${rule}: unknown value` }
}

/** Returns where an alert names its severity, or null if the alert names none. */
export function findSeverity({
  labels,
  annotations,
}: Pick<AlertDraft, 'labels' | 'annotations'>): SeveritySource | null {
  for (const name of IN_ANY_CASE) {
    const raw = labels[name]
    if (raw === undefined || isPlaceholder(raw)) continue
    // Sloth's users often name a team in `severity`. Sloth itself writes only known words.
    const isTeam = name === 'severity' && !isSeverityWord(raw) && isSeverityWord(labels.sloth_severity ?? '')
    if (!isTeam) return { in: 'label', name, raw }
  }
  const raw = annotations.severity
  return raw === undefined || isPlaceholder(raw) ? null : { in: 'annotation', name: 'severity', raw }
}

/**
 * Maps a sender's term to a severity. Unknown or missing terms are warnings. 'none' means that no alert is opened. Case
 * and separators are ignored, and so are other words next to a known word: `P1 - Critical`, `sev-1`. Of several known
 * words, the worst counts. A negated word is unknown: `non-critical`.
 */
export function parseSeverity(raw: string | undefined): Severity | 'none' {
  return known(raw ?? '') ?? 'warning'
}

/** Returns whether a term is a known severity. */
export function isSeverityWord(word: string): boolean {
  return known(word) !== null
}

const known = cacheByName((raw): Severity | 'none' | null => {
  const words = raw.toLowerCase().split(SEPARATORS, MAX_WORDS).filter(Boolean)
  const whole = VOCABULARY.get(words.join(''))
  if (whole) return whole
  const negated = words.findIndex((word) => NEGATIONS.has(word))
  const meant = negated < 0 ? words : words.slice(0, negated)
  // A term such as `sev-1` or `very high` has two parts.
  const found = meant.flatMap((word, at) => [VOCABULARY.get(word), VOCABULARY.get(word + (meant[at + 1] ?? ''))])
  return LEVELS.find((level) => found.includes(level)) ?? null
})

/** Returns the worse of two severities. */
export function worst(a: Severity, b: Severity): Severity {
  return rank(a) >= rank(b) ? a : b
}

/** Returns a number for comparing severities: info 0, warning 1, error 2, critical 3. */
export function rank(severity: Severity): number {
  return SEVERITIES.length - 1 - SEVERITIES.indexOf(severity)
}
