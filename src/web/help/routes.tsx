/** /search and /keyboard: finds services and incidents, and lists keyboard shortcuts. */

import type { Reply } from '../../http/middleware/reply.ts'
import { findIncidentByNumber, listIncidents } from '../../store/incident/incidents.ts'
import { listServices } from '../../store/service/services.ts'
import { type PageRoute, page, type Visit } from '../visit/page.ts'
import { redirect, show } from '../visit/reply.ts'
import { KeyboardPage, SearchPage } from './page.tsx'

const MAX_SERVICES = 50
const LATEST = { page: 1, limit: 200 }

export const helpRoutes: readonly PageRoute[] = [
  page('GET /keyboard', 'read', (visit) => show(visit, { title: 'Keyboard', content: <KeyboardPage /> })),
  page('GET /search', 'read', search),
]

/**
 * Redirects to the incident if the query is its number. Otherwise, lists matching services and the latest matching
 * incidents.
 */
async function search(visit: Visit): Promise<Reply> {
  const { store, visitor, now, query } = visit
  const q = query('q')
  const { organizationId } = visitor
  const number = /^#?(\d{1,9})$/.exec(q)?.[1]
  const numbered =
    number === undefined ? undefined : await store.read(findIncidentByNumber, organizationId, Number(number))
  if (numbered) return redirect(visit, `/incidents/${numbered.number}`)
  const contains = (text: string) => q !== '' && text.toLowerCase().includes(q.toLowerCase())
  const all = await store.read(listServices, organizationId, now, true)
  const services = all
    .filter(({ namespace, name }) => contains(`${namespace}/${name}`))
    .toSorted((a, b) => a.score - b.score)
  const latest = await store.read(listIncidents, organizationId, {}, LATEST)
  const incidents = latest.items.filter(({ title }) => contains(title))
  const found = { services: services.slice(0, MAX_SERVICES), more: services.length - MAX_SERVICES, incidents }
  const content = <SearchPage q={q} reader={visit.viewer} {...found} />
  return show(visit, { title: q === '' ? 'Search' : `Search: ${q}`, content })
}
