/** Formats who would be told about an alert, for `incmon explain` and `incmon channel test --alert`. */

import type { Listener } from '../domain/notification/audience.ts'
import { quoted } from '../domain/text.ts'
import type { Receipt } from '../engine/changes/receive/receipt.ts'

type Told = Omit<Listener, 'at'> & { readonly at: string | null }
export type Decision = NonNullable<Receipt['decisions']>[number] & { readonly told?: readonly Told[] }
export type Line = readonly [what: string, decided: string, rule: string]

/** Returns what happens to incidents and who would be told. An event without an alert has no such lines. */
export function toldLines({ alert, outcome, told = [] }: Decision): Line[] {
  if (!alert || !outcome) return []
  const silences: Line[] = outcome.silences.map((comment) => ['silence', quoted(comment), 'mutes the alert'])
  const { incident, why, message } = outcome
  if (!incident) return [...silences, ['incident', 'none', why ?? '-']]
  const opened: Line = ['incident', incident.title, stateText(incident)]
  if (message === null) return [...silences, opened, ['told', 'nobody', whyNoMessage(alert)]]
  const lines = told.map((one): Line => [`told: ${one.channel}`, whenText(message, one), ruleText(one)])
  return [...silences, opened, ...(lines.length > 0 ? lines : [['told', 'nobody', 'there are no channels'] as const])]
}

type Incident = NonNullable<NonNullable<Decision['outcome']>['incident']>

function stateText({ isNew, status }: Incident): string {
  if (isNew) return 'opens'
  return status === 'resolved' ? 'the alert belongs to it; it is resolved' : 'is open already'
}

function whyNoMessage({ severity, status }: NonNullable<Decision['alert']>): string {
  if (status !== 'firing') return 'the alert no longer fires'
  if (severity !== 'critical')
    return `the alert is ${severity}; only a critical condition is news about an open incident`
  return 'the incident has had this condition before'
}

function whenText(message: string, { at, why }: Told): string {
  if (at === null) return `not told (${message})`
  return why === 'at-once' ? `at once (${message})` : `at ${at} (${message})`
}

function ruleText({ rule, why }: Told): string {
  const by = rule === null ? 'the channel has no rules' : `rule ${rule} matches`
  const texts = {
    disabled: 'the channel is disabled',
    'no-rule-matches': 'no rule of the channel matches',
    'quiet-hours': `${by}; quiet hours hold the message back`,
    escalation: `${by}; only if nobody has acknowledged the incident by then`,
    'at-once': by,
  }
  return texts[why]
}
