/** Each kind of sentence, from the smallest record that justifies it and from one that does not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IncidentFact, PostmortemFacts } from '../../src/domain/incident/facts.ts'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { generate } from '../../src/domain/postmortem/postmortem.ts'
import { MINUTE } from '../../src/domain/units.ts'
import { factsOf } from './postmortem-goldens.ts'

const IMAGE = factsOf('bad-image-tag')
const { startedAt, createdAt } = IMAGE.incident
const resolvedAt = IMAGE.incident.resolvedAt ?? 0
const BARE: PostmortemFacts = {
  ...IMAGE,
  ...{ alerts: [], entries: [], events: [], changes: [], correlations: [], suspects: [], earlier: [], onNode: [] },
}

/** Returns the text of a postmortem of these facts. */
function textOf(facts: Partial<PostmortemFacts>, incident: Partial<IncidentFact> = {}): string {
  const all = { ...BARE, ...facts }
  return markdown(generate({ ...all, incident: { ...all.incident, ...incident } }))
}

const critical = (minutes: number, until: number | null = startedAt + minutes * MINUTE) => ({
  critical: { ms: minutes * MINUTE, until },
})
const NEVER = { critical: { ms: 0, until: null } }
const MANUAL = { origin: 'manual', ...NEVER } as const
const status = (code: string, at: number, actor: string | null) => ({
  ...{ at, kind: 'status', code, text: '', actor, ref: null },
})
const ended = (actor: string | null) => ({
  ...{ at: startedAt, kind: 'ended', code: 'manual', text: 'X', actor, ref: `alert/${IMAGE.alerts[0]?.uuid}` },
})
const alerts = IMAGE.alerts.slice(0, 1)
const byHand = alerts.map((one) => ({ ...one, resolution: 'manual' as const }))
const deploy = IMAGE.changes.filter(({ kind }) => kind === 'pipeline')
const acknowledged = status('investigating', createdAt + MINUTE, 'Ada')
const byAda = status('resolved', resolvedAt, 'Ada')

const silenced = { critical: { ms: 10 * MINUTE, until: startedAt + 30 * MINUTE, mutedMs: 20 * MINUTE } }
const back = status('open', createdAt + 10 * MINUTE, null)
const lapsed = { acknowledgedAt: createdAt + MINUTE, hasLapsed: true }
const merge = { at: resolvedAt, kind: 'merged', code: null, text: '', actor: 'Ada', ref: 'incident/x' }
const other = { ref: 'incident/x', title: 'pay: Down', number: 2, createdAt: startedAt }
const taken = status('investigating', createdAt + 4 * MINUTE, 'Ada')
const byOther = { acknowledgedAt: createdAt + MINUTE, acknowledgedBy: 'Ada' }
const pay = { uuid: 'pay', namespace: 'shop', name: 'pay' }
const ofPay = { ...IMAGE.alerts[0]!, uuid: 'p', serviceId: 'pay', severity: 'critical' as const }
const postgres = { kind: 'object' as const, ref: 'shop/postgres', score: 0.61 }
const before = { ref: 'alert/x', name: 'X', startsAt: startedAt - 40 * 24 * 60 * MINUTE }
const lately = { ...before, ref: 'alert/y', startsAt: startedAt - 60 * MINUTE }

const report: PostmortemFacts['events'][number] = {
  ...{ uuid: 'e', at: startedAt - 6 * MINUTE, object: 'Pod/cart-1', text: 'killed' },
  ...{ source: 'cluster', kind: 'firing', name: 'OOMKilled', alertId: 'of-another-incident' },
}
const long = { ...report, at: startedAt - 16 * MINUTE }
const own = { ...report, alertId: IMAGE.alerts[0]!.uuid }
const until = startedAt + 10 * MINUTE
const expired = { ...IMAGE.alerts[0]!, endsAt: until, lastSeenAt: until, resolution: 'expired' as const }
const firing = { ...expired, endsAt: null, resolution: null, severity: 'critical' as const }
const unheard = { ref: 'incident/silent', sender: 'Prometheus', from: until, to: until + 19 * MINUTE }
const bySilence = { at: startedAt, kind: 'silence', code: 'silenced', text: 'x', actor: 'Ben', ref: 'silence/x' }
const unsilenced = { ...bySilence, at: startedAt + 20 * MINUTE, code: 'unsilenced', actor: null }
const upgrade = {
  ref: 'silence/x',
  comment: 'Upgrade',
  createdBy: 'Ada',
  startsAt: startedAt - MINUTE,
  endsAt: startedAt + 90 * MINUTE,
}

const mergeIn = { ...merge, at: createdAt + MINUTE, ref: 'incident/declared' }
const declared = { ref: 'incident/declared', title: 'No orders', createdAt: startedAt }
const noData = {
  ...{ ...IMAGE.alerts[0]!, uuid: 'n', source: 'metrics' as const, name: 'Sensor lag', failure: 'monitoring' },
  ...{ startsAt: startedAt - MINUTE, endsAt: until, links: {} },
}

