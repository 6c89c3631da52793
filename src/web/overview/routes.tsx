/** /: all services, the worst first, and the open incidents. */

import { listFiringAlerts, type ShownService, withRecovering } from '../../actions/firing.ts'
import { type LivePipeline, outcomeOf } from '../../domain/correlation/change.ts'
import { EXAMPLE_CLUSTER } from '../../domain/example/recorded.ts'
import { headlineOf, SERVICE_STATES, type ServiceState } from '../../domain/health/headline.ts'
import type { Penalty } from '../../domain/health/health.ts'
import { type StatusChange, sinceStart, stripOf, stripText } from '../../domain/health/strip.ts'
import { isDeploy } from '../../domain/incident/change-text.ts'
import { firingText } from '../../domain/incident/incident.ts'
import { countOf, serviceName } from '../../domain/text.ts'
import { DAY } from '../../domain/units.ts'
import { headerOf } from '../../http/middleware/header.ts'
import { notFound } from '../../http/middleware/problem.ts'
import { json, type Reply } from '../../http/middleware/reply.ts'
import type { countLinks } from '../../store/correlation/correlations.ts'
import { type IncidentRecord, listIncidents, type ResolvedEarly } from '../../store/incident/incidents.ts'
import { listServices, type ServiceRecord } from '../../store/service/services.ts'
import { listStatesOfServices } from '../../store/service/states.ts'
import { findDetails, findHasServices, findOverview } from '../../store/views.ts'
import { prefersJson } from '../errors/routes.tsx'
import { incidentLink, incidentPath } from '../incident/find.ts'
import { isolated, isolatedName } from '../kit/bidi.ts'
import { penaltyOf } from '../kit/penalty.ts'
import { type PageRoute, page, type Visit } from '../page.ts'
import { silencedOf } from '../silences/silenced.ts'
import { showWelcome } from '../sources/routes.tsx'
import { choiceOf, withQuery } from '../visit/choice.ts'
import { redirect, show } from '../visit/reply.ts'
import { newestCritical, openIncident, openIncidents } from './open-incidents.ts'
import { OverviewPage, rowsFor } from './page.tsx'
import { TvPage } from './tv.tsx'
import { type ChangeView, FILTERS, type Filter, type OverviewView, type ServiceRowView } from './view.ts'

/** With more services than this, the page shows the wall unless the query asks for the list. */
const MAX_LISTED = 40
const CHANGES_FOR = DAY / 2
const MAX_CHANGES = 8
/** The number of services whose row says what their resolved incident was about. */
const MAX_EARLY = 8
/** The number of critical services among which the newest is found. */
const MAX_CRITICAL = 200
const NO_STARTS: ReadonlyMap<string, number> = new Map()
const MAX_SILENCED = { page: 1, limit: 500 }

/** Links to the API for clients that request JSON from `/`. */
const INDEX = { name: 'incmon', docs: '/docs', openapi: '/openapi.json', health: '/healthz' }

const overview = page('GET /', 'read', showOverview, { shared: true, early: true })

export const overviewRoutes: readonly PageRoute[] = [
  page('GET /services', 'read', showNamed),
  {
    ...overview,
    handle: async (c, parts) =>
      prefersJson(headerOf(c, 'accept'))
        ? json({ ...INDEX, version: parts.server.web.version })
        : overview.handle(c, parts),
  },
]

/** Redirects to the service with a name such as `shop/cart`, or to the overview. */
async function showNamed(visit: Visit): Promise<Reply> {
  const name = visit.query('name')
  if (name === '') return redirect(visit, `/${new URL(visit.c.req.url).search}`)
  const services = await visit.own.read(listServices, visit.now, true)
  const service = services.find((one) => serviceName(one) === name)
  if (!service) throw notFound('service', 'the page Services')
  return redirect(visit, `/services/${service.id}`)
}

async function showOverview(visit: Visit): Promise<Reply> {
  const hasServices = await visit.own.read(findHasServices)
  if (!hasServices) return showWelcome(visit, null)
  const view = await overviewView(visit)
  const bare = visit.query('tv') === '1'
  const content = bare ? <TvPage view={view} /> : <OverviewPage view={view} />
  return show(visit, { title: overviewTitle(view), content, current: 'services', refreshes: true, bare })
}

