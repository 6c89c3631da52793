/** /services/:id: one service and its history over a time span. */

import { withRecovering } from '../../actions/firing.ts'
import { mayFlap, type ShortGroup, withGaps } from '../../domain/alert/groups.ts'
import { type Change, outcomeOf, type RolloutChange } from '../../domain/correlation/change.ts'
import { IncmonError } from '../../domain/error.ts'
import { countedGroups } from '../../domain/health/counted-severity.ts'
import { type StatusChange, sinceStart, withCurrent } from '../../domain/health/strip.ts'
import { pipelineNumber } from '../../domain/incident/change-text.ts'
import type { Reader } from '../../domain/shown-time.ts'
import { likelihoodOfLink } from '../../domain/suspect/likely-cause.ts'
import { countOf } from '../../domain/text.ts'
import { DAY, HOUR } from '../../domain/units.ts'
import { assignAlias } from '../../engine/changes/services.ts'
import { notFound, required } from '../../http/middleware/problem.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { type CorrelationRecord, listCorrelations } from '../../store/correlation/correlations.ts'
import { findAlertGaps } from '../../store/history/alert-gaps.ts'
import { findServiceGroups } from '../../store/history/alert-groups.ts'
import { listIncidents } from '../../store/incident/incidents.ts'
import { listGaps } from '../../store/kubernetes.ts'
import { findService, type ServiceWithHealth } from '../../store/service/services.ts'
import { findServiceView } from '../../store/views.ts'
import { incidentSpan, OUTCOME_TEXTS, pictureOf } from '../drawing/picture.ts'
import type { Span } from '../drawing/scale.ts'
import { headOf, type IncidentBrief, incidentBrief, pipelineUrl } from '../incident/brief.ts'
import { deployView, groupViewOf } from '../incident/data.ts'
import { incidentLink } from '../incident/find.ts'
import { isolated } from '../kit/bidi.ts'
import { type PenaltyView, penaltyOf } from '../kit/penalty.ts'
import { unhealthySince } from '../overview/open-incidents.ts'
import { type PageRoute, page, type Visit } from '../page.ts'
import { mutedCount, silencedOfGroup, silenceEndsOfGroups } from '../silences/silenced.ts'
import { rangeLinks, rangeOf } from '../visit/choice.ts'
import { requireNamedService } from '../visit/named-service.ts'
import { redirect, show } from '../visit/reply.ts'
import { ServicePage, serviceTitle } from './page.tsx'
import type { ServiceChangeView, ServiceView } from './view.ts'

const LABEL = /^[^=]{1,253}=.{1,1000}$/s
const TAKEN = 'this label already belongs to another service; remove it there first'

const aliasRoutes: readonly PageRoute[] = [page('POST /services/alias', 'write', assignLabel)]

async function assignLabel(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const service = await requireNamedService(visit, form.text('service'))
  const value = form.text('label')
  if (!LABEL.test(value)) throw new IncmonError('invalid', 'Choose one of the labels that the page offers.')
  const alias = { kind: 'label', value } as const
  await own.change((ctx) => assignAlias(ctx, service.id, alias, TAKEN))
  return redirect(visit, `/services/${service.id}`, 'saved')
}

const RANGES = [
  ['1h', '1 h', HOUR],
  ['2h', '2 h', 2 * HOUR],
  ['6h', '6 h', 6 * HOUR],
  ['24h', '24 h', 24 * HOUR],
  ['7d', '7 d', 7 * 24 * HOUR],
] as const
const USUAL = RANGES[1]
/** The maximum number of links to read for a picture. */
const MANY = { page: 1, limit: 500 }
const EARLIER = { page: 1, limit: 8 }
const MAX_CHANGES = 12
const ALIASES = { 'ci-project': 'Project', image: 'Image', label: 'Label', workload: 'Workload' } as const

export const serviceRoutes: readonly PageRoute[] = [
  page('GET /services/:id', 'read', showService, { shared: true, early: requireService }),
  ...aliasRoutes,
]

/** @throws IncmonError `not-found` */
function requireService({ own, id, now }: Visit) {
  return required(own.read(findService, id, now), 'service', 'the page Services')
}

