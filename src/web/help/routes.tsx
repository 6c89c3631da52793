/** /search and /keyboard: finds services, incidents, firing alerts and pages, and lists keyboard shortcuts. */

import { withRecovering } from '../../actions/firing.ts'
import { countedGroups } from '../../domain/health/counted-severity.ts'
import { serviceName } from '../../domain/text.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { listConditions } from '../../store/history/alert-search.ts'
import { findIncidentByNumber, listIncidents } from '../../store/incident/incidents.ts'
import { findNoted } from '../../store/incident/timeline-events.ts'
import { listHealth, listServices } from '../../store/service/services.ts'
import { type PageRoute, page, type Visit } from '../page.ts'
import { redirect, show } from '../visit/reply.ts'
import { KeyboardPage, SearchPage } from './page.tsx'

const MAX_SERVICES = 50
const MAX_ALERTS = 10
const LATEST = { page: 1, limit: 200 }
const PAGES = [
  ['Services', '/'],
  ['Incidents', '/incidents'],
  ['Alerts', '/alerts'],
  ['Sources', '/sources'],
  ['Reports', '/reports'],
  ['Settings', '/settings'],
  ['Tokens', '/settings/tokens'],
  ['Notifications', '/settings/notifications'],
  ['Silences', '/settings/silences'],
  ['Retention', '/settings/retention'],
  ['Keyboard', '/keyboard'],
] as const

export const helpRoutes: readonly PageRoute[] = [
  page('GET /keyboard', 'read', (visit) => show(visit, { title: 'Keyboard', content: <KeyboardPage /> })),
  page('GET /search', 'read', search),
]

/**
 * Redirects to the incident if the query is its number. With `list=1`, as the script asks while a user types, lists the
 * incident instead.
 */
async function search(visit: Visit): Promise<Reply> {
  const { own, now, query } = visit
  const q = query('q')
  const number = /^(?:incident\s*)?#?(\d{1,9})$/i.exec(q)?.[1]
  const numbered = number === undefined ? undefined : await own.read(findIncidentByNumber, Number(number))
  const isListed = query('list') === '1'
  if (numbered && !isListed) return redirect(visit, `/incidents/${numbered.number}`)
  const contains = (text: string) => q !== '' && text.toLowerCase().includes(q.toLowerCase())
  const isExact = (one: Parameters<typeof serviceName>[0]) => isSame(one.name, q) || isSame(serviceName(one), q)
  const all = await own.read(listServices, now, true)
  const services = all
    .filter(({ namespace, name }) => contains(`${namespace}/${name}`))
    .toSorted((a, b) => Number(isExact(b)) - Number(isExact(a)) || a.score - b.score)
  const listed = await own.run(withRecovering, services.slice(0, MAX_SERVICES))
  const latest = await own.read(listIncidents, {}, LATEST)
  const found = new Set(services.map(({ id }) => id))
  const noted = q === '' ? new Set() : await own.read(findNoted, latest.items, q)
  const others = latest.items.filter(({ id }) => id !== numbered?.id)
  const titled = others.filter(({ title, serviceId }) => contains(title) || found.has(serviceId))
  const incidents = [
    ...[...(numbered ? [numbered] : []), ...titled].map((one) => ({ ...one, isNoted: false })),
    ...others.filter((one) => noted.has(one.rowId) && !titled.includes(one)).map((one) => ({ ...one, isNoted: true })),
  ]
  const conditions = await own.read(listConditions, q, MAX_ALERTS)
  const health = conditions.length === 0 ? new Map() : await own.read(listHealth)
  const alerts = conditions.flatMap((one) => {
    const service = all.find(({ id }) => id === one.serviceId) ?? null
    return countedGroups([one], { id: one.serviceId, health: health.get(one.serviceId) ?? [] }).map((alert) => {
      return { ...alert, service: service && { namespace: service.namespace, name: service.name } }
    })
  })
  const shown = {
    ...{ services: listed, more: services.length - MAX_SERVICES, incidents, alerts },
    pages: PAGES.filter(([name]) => contains(name)),
  }
  const content = <SearchPage q={q} {...shown} />
  return show(visit, { title: q === '' ? 'Search' : `Search: ${q}`, content })
}

function isSame(text: string, other: string): boolean {
  return text.toLowerCase() === other.toLowerCase()
}