/**
 * Returns the page title, for example `(1) checkout is critical`, where `(1)` is the number of unresolved incidents.
 */
function overviewTitle({ counts, services, headline }: OverviewView): string {
  const [worst] = services
  if (counts.critical === 1 && worst?.status === 'critical') return `(1) ${worst.name} is critical`
  return headline.title
}

async function overviewView(visit: Visit): Promise<OverviewView> {
  const { own, now, query } = visit
  const day = { from: now - DAY, to: now }
  const { services, health, pipelines, links, resolvedEarly, failing } = await own.read(findOverview, day)
  const withStatus = await own.run(withRecovering, services)
  const all = withStatus.toSorted(
    (a, b) => SERVICE_STATES.indexOf(a.status) - SERVICE_STATES.indexOf(b.status) || a.score - b.score,
  )
  const of = (state: ServiceState) => all.filter(({ status }) => status === state)
  const counts = {
    critical: of('critical').length,
    degraded: of('degraded').length,
    recovering: of('recovering').length,
    healthy: of('healthy').length,
    unknown: 0,
  }
  const shared = sharedNames(all)
  const names = (state: ServiceState) => of(state).map(({ name }) => isolatedName(name))
  const status = choiceOf(query('status'), FILTERS, 'all')
  const [q, namespace] = [query('q'), query('namespace')]
  const usual = all.length > MAX_LISTED ? 'wall' : 'list'
  const view = choiceOf(query('view'), ['list', 'wall'] as const, usual)
  const shown = all.filter((one) => (status === 'all' || one.status === status) && matches(one, q, namespace))
  const critical = query('tv') === '1' ? of('critical').slice(0, MAX_CRITICAL) : []
  const criticalIds = critical.map(({ id }) => id)
  const recent = await own.read(listStatesOfServices, criticalIds, day.from)
  const detailed = shown.slice(0, rowsFor(shown.length, view)).map(({ id }) => id)
  const { states, lastGoodDeploys } = await own.read(findDetails, detailed, day)
  const found = await openIncidents(visit, all, states, view === 'list')
  const { shown: incidents, total: unresolved, hidden: hiddenIncidents, ofServices } = found
  const deploys = pipelines.flatMap((pipeline) => deployOf(pipeline, links))
  const newestDeploys = new Map(deploys.toReversed().map((one) => [one.serviceId, one]))
  const muted = await own.run(listFiringAlerts, { silenced: true }, MAX_SILENCED)
  const early = new Map(await Promise.all(resolvedEarly.map((one, index) => earlyView(visit, one, index < MAX_EARLY))))
  const silenced = Map.groupBy(muted.items, ({ serviceId }) => serviceId)
  const calm = incidents.length === 0 && counts.critical + counts.degraded + counts.recovering === 0
  return {
    ...{ counts, status, q, view, incidents },
    hasExample: all.some(({ cluster }) => cluster === EXAMPLE_CLUSTER),
    headline: headlineOf({ counts, names, unresolved }),
    failing: failing.map(({ id, name, failingSince }) => {
      return { name: isolatedName(name), href: `/settings/notifications/${id}`, since: failingSince }
    }),
    hiddenIncidents,
    newestCritical: newestCritical(critical, recent),
    calm: calm ? await lastIncident(visit) : null,
    addressOf: (change) => address({ status, view, usual, q, namespace, ...change }),
    services: shown.map((service) => ({
      ...rowOf(service, now, { newestDeploys, lastGoodDeploys, states, health, ofServices }),
      shortHref: shortHref(service, shared),
      silenced: silencedOf(silenced.get(service.id) ?? [], new Map()),
      resolvedEarly: early.get(service.id) ?? null,
    })),
    changes: deploys.filter(({ at }) => now - at < CHANGES_FOR).slice(0, MAX_CHANGES),
  }
}

function address(to: { status: Filter; view: string; usual: string; q: string; namespace: string }): string {
  const { q, namespace } = to
  const status = to.status === 'all' ? '' : to.status
  return withQuery('/', { status, view: to.view === to.usual ? '' : to.view, q, namespace })
}

