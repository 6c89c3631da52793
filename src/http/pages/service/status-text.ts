/** Explains the status of a service in words. */
import { countOf } from '../../../domain/postmortem/words.ts'
import type { ServiceView } from './view.ts'

/** Returns `Degraded because 2 alerts fire`. */
export function statusText({ status, penalties, groups, silenced }: ServiceView): string {
  if (status === 'healthy') return 'Healthy'
  const critical = penalties.filter(({ severity, since }) => severity === 'critical' && since !== null).length
  const firing = groups.reduce((sum, group) => sum + group.firing, 0) - (silenced?.count ?? 0)
  const because = (count: number, noun: string, otherwise: string) =>
    `${status === 'critical' ? 'Critical' : 'Degraded'} because ${count > 0 ? `${countOf(count, noun)} ${count === 1 ? 'fires' : 'fire'}` : otherwise}`
  return status === 'critical'
    ? because(critical, 'critical condition', 'little of the score is left')
    : because(firing, 'alert', 'alerts that ended still lower the score')
}
