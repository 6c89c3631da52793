/** Groups of similar alerts in a postmortem: one name with ×N, and one record as evidence for the group. */
import { groupKey } from '../alert/groups.ts'
import type { AlertFact, IncidentFact, PostmortemFacts } from './facts.ts'
import { joinNames, ordered, timesOf } from './words.ts'

/** An alert with the record that represents its group: the alert that began first. */
export type GroupedFact = AlertFact & { readonly ref: string }

/** The facts of a postmortem. Its alerts are sorted by start. */
export type GroupedFacts = Omit<PostmortemFacts, 'alerts'> & { readonly alerts: readonly GroupedFact[] }

/** Returns the alerts sorted by start, each with the record of its group. */
export function groupFacts(alerts: readonly AlertFact[]): readonly GroupedFact[] {
  const inOrder = ordered(alerts, ({ startsAt, uuid }) => [startsAt, uuid])
  const refs = new Map<string, string>()
  return inOrder.map((alert) => {
    const key = groupKey(alert)
    const ref = refs.get(key) ?? `alert/${alert.uuid}`
    refs.set(key, ref)
    return { ...alert, ref }
  })
}

export function incidentRef({ uuid }: Pick<IncidentFact, 'uuid'>): string {
  return `incident/${uuid}`
}

/** Returns the records of the groups of these alerts, each once. */
export function alertRefs(alerts: readonly GroupedFact[]): readonly string[] {
  return [...new Set(alerts.map(({ ref }) => ref))]
}

/** Returns the names of the alerts, each with its number: `OOMKilled and HighErrorRate ×440`. */
export function namesOf(alerts: readonly GroupedFact[]): string {
  const byName = Map.groupBy(alerts, ({ name }) => name)
  return joinNames([...byName].map(([name, { length }]) => `${name}${timesOf(length)}`))
}

/** Returns the alerts that still fired when the document was written, except failed pipelines. */
export function stillFiring(alerts: readonly GroupedFact[]): readonly GroupedFact[] {
  return alerts.filter(({ endsAt, source }) => endsAt === null && source !== 'ci')
}