function matches({ namespace, name }: Pick<ServiceRecord, 'namespace' | 'name'>, q: string, only: string): boolean {
  return (only === '' || namespace === only) && `${namespace}/${name}`.toLowerCase().includes(q.toLowerCase())
}

/** Returns the names that services in several clusters share. */
function sharedNames(services: readonly ShownService[]): ReadonlySet<string> {
  const seen = new Set<string>()
  return new Set(services.map(serviceName).filter((name) => seen.size === seen.add(name).size))
}

/** Returns a short URL that redirects to the service: 500 UUIDs would add 7 kB to the compressed wall. */
function shortHref(service: ShownService, shared: ReadonlySet<string>): string {
  const name = serviceName(service)
  return shared.has(name)
    ? `/services/${service.id}`
    : `/services?name=${encodeURIComponent(name).replaceAll('%2F', '/')}`
}

/** Returns one row. Only the first services have a strip and penalties. */
function rowOf(
  service: ShownService,
  now: number,
  known: {
    readonly newestDeploys: ReadonlyMap<string, RecentDeploy>
    readonly lastGoodDeploys: ReadonlyMap<string, LivePipeline>
    readonly states: ReadonlyMap<string, readonly StatusChange[]>
    readonly health: ReadonlyMap<string, readonly Penalty[]>
    readonly ofServices: ReadonlyMap<string, readonly IncidentRecord[]>
  },
): Omit<ServiceRowView, 'shortHref'> {
  const { id, namespace, name, status, score } = service
  const states = (known.ofServices.get(id) ?? []).reduce(sinceStart, known.states.get(id) ?? [])
  const penalties = ((known.states.has(id) && known.health.get(id)) || []).map((one) => penaltyOf(one, NO_STARTS))
  const day = [now - DAY, now] as const
  const strip = known.states.has(id) ? { bins: stripOf(states, ...day), text: stripText(states, ...day) } : null
  const recent = known.newestDeploys.get(id)
  const good = known.lastGoodDeploys.get(id)
  const lastDeploy = recent ?? (good ? { ref: good.ref, at: good.startsAt, outcome: 'deployed', linked: false } : null)
  return { id, href: `/services/${id}`, namespace, name, status, score, strip, penalties, lastDeploy }
}

async function earlyView(visit: Visit, { incident, actor }: ResolvedEarly, isShown: boolean) {
  const { resolvedAt, createdAt, firingAlerts, serviceId } = incident
  const view: ServiceRowView['resolvedEarly'] = {
    ...incidentLink(incident),
    by: actor,
    at: resolvedAt ?? createdAt,
    firing: firingText(firingAlerts),
    brief: isShown ? await openIncident(visit, incident, null) : null,
  }
  return [serviceId, view] as const
}

type RecentDeploy = ChangeView & { readonly serviceId: string; readonly linked: boolean }

/** Returns a deploy with the number of its links; nothing for other pipelines. */
function deployOf(
  { ref, facts, startsAt: at, service }: LivePipeline,
  { counts, areAll }: ReturnType<typeof countLinks>,
): RecentDeploy[] {
  const outcome = outcomeOf(facts)
  if (!isDeploy({ outcome })) return []
  const branch = isolated(facts.branch)
  const detail = facts.sha === null ? branch : `${branch}, ${facts.sha.slice(0, 8)}`
  const links = counts.get(ref) ?? 0
  const followed =
    links === 0 ? 'linked to no alert' : `linked to ${areAll ? '' : 'at least '}${countOf(links, 'alert')}`
  const href = `/services/${service}`
  return [{ ref, outcome, detail, followed, href, at, serviceId: service, linked: links > 0 }]
}

async function lastIncident({ own }: Visit): Promise<OverviewView['calm']> {
  const page = { page: 1, limit: 1 }
  const { items } = await own.read(listIncidents, { status: 'resolved' }, page)
  const [last] = items
  if (!last || last.resolvedAt === null) return null
  const href = incidentPath(last)
  const atItsEnd = { serviceId: last.serviceId, to: last.resolvedAt }
  const { total } = await own.run(listFiringAlerts, atItsEnd, page)
  return {
    title: last.title,
    stillFiring: total,
    href,
    endedAt: last.resolvedAt,
    postmortem: last.hasPostmortem ? `${href}/postmortem` : null,
  }
}