const failed = { ...noData, source: 'ci' as const, name: 'PipelineFailed', summary: '#61 on main', occurrences: 1 }

const late = { ...noData, failure: null, endsAt: resolvedAt + 10 * MINUTE, resolution: 'reported' as const }
const endedLater = { ...expired, endsAt: until + 10 * MINUTE, resolution: 'reported' as const }
const assumed = { ...ended(null), at: until, code: 'inferred' }
const over = { ...status('monitoring', until + 2 * MINUTE, null), text: 'the problem is over' }
const reopened = { ...byAda, kind: 'reopened', code: 'investigating', at: resolvedAt + MINUTE, actor: 'Ben' }
const vainAt = startedAt + 12 * MINUTE
const vain = { ...IMAGE.changes[0]!, outcome: 'deployed' as const, startsAt: vainAt, endsAt: vainAt + MINUTE }
const fixing = {
  ...vain,
  ref: 'shop/cart-api#4712',
  eventId: 'f',
  startsAt: vainAt + 8 * MINUTE,
  endsAt: vainAt + 9 * MINUTE,
}
const cordon = { ...report, name: 'NodeNotSchedulable', object: 'Node/worker-3', at: startedAt - 6 * MINUTE }
const early = { ...IMAGE.changes[0]!, ...{ startsAt: startedAt - 10 * MINUTE, endsAt: startedAt - 9 * MINUTE } }
const leader = { ref: 'incident/led', title: 'Down', createdAt, startedAt, service: pay }
const milder = {
  ...{
    at: startedAt + 10 * MINUTE,
    kind: 'alert',
    code: null,
    text: 'X',
    actor: null,
    ref: `alert/${alerts[0]?.uuid}`,
  },
  facts: { code: 'severity', from: 'critical', to: 'warning' },
} as const
const unseen = { ...critical(25), acknowledgedAt: null }

/** Returns the text with a suspected change that began some minutes after the first symptom. */
function changedAt(minutes: number): string {
  const [known] = IMAGE.suspects
  const startsAt = startedAt + minutes * MINUTE
  const change = { ...known!.change!, startsAt, endsAt: startsAt + MINUTE }
  return textOf({ alerts, changes: [change], suspects: [{ ...known!, change }] })
}