async function showService(visit: Visit): Promise<Reply> {
  const view = await serviceView(visit)
  const content = <ServicePage view={view} />
  return show(visit, { title: serviceTitle(view), content, current: 'services', refreshes: true })
}

async function serviceView(visit: Visit): Promise<ServiceView> {
  const { own, visitor, viewer: reader, now, query, id } = visit
  const range = rangeOf(RANGES, query('range'), USUAL)
  const span = { from: now - range[2], to: now }
  const found = await own.read(findServiceView, id, span)
  if (!found) throw notFound('service', 'the page Services')
  const { service, states, changes, lastGoodDeploy, aliases } = found
  const [shownService = service] = await own.run(withRecovering, [service])
  const facts = { ...(await alertsAndLinks(visit, id, span)), changes }
  const firing = countedGroups(facts.firing, service)
  const ends = await silenceEndsOfGroups(visit, facts.firing)
  const penalties = service.health.map((penalty) => penaltyOf(penalty, facts.starts))
  const resolved = await own.read(listIncidents, { serviceId: id, status: 'resolved' }, EARLIER)
  // An incident that was resolved early still has firing alerts.
  const incident = found.incident ?? resolved.items.find(({ firingAlerts }) => firingAlerts > 0)
  const open = incident ? await incidentBrief(visit, incident) : null
  // A storm has more links than fit on one page of results, so the incident's complete list is used.
  const links = open ? open.links : facts.links
  const earlier = resolved.items
    .filter(({ id }) => id !== incident?.id)
    .map((one) => headOf({ incident: one, service, timeline: [], ...incidentLink(one) }, reader))
  const zoom = query('zoom') === '0' ? null : zoomOf({ span, states, open, earlier, now, id })
  const shown = zoom?.part ?? span
  const muted = { service: service.name, namespace: service.namespace }
  return {
    href: `/services/${id}`,
    mutes: await mutedCount(visit, muted),
    ...{ namespace: service.namespace, name: service.name, cluster: service.cluster },
    status: shownService.status,
    score: service.score,
    incident: open,
    since: sinceOf(service, states ?? [], penalties),
    workload: visit.server.workloadNow(visitor.organizationId, service),
    gaps: await own.read(listGaps, service.cluster, span.from, span.to),
    picture: pictureOfService({ ...facts, links, span: shown, reader, service, open, earlier, states }),
    zoom,
    ranges: rangeLinks(RANGES, `/services/${id}`, range, USUAL),
    penalties,
    groups: firing.map((group) => groupViewOf(group, span, silencedOfGroup(group, ends))),
    silenced: silencedOfGroup({ silencedBy: facts.firing.flatMap(({ silencedBy }) => silencedBy) }, ends),
    alertsHref: `/alerts?service=${id}`,
    changes: changesOf(changes, links),
    lastGoodDeploy: lastGoodDeploy && deployView(lastGoodDeploy),
    earlier,
    aliases: aliases.map(({ kind, value }) => ({ kind: ALIASES[kind], value })),
  }
}

/** A link, or the best of `count` links to similar alerts. */
type ServiceLink = CorrelationRecord & { readonly count?: number; readonly group?: string }

type Facts = {
  /** The groups of the firing alerts, regardless of their start. */
  readonly firing: readonly ShortGroup[]
  /** The starts of the firing alerts by id and by name. */
  readonly starts: ReadonlyMap<string, number>
  /** The groups of the alerts that started within the span or are firing. */
  readonly groups: readonly ShortGroup[]
  readonly changes: readonly Change[]
  readonly links: readonly ServiceLink[]
}

/** Loads the groups of alerts and the links within a time span. */
async function alertsAndLinks({ own }: Visit, serviceId: string, span: Span): Promise<Omit<Facts, 'changes'>> {
  const found = await own.read(findServiceGroups, serviceId, span.from)
  const links = await own.read(listCorrelations, { serviceId, from: span.from }, MANY)
  const gaps = await own.read(findAlertGaps, mayFlap(found.groups))
  const [firing, groups] = [withGaps(found.firing, gaps), withGaps(found.groups, gaps)]
  return { ...found, firing, groups, links: links.items }
}