/** [the sentence, a record that justifies it, a record that does not] */
const KINDS: readonly (readonly [string, RegExp, string, string])[] = [
  ['critical', /shop\/cart was critical from .* \(10 min\)/, textOf({}, critical(10)), textOf({}, MANUAL)],
  [
    'silenced',
    /was critical for 10 min in total between .*, plus 20 min silenced \(30 min in all\).*\n/,
    textOf({}, silenced),
    textOf({}, critical(10)),
  ],
  [
    'a silenced problem that goes on',
    /had been critical .*, plus 20 min silenced \(30 min in all\) when the incident was resolved/,
    textOf({}, { critical: { ...silenced.critical, until: null } }),
    textOf({}, { critical: { ms: 10 * MINUTE, until: null } }),
  ],
  [
    'detected when a silence ended',
    /\*\*Detected after:\*\* 2 min, after a silence ended/,
    textOf({ entries: [{ ...unsilenced, at: createdAt }] }),
    textOf({ entries: [{ ...bySilence, at: createdAt }] }),
  ],
  [
    'declared until it was merged',
    /as declared by a user.*\n(?:.*\n)*.*The incident lasted from .* \(30 min 1 s\), when it was merged into another incident/,
    textOf({ entries: [byAda, merge] }, MANUAL),
    textOf({ entries: [byAda] }, MANUAL),
  ],
  [
    'declared before the evidence',
    /\*\*Detected after:\*\* not known/,
    textOf({ alerts, entries: [mergeIn], merged: [declared] }),
    textOf({ alerts, entries: [mergeIn], merged: [{ ...declared, createdAt: startedAt + 1000 }] }),
  ],
  [
    'a change after the problem',
    /Pipeline shop\/cart-api#4711 began after the problem and cannot have caused it \(/,
    changedAt(3),
    changedAt(-3),
  ],
  [
    'a failure of the monitoring is no symptom',
    /The first symptom was ImagePullBackOff/,
    textOf({ alerts: [noData, ...alerts] }),
    textOf({ alerts: [{ ...noData, failure: null }, ...alerts] }),
  ],
  [
    'the pipeline of an alert',
    /PipelineFailed: #61 on main \|/,
    textOf({ alerts: [failed] }),
    textOf({ alerts: [{ ...failed, occurrences: 3 }] }),
  ],
  [
    'a sender that can report ends',
    /send_resolved: true/,
    textOf({ alerts: [{ ...noData, resolution: 'inferred' }] }),
    textOf({ alerts: [{ ...noData, resolution: 'inferred', isDirect: true }] }),
  ],
  [
    'a sender that reported nothing, because it was silent',
    /send_resolved: true/,
    textOf({ alerts: [{ ...noData, resolution: 'inferred' }] }),
    textOf({ alerts: [{ ...noData, resolution: 'inferred', unheard }] }),
  ],
  [
    'silenced by a person',
    /plus 20 min silenced by Ben\b/,
    textOf({ entries: [bySilence] }, silenced),
    textOf({ entries: [{ ...bySilence, actor: null }] }, silenced),
  ],
  [
    'silenced by whom the silence names, whatever the sentence in the timeline says',
    /Ada set the silence “Upgrade” from 2026-03-14 02:10:09 UTC; it no longer applied at 2026-03-14 02:31:09 UTC \(E2\)/,
    textOf({ entries: [bySilence, unsilenced], silences: [upgrade] }, silenced),
    textOf({ entries: [bySilence, unsilenced], silences: [{ ...upgrade, ref: 'silence/y' }] }, silenced),
  ],
  [
    'a silence that goes on while another one ends',
    /Ben set a silence from 2026-03-14 02:11:09 UTC \(E2\)/,
    textOf({ entries: [bySilence, { ...unsilenced, ref: 'silence/y' }] }, silenced),
    textOf({ entries: [bySilence, unsilenced] }, silenced),
  ],
  [
    'a silence that still applies, with the end that it has',
    /ada set the silence “Upgrade” from 2026-03-14 02:10:09 UTC until 2026-03-14 03:41:09 UTC \(E2\)/,
    textOf({ entries: [bySilence], silences: [{ ...upgrade, createdBy: 'ada' }] }, silenced),
    textOf({ entries: [bySilence], silences: [] }, silenced),
  ],
  [
    'a silence that a person removed',
    /Ada set the silence “Upgrade” from 2026-03-14 02:10:09 UTC; Ben removed it at 2026-03-14 02:31:09 UTC \(E2\)/,
    textOf({ entries: [bySilence, { ...unsilenced, actor: 'Ben' }], silences: [upgrade] }, silenced),
    textOf({ entries: [bySilence, unsilenced], silences: [upgrade] }, silenced),
  ],
  [
    'a silence without a record',
    /A user set a silence; it no longer applied at 2026-03-14 02:31:09 UTC \(E1\)/,
    textOf({ entries: [bySilence, unsilenced].map((one) => ({ ...one, ref: null })) }, silenced),
    textOf({ entries: [{ ...bySilence, ref: null }] }, silenced),
  ],
  [
    'a silence that had ended before incmon noticed',
    /Ada set the silence “Upgrade” from 2026-03-14 02:10:09 UTC; it ended at 2026-03-14 02:30:09 UTC \(E2\)/,
    textOf({ entries: [bySilence, unsilenced], silences: [{ ...upgrade, endsAt: startedAt + 19 * MINUTE }] }, silenced),
    textOf({ entries: [bySilence, unsilenced], silences: [upgrade] }, silenced),
  ],
  [
    'lowered by a user while its alerts were critical',
    /\*\*Critical for:\*\* 30 min by its alerts; the severity of the incident was critical for 5 min of that time/,
    textOf({}, { ...critical(30), severity: 'warning', severe: { severity: 'critical', ms: 5 * MINUTE } }),
    textOf({}, { ...critical(30), severe: { severity: 'critical', ms: 30 * MINUTE } }),
  ],
  [
    'declared after its first alert',
    /The incident lasted from 2026-03-14 02:15:09 to 02:41:09 UTC \(26 min\)/,
    textOf({}, { ...MANUAL, resolvedAt: startedAt + 30 * MINUTE, lastedMs: 26 * MINUTE }),
    textOf(
      { entries: [{ ...back, kind: 'reopened' }] },
      { ...MANUAL, resolvedAt: startedAt + 30 * MINUTE, lastedMs: 26 * MINUTE },
    ),
  ],
  [
    'only the last report is known',
    /was critical for at least 10 min, from 2026-03-14 02:11:09 until at least 02:21:09 UTC, when it was last reported/,
    textOf({ alerts: [expired] }, critical(10)),
    textOf({ alerts: [{ ...expired, resolution: 'reported' }] }, critical(10)),
  ],
  [
    'critical until the last report',
    /\*\*Critical for:\*\* at least 10 min, last reported at 2026-03-14 02:21:09 UTC/,
    textOf({ alerts: [{ ...expired, resolution: 'inferred' }] }, critical(10)),
    textOf({ alerts: [{ ...expired, endsAt: until - MINUTE }] }, critical(10)),
  ],
  [
    'a length that nobody knows',
    /\*\*Critical for:\*\* an unknown time: last reported at 2026-03-14 02:11:09 UTC, and no end was reported/,
    textOf({ alerts: [{ ...expired, endsAt: startedAt }] }, { critical: { ms: 0, until: startedAt } }),
    textOf(
      { alerts: [{ ...expired, endsAt: startedAt, resolution: 'reported' }] },
      { critical: { ms: 0, until: startedAt } },
    ),
  ],
  [
    'an end that nobody reported',
    /- ImagePullBackOff was last reported at 2026-03-14 02:21:09 UTC; no end was reported/,
    textOf({ alerts: [{ ...expired, resolution: 'inferred' }] }),
    textOf({ alerts: [{ ...expired, resolution: 'reported' }] }),
  ],
  [
    'a silent sender of what was still firing',
    /at least 10 min, .*(?:\n.*)*\. The sender Prometheus sent no heartbeat from 2026-03-14 02:21:09 to 02:40:09 UTC/,
    textOf({ alerts: [{ ...firing, unheard }] }, critical(30, null)),
    textOf({ alerts: [firing] }, critical(30, null)),
  ],
  [
    'a problem that was still critical',
    /until it was resolved; it was still critical then/,
    textOf({ alerts: [{ ...firing, lastSeenAt: resolvedAt }] }, critical(30, null)),
    textOf({ alerts: [{ ...firing, unheard }] }, critical(30, null)),
  ],
  [
    'a condition that Kubernetes had not repeated for a while when a user resolved the incident',
    /at least 10 min, last reported at 2026-03-14 02:21:09 UTC \(E1, E2\)/,
    textOf({ alerts: [firing] }, critical(30, null)),
    textOf({ alerts: [{ ...firing, source: 'metrics' }] }, critical(30, null)),
  ],
  [
    'a sender that is silent until the end',
    /sent no heartbeat after 2026-03-14 02:21:09 UTC/,
    textOf({ alerts: [{ ...firing, unheard: { ...unheard, to: null } }] }, critical(30, null)),
    textOf({ alerts: [{ ...expired, resolution: 'reported' }] }, critical(10)),
  ],
  [
    'a part that is the whole',
    /\*\*Lasted:\*\* 30 min 1 s, as declared by a user with the severity warning/,
    textOf({}, { ...MANUAL, severe: { severity: 'warning', ms: resolvedAt - startedAt - 200 } }),
    textOf({}, { ...MANUAL, severe: { severity: 'warning', ms: resolvedAt - startedAt - 2000 } }),
  ],
  [
    'what has no end',
    /- OOMKilled last happened at 2026-03-14 02:21:09 UTC \(E/,
    textOf({ alerts: [{ ...expired, name: 'OOMKilled', source: 'cluster' }] }),
    textOf({ alerts: [{ ...expired, name: 'OOMKilled', source: 'cluster', resolution: 'manual' }] }),
  ],
  [
    'detected after an earlier report',
    /\*\*Detected after:\*\* 2 min; OOMKilled was reported 6 min before the start of this incident/,
    textOf({ alerts, events: [report] }),
    textOf({ alerts, events: [long] }),
  ],
  [
    'out of memory before',
    /Raise the limit .* OOMKilled was reported before the first alert of the incident/,
    textOf({ alerts, events: [report] }),
    textOf({ alerts, events: [{ ...report, name: 'BackOff' }] }),
  ],
  [
    'no first symptom if there was an earlier report',
    /before the first alert of this incident\. (?!.*first symptom)/,
    textOf({ ...IMAGE, events: [report] }),
    textOf({ ...IMAGE, events: [own] }),
  ],
  ['no alert', /No alert was recorded for this incident/, textOf({}), textOf({ alerts })],
  ['came back', /The problem came back once \(E1\)/, textOf({ entries: [back] }), textOf({ entries: [byAda] })],
  [
    'a lapsed acknowledgement',
    /Ada acknowledged the incident at .*\n- This acknowledgement lapsed when the problem came back at 2026-/,
    textOf({ entries: [acknowledged, back] }, lapsed),
    textOf({ entries: [acknowledged] }, lapsed),
  ],
  [
    'merged into another',
    /- Ada merged the incident into another incident at/,
    textOf({ entries: [byAda, merge] }),
    textOf({ entries: [byAda] }),
  ],
  ['resolved', /- Ada resolved the incident at/, textOf({ entries: [byAda] }), textOf({ entries: [byAda, merge] })],
  [
    'critical in one of two services',
    /At least one of shop\/cart and shop\/pay was critical from/,
    textOf({ services: [pay], alerts: [ofPay] }, critical(10)),
    textOf({ services: [pay], alerts: [{ ...ofPay, severity: 'warning' }] }, critical(10)),
  ],
  [
    'what a user declared in a merged incident',
    /shop\/cart was critical, or “Customers pay twice” of pay went on, from/,
    textOf({}, { ...critical(10), declared: ['“Customers pay twice” of pay'] }),
    textOf({}, { ...critical(10), declared: [] }),
  ],
  [
    'a component',
    /The top suspect is the workload shop\/postgres \(score 0.61, likely\)/,
    textOf({ component: postgres }),
    textOf({ component: null }),
  ],
  [
    'seen lately and not earlier',
    /occurred once in the previous 30 days and not once in the 60 days before/,
    textOf({ earlier: [lately], recordedSince: 0 }),
    textOf({ earlier: [lately] }),
  ],
  [
    'several alerts of one incident as one occurrence',
    /occurred once in the previous 30 days \(E2\)\. Previous occurrence: X, 2026-03-14 01:11:09 UTC \(incident 7\) \(E2\)/,
    textOf({ earlier: [{ ...lately, ref: 'alert/z' }, lately].map((one) => ({ ...one, incident: 7 })) }),
    textOf({ earlier: [{ ...lately, ref: 'alert/z' }, lately] }),
  ],
  [
    'alerts of the services during the incident that belong to no incident',
    /Also reported about these services, but not part of this incident: OOMKilled \(E\d+\)\./,
    textOf({ alerts, events: [{ ...report, at: startedAt + MINUTE }] }, critical(10)),
    textOf({ alerts, events: [{ ...report, at: startedAt + 11 * MINUTE }, own] }, critical(10)),
  ],
  [
    'an alert that became milder, which ended the problem',
    /- ImagePullBackOff changed from critical to warning at 2026-03-14 02:21:09 UTC \(E2\)\./,
    textOf({ alerts, entries: [milder] }, critical(10)),
    textOf({ alerts, entries: [milder] }, critical(11)),
  ],
  [
    'how long its severity was the worst',
    /\(30 min 1 s\) \(E1\)\. Its severity was critical for 5 min of that time \(E1\)\./,
    textOf({}, { ...MANUAL, lastedMs: 30 * MINUTE + 1000, severe: { severity: 'critical', ms: 5 * MINUTE } }),
    textOf({}, { ...MANUAL, lastedMs: 30 * MINUTE + 1000, severe: { severity: 'critical', ms: 30 * MINUTE + 1000 } }),
  ],
  [
    'critical for a moment',
    /shop\/cart was critical at .* no later report said so/,
    textOf({}, critical(0)),
    textOf({}, critical(1)),
  ],
  [
    'declared critical',
    /\*\*Critical for:\*\* 30 min 1 s, as declared by a user \(/,
    textOf({}, MANUAL),
    textOf({}, { ...MANUAL, severity: 'warning' }),
  ],
  [
    'critical by its alerts and not as a user declared it',
    /\*\*Critical for:\*\* 10 min, by its alerts; without them, its severity is error \(/,
    textOf({ alerts: [ofPay] }, { ...MANUAL, severity: 'error', severe: { severity: 'critical', ms: 10 * MINUTE } }),
    textOf({}, { ...MANUAL, severity: 'error', severe: { severity: 'critical', ms: 10 * MINUTE } }),
  ],
  [
    'declared with another severity',
    /\*\*Lasted:\*\* 30 min 1 s, as declared by a user with the severity warning/,
    textOf({}, { ...MANUAL, severity: 'warning' }),
    textOf({}, MANUAL),
  ],
  [
    'declared, resolved and reopened',
    /The incident lasted 20 min in total between /,
    textOf({ entries: [{ ...back, kind: 'reopened' }] }, { ...MANUAL, lastedMs: 20 * MINUTE }),
    textOf({}, { ...MANUAL, lastedMs: 20 * MINUTE }),
  ],
  [
    'critical in total',
    /was critical for 10 min in total between 2026-03-14 02:11:09 and 02:31:09 UTC/,
    textOf({}, critical(10, startedAt + 20 * MINUTE)),
    textOf({}, critical(10)),
  ],
  [
    'still critical',
    /had been critical since .* when the incident was resolved/,
    textOf({}, { critical: { ms: resolvedAt - startedAt, until: null } }),
    textOf({}, critical(10)),
  ],
  ['lasted', /The incident lasted from .* \(30 min 1 s\)/, textOf({}, NEVER), textOf({}, critical(10))],
  ['fired', /Disk fired from/, textOf({}, { ...critical(10), about: 'Disk' }), textOf({}, critical(10))],
  [
    'acknowledged',
    /Ada acknowledged the incident at 2026-03-14 02:14:09 UTC/,
    textOf({ entries: [acknowledged] }, { acknowledgedAt: createdAt + MINUTE }),
    textOf({ entries: [byAda] }, { acknowledgedAt: null }),
  ],
  [
    'acknowledged before it was merged',
    /Ada acknowledged “pay: Down” \(incident 2\) at 2026-03-14 02:14:09 UTC, before it was merged into this incident \(E1, E2\)/,
    textOf({ merged: [other], entries: [taken, { ...merge, at: taken.at }] }, byOther),
    textOf({ merged: [other], entries: [taken, { ...merge, at: taken.at + 1 }] }, byOther),
  ],
  [
    'the acknowledgement of a merged incident as such in its figure',
    /until somebody acknowledged it or an incident that was merged into it/,
    textOf({ merged: [other], entries: [taken, { ...merge, at: taken.at }] }, byOther),
    textOf({ merged: [other], entries: [acknowledged, { ...merge, at: taken.at }] }, byOther),
  ],
  [
    'not acknowledged',
    /Nobody acknowledged the incident before Ada resolved it/,
    textOf({ entries: [byAda] }, { acknowledgedAt: null }),
    textOf({ entries: [acknowledged, byAda] }, { acknowledgedAt: createdAt + MINUTE }),
  ],
  [
    'merged',
    /Nobody acknowledged the incident before Ada merged it/,
    textOf({ entries: [byAda, { ...byAda, kind: 'merged', code: null }] }, { acknowledgedAt: null }),
    textOf({ entries: [byAda] }, { acknowledgedAt: null }),
  ],
  ['first symptom', /before the first symptom/, textOf({ ...IMAGE }), textOf({ ...IMAGE, alerts: [] })],
  [
    'start of the incident',
    /before the start of the incident/,
    textOf({ ...IMAGE, alerts: [], correlations: [] }),
    textOf({ ...IMAGE }),
  ],
  [
    'resolved by a person',
    /; Ada resolved it manually/,
    textOf({ alerts: byHand, entries: [ended('Ada')] }),
    textOf({ alerts: byHand, entries: [ended(null)] }),
  ],
  [
    'no later deploy',
    /The deploy of \S+ failed, and no later deploy or rollout began before 2026-\S+ \S+ UTC/,
    textOf({ changes: deploy.slice(0, 1) }),
    textOf({ changes: deploy }),
  ],
  [
    'an end after the resolution',
    /ended at .*, as reported by Alertmanager, 10 min after the incident was resolved/,
    textOf({ alerts: [late], entries: [byAda] }),
    textOf({ alerts: [late], entries: [{ ...byAda, at: resolvedAt + 20 * MINUTE, actor: null }] }),
  ],
  [
    'the end of a condition',
    /- PipelineFailed ended at/,
    textOf({ alerts: [{ ...late, name: 'PipelineFailed' }] }),
    textOf({ alerts: [{ ...late, name: 'PipelineFailed', source: 'ci' }] }),
  ],
  [
    'an end that Kubernetes did not report',
    /- Ada resolved the incident at .*, while no end of ImagePullBackOff had been reported \(/,
    textOf({ alerts: [firing], entries: [byAda] }),
    textOf({ alerts: [{ ...firing, source: 'metrics' }], entries: [byAda] }),
  ],
  [
    'a symptom that is older than the problem',
    /The first symptom was ImagePullBackOff: .*”, which began at 2026-03-14 02:01:09 UTC, 10 min before the critical state began \(/,
    textOf({ alerts: [{ ...firing, startsAt: startedAt - 10 * MINUTE }] }),
    textOf({ alerts: [firing] }),
  ],
  [
    'no change at all',
    /\*\*Cause:\*\* no change was found that could be the cause.*\n(?:.*\n)*No change that could have caused the incident was found\. The 30 min before/,
    textOf({ alerts }),
    textOf({ alerts, changes: [early] }),
  ],
  [
    'a change that nothing connects',
    /\*\*Cause:\*\* no change stands out \(.*\n(?:.*\n)*No change stands out as the cause\. The .* were searched .* Changes before the incident: pipeline shop\/cart-api#4711 .* at 2026-03-14 02:01:09 UTC/,
    textOf({ alerts, changes: [early] }),
    textOf({ alerts, changes: [{ ...early, startsAt: startedAt + MINUTE, endsAt: startedAt + MINUTE }] }),
  ],
  [
    'a common cause that has no incident',
    /\*\*Cause:\*\* probably the registry a\.test, as in 1 other incident \(/,
    textOf({ alerts, group: { cause: 'the registry a.test', leader: null, others: [leader] } }),
    textOf({ alerts, group: { cause: 'the registry a.test', leader: leader.ref, others: [leader] } }),
  ],
  [
    'nobody was paged',
    /why nobody acknowledged/,
    textOf({ group: { cause: 'postgres', leader: null, others: [leader] } }, unseen),
    textOf({ group: { cause: 'postgres', leader: leader.ref, others: [leader] } }, unseen),
  ],
  [
    'nobody answered in time, even with a note',
    /why nobody acknowledged/,
    textOf({ entries: [{ ...merge, kind: 'note', at: createdAt + 16 * MINUTE }] }, unseen),
    textOf({ entries: [{ ...merge, kind: 'note', at: createdAt + 14 * MINUTE }] }, unseen),
  ],
  [
    'an end that was reported after it was assumed',
    /was critical for at least 10 min, .*(?:\n.*)*- ImagePullBackOff ended at /,
    textOf({ alerts: [endedLater], entries: [assumed] }, critical(10)),
    textOf({ alerts: [endedLater], entries: [{ ...assumed, code: 'reported' }] }, critical(10)),
  ],
  [
    'a problem that was over',
    /monitoring: the problem is over/,
    textOf({ entries: [over] }, critical(10)),
    textOf({ alerts: [expired], entries: [assumed, over] }, critical(10)),
  ],
  [
    'reopened by a person',
    /- Nobody acknowledged the incident before Ada resolved it; Ben reopened it and took it over at 2026-/,
    textOf({ entries: [byAda, reopened] }, { acknowledgedAt: null }),
    textOf({ entries: [byAda, { ...reopened, actor: null }] }, { acknowledgedAt: null }),
  ],
  [
    'a deploy that did not help at once',
    /- Also during the incident: pipeline .* The last alert ended 12 min after this deploy \(/,
    textOf({ alerts: [{ ...late, endsAt: startedAt + 25 * MINUTE }], changes: [vain, fixing] }),
    textOf({ alerts: [firing], changes: [vain] }),
  ],
  [
    'a deploy after the last end',
    /- After the last alert: pipeline .*(?:\n(?!.*Also during).*)*$/,
    textOf({ alerts: [{ ...late, endsAt: vain.startsAt - MINUTE }], changes: [vain] }),
    textOf({ alerts: [{ ...late, endsAt: vain.startsAt + MINUTE }], changes: [vain] }),
  ],
  [
    'an alert after a declaration',
    /The first alert of this incident was ImagePullBackOff(?:.*\n)*- First alert: ImagePullBackOff/,
    textOf({ alerts: [{ ...IMAGE.alerts[0]!, startsAt: createdAt + MINUTE }] }, { origin: 'manual' }),
    textOf({ alerts: [{ ...IMAGE.alerts[0]!, startsAt: createdAt - MINUTE }] }, { origin: 'manual' }),
  ],
  [
    'the pods of a StatefulSet in order',
    /Pods: 2 \(web-2 and web-10\)/,
    textOf({ alerts: [{ ...IMAGE.alerts[0]!, objects: ['Pod/web-10', 'Pod/web-2'], labels: {} }] }),
    textOf({ alerts: [{ ...IMAGE.alerts[0]!, objects: ['Pod/web-10x', 'Pod/web-2'], labels: {} }] }),
  ],
  [
    'a cordon',
    /, but a node was cordoned \(.*\n(?:.*\n)*.*incident was found \(E\d+\)\. Node\/worker-3 was cordoned at 2026-03-14 02:05:09 UTC/,
    textOf({ alerts, cordons: [cordon] }),
    textOf({ alerts, cordons: [{ ...cordon, name: 'NodeSchedulable' }] }),
  ],
  [
    'a warning that was ignored',
    /Decide who acts on this warning, .* \| The alerts of the incident include ImagePullBackOff \(/,
    textOf({ alerts: [{ ...firing, severity: 'warning', startsAt: startedAt - 20 * MINUTE }] }),
    textOf({ alerts: [{ ...firing, severity: 'warning' }] }),
  ],
  [
    'no alert about the memory',
    /Add an alert that fires before the memory limit is reached/,
    textOf({ alerts: [{ ...firing, failure: 'memory' }] }),
    textOf({ alerts: [{ ...firing, failure: 'memory', source: 'metrics' }] }),
  ],
  [
    'services on a node',
    /The incident includes alerts about shop\/pay \(/,
    textOf({ alerts, services: [pay] }, { service: { uuid: 'n', namespace: '', name: 'node/worker-3' } }),
    textOf({ alerts, services: [pay] }),
  ],
  [
    'a change of another service',
    /- E\d+: pipeline shop\/cart-api#4711 .*; `event\//,
    textOf({ alerts, suspects: IMAGE.suspects.slice(0, 1) }),
    textOf({ alerts }),
  ],
  [
    'an earlier incident that was merged into this one',
    /until the incident was opened; the first of the merged incidents counts/,
    textOf({ alerts, entries: [mergeIn], merged: [{ ...declared, createdAt: startedAt + 1000 }] }),
    textOf({ alerts }),
  ],
  [
    'probe',
    /Tune the probe/,
    textOf({ alerts: alerts.map((one) => ({ ...one, failure: 'probe' })) }),
    textOf({ alerts: ['probe', 'crash'].map((failure) => ({ ...alerts[0]!, uuid: failure, failure })) }),
  ],
]

for (const [name, sentence, right, wrong] of KINDS) {
  test(`the sentence “${name}” needs a record`, () => {
    assert.match(right, sentence)
    assert.doesNotMatch(wrong, sentence)
  })
}

test('asks why nobody acknowledged if that took over 15 minutes, or if the problem went on for so long', () => {
  const nobody = { acknowledgedAt: null }
  for (const [what, incident, isAsked] of [
    ['long and never acknowledged', { ...critical(25), ...nobody }, true],
    ['long and acknowledged late', { ...critical(25), acknowledgedAt: createdAt + 20 * MINUTE }, true],
    ['never over', { critical: { ms: 25 * MINUTE, until: null }, ...nobody }, true],
    ['over after 10 minutes', { ...critical(10), ...nobody }, false],
    ['acknowledged after it was over', { ...critical(10), acknowledgedAt: createdAt + 20 * MINUTE }, true],
    ['acknowledged at once', { ...critical(25), acknowledgedAt: createdAt + MINUTE }, false],
    ['silenced', { ...silenced, ...nobody }, false],
    ['declared', { ...MANUAL, ...nobody }, false],
  ] as const) {
    assert.equal(/why nobody acknowledged/.test(textOf({}, incident)), isAsked, what)
  }
})

test('a duration agrees with the times beside it', () => {
  const { startedAt: from } = IMAGE.incident
  const [startedLate, until] = [from + 900, from + 4 * MINUTE + 100]
  const text = textOf({}, { startedAt: startedLate, critical: { ms: until - startedLate, until } })
  assert.match(text, /from 2026-03-14 02:11:09 to 02:15:09 UTC \(4 min\)/)
  assert.match(text, /\*\*Critical for:\*\* 4 min/)
  const gap = textOf({}, { critical: { ms: 238_000, until: from + 4 * MINUTE } })
  assert.match(gap, /for 3 min 58 s in total between/)
})

/** Returns the summary with one suspect that began `seconds` before the first symptom. */
function summaryWith(seconds: number, reasons: readonly string[], more: Partial<PostmortemFacts> = {}): string {
  const [known] = IMAGE.suspects
  const startsAt = startedAt - seconds * 1000
  const change = { ...known!.change!, startsAt, endsAt: startsAt + MINUTE }
  const suspects = [{ ...known!, change, score: 0.49, reasons: reasons.map((code) => ({ code, text: code })) }]
  const text = textOf({ alerts: IMAGE.alerts, changes: [change], suspects, ...more })
  return text.slice(0, text.indexOf('## Impact'))
}

test('the summary names only a connected change that began before the problem', () => {
  const links = [{ ...IMAGE.correlations[0]!, verdict: 'confirmed' as const, verdictBy: 'Ada' }]
  const warned = IMAGE.alerts.map((one) => ({ ...one, startsAt: one.startsAt - 5 * MINUTE }))
  for (const [what, text, expected] of [
    [
      'connected and before',
      summaryWith(60, ['same_service']),
      /trigger is pipeline .* began 1 min before the first symptom/,
    ],
    [
      'at the same second',
      summaryWith(0, ['same_service']),
      /trigger is pipeline .* began together with the first symptom/,
    ],
    [
      'after a warning',
      summaryWith(60, ['same_service'], { alerts: warned }),
      /began 1 min before the start of the incident/,
    ],
    [
      'confirmed',
      summaryWith(-118, ['only_time'], { correlations: links }),
      /Ada confirmed .* as the cause\. Its deploy began 1 min 58 s after the first symptom/,
    ],
  ] as const) {
    assert.match(text, expected, what)
    assert.match(text, /\*\*Cause:\*\* pipeline shop\/cart-api#4711/, what)
  }
  for (const [what, text, expected] of [
    ['only time', summaryWith(60, ['only_time']), /No change stands out as the cause/],
    ['only time, after', summaryWith(-118, ['only_time']), /No change stands out as the cause/],
    ['connected, after', summaryWith(-118, ['same_service']), /No change stands out as the cause/],
  ] as const) {
    assert.match(text, expected, what)
    assert.match(text, /\*\*Cause:\*\* no change stands out/, what)
    assert.doesNotMatch(text, /trigger is/, what)
    const isNamed = /The only deploy or rollout before the incident: pipeline shop\/cart-api#4711 /.test(text)
    assert.equal(isNamed, what === 'only time', what)
  }
})

test('names every node and pod of every event', () => {
  const seen = alerts.map((one) => ({ ...one, nodes: ['worker-4', 'worker-5', 'worker-6'] }))
  assert.match(textOf({ alerts: seen }), /Nodes: 3 \(worker-4, worker-5 and worker-6\)/)
})

test('the postmortem of a node names the pods that ran on it', () => {
  const onNode = [
    { ref: 'alert/x', name: 'Unhealthy', startsAt: startedAt, service: 'shop/cart', objects: ['Pod/cart-1'] },
  ]
  const service = { ...IMAGE.incident.service, namespace: '', name: 'node/worker-7' }
  const text = textOf({ onNode }, { service })
  assert.match(text, /Pods: 1 \(cart-1\).*\n.*Services with alerts about pods on worker-7: shop\/cart/)
  assert.doesNotMatch(textOf({}, { service }), /Services with alerts about pods/)
})

test('conditions with the same lag share a clause', () => {
  const [one, two] = IMAGE.alerts.map((alert) => ({ ...alert, startsAt: startedAt }))
  const links = [one!, two!].map(({ uuid }) => ({ ...IMAGE.correlations[0]!, uuid: `l-${uuid}`, alertId: uuid }))
  const text = textOf({ ...IMAGE, alerts: [one!, two!], correlations: links })
  assert.match(text, /ImagePullBackOff and KubeDeploymentRolloutStuck began 2 min 38 s after the change started \(/)
})