type ZoomParts = {
  readonly span: Span
  readonly states: readonly StatusChange[] | null
  readonly open: IncidentBrief | null
  readonly earlier: ServiceView['earlier']
  readonly now: number
  readonly id: string
}

/** In a long period, the picture shows the newest incident, because its alerts would be too short to be told apart. */
function zoomOf({ span, states, open, earlier, now, id }: ZoomParts): ServiceView['zoom'] {
  const head = open?.head ?? earlier[0]
  if (span.to - span.from <= DAY || !head || (head.resolvedAt ?? now) < span.from) return null
  const part = incidentSpan(head, open?.cause.suspect?.startsAt ?? null, now)
  const wholeHref = `/services/${id}?range=7d&zoom=0`
  return { whole: span, part, states: states ?? [], of: `incident ${head.number}`, wholeHref }
}

type PictureParts = Facts & {
  readonly reader: Reader
  readonly span: Span
  readonly service: ServiceWithHealth
  readonly open: IncidentBrief | null
  readonly earlier: ServiceView['earlier']
  readonly states: readonly StatusChange[] | null
}

function pictureOfService(parts: PictureParts): ServiceView['picture'] {
  const { groups, changes, links, span, reader, service, open, earlier } = parts
  const heads = open ? [...earlier, open.head] : earlier
  const states = parts.states && withCurrent(parts.states, service, reader.now)
  return pictureOf({
    ...{ ...reader, serviceId: service.id, span, changes, links, people: [] },
    groups: countedGroups(groups, service),
    score: states && heads.reduce(sinceStart, states),
    firstAlertAt: open?.firstAlertAt ?? null,
    acknowledgedAt: open?.head.acknowledgedAt ?? null,
    ...{ resolvedAt: null, recoveredAt: open?.head.endedAt ?? null, fix: null },
    suspectAt: open?.cause.suspect?.startsAt ?? null,
    moreHref: `/alerts?service=${service.id}`,
  })
}

/**
 * Returns when the service became unhealthy: when its problem began, as on the page of the incident, which is before the
 * first event. The condition may also have started before the first state in the span.
 */
function sinceOf(
  service: ServiceWithHealth,
  states: readonly StatusChange[],
  penalties: readonly PenaltyView[],
): number | null {
  const at = unhealthySince(service, states)
  if (at === null) return null
  const isOlder = at <= (states[0]?.at ?? at)
  const causes = penalties.filter((one) => isOlder || service.status !== 'critical' || one.severity === 'critical')
  return causes.reduce((first, { since }) => Math.min(first, since ?? first), at)
}

function changesOf(changes: readonly Change[], links: readonly ServiceLink[]): readonly ServiceChangeView[] {
  return changes.slice(0, MAX_CHANGES).map((change) => {
    const own = links.filter(({ change: { ref }, verdict }) => ref === change.ref && verdict !== 'rejected')
    const count = own.reduce((sum, { count = 1 }) => sum + count, 0)
    const [best] = own.toSorted((a, b) => b.score - a.score)
    const word = best ? `${likelihoodOfLink(best.score)} cause of ${countOf(count, 'alert')}` : ''
    const common = { kind: change.kind, linked: word, at: change.startsAt }
    if (change.kind === 'rollout')
      return { ...common, name: change.hash || 'replicas', href: null, ...rolloutText(change), changed: true }
    const [outcome, level] = OUTCOME_TEXTS[outcomeOf(change.facts)]
    const { branch, sha } = change.facts
    const detail = sha === null ? isolated(branch) : `${isolated(branch)}, ${sha.slice(0, 8)}`
    const [name, href] = [pipelineNumber(change.ref), pipelineUrl(change.facts)]
    return { ...common, name, href, word: outcome, detail, changed: level === 'change' }
  })
}

function rolloutText({ emptied, isRollback, template }: RolloutChange): { word: string; detail: string } {
  if (emptied !== undefined) return { word: emptied, detail: template ?? '' }
  if (isRollback) return { word: 'rolled back', detail: template ?? 'an earlier pod template' }
  return { word: 'rolled out', detail: template ?? 'new pod template' }
}
