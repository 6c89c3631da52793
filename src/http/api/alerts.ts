/** /api/alerts: list, show and resolve alerts. */
import * as v from 'valibot'
import { listFiringAlerts } from '../../actions/firing.ts'
import { rulesText } from '../../domain/alert/rules.ts'
import { SOURCES } from '../../domain/event/event.ts'
import { explainedByNodes } from '../../domain/health/node-trouble.ts'
import type { Page } from '../../domain/pagination.ts'
import { resolveAlert } from '../../engine/changes/alerts.ts'
import { type AlertRecord, listAlerts } from '../../store/alerts.ts'
import { listAlertsOfIncident, listMatchingAlerts } from '../../store/history/alert-search.ts'
import type { AlertOnNode } from '../../store/node-troubles.ts'
import { findAlertView } from '../../store/views.ts'
import { required } from '../middleware/problem.ts'
import {
  flagParameter,
  idParameter,
  pageParameters,
  severityParameter,
  sourceParameter,
  timeParameters,
  wordParameter,
} from '../middleware/query.ts'
import { json, type Reply } from '../middleware/reply.ts'
import { type Call, type Route, rest } from '../route.ts'
import * as shape from '../shapes.ts'
import { answerPage, success, successPage } from './answers.ts'
import { eventShape, showEvent } from './events.ts'

const STATUSES = ['firing', 'resolved'] as const
const RECENT_EVENTS = 50
/** The filters for which the database does not store the number of matching alerts. */
const MATCHES = ['status', 'severity', 'source', 'q', 'silenced'] as const
export const alertShape = shape.named('Alert', {
  id: shape.id,
  serviceId: shape.uuid('The affected service'),
  source: shape.choice(SOURCES, 'The sender that first reported the alert'),
  name: shape.text('The name from the sender, or the Kubernetes reason', 'CrashLoopBackOff'),
  severity: shape.severity,
  status: shape.choice(STATUSES, 'Whether the alert is still firing'),
  resolution: shape.nullable(
    v.picklist(['reported', 'inferred', 'expired', 'manual']),
    'How the alert ended: reported by the sender, inferred from missing notifications or a success, expired without further events, or resolved manually; null while the alert is firing',
    null,
  ),
  summary: shape.text('The summary, in one line', 'Back-off restarting failed container checkout'),
  labels: shape.texts('The labels, as received from the sender', { namespace: 'shop', severity: 'critical' }),
  annotations: shape.texts('The annotations, as received from the sender', {}),
  fingerprint: shape.text('The fingerprint from the sender, or computed from the labels', '7c1e0f5a9b3d2468'),
  startsAt: shape.instant('When the alert began'),
  endsAt: shape.nullable(shape.instant(), 'When the alert ended; null while it is firing', null),
  lastSeenAt: shape.instant('When the alert was last reported'),
  occurrences: shape.count('How often the alert was reported', 6),
  incidentId: shape.nullable(shape.uuid(), 'The incident that the alert belongs to'),
  links: shape.texts("Links to the sender's pages and to the runbook, by purpose", {}),
  silencedBy: shape.list(
    shape.uuid(),
    'The silences that apply to the alert, or that applied when the alert ended',
    [],
  ),
})
export const showAlert = shape.shower(alertShape)

/** An alert with the rules behind it and its newest events. */
export const alertWithEventsShape = shape.named('AlertWithEvents', {
  ...alertShape.entries,
  rules: shape.object(
    {
      service: shape.text('The rule that selected the service', 'pod name'),
      severity: shape.text('The rule that selected the severity', 'label severity'),
      identity: shape.text('The rule that decided whether this is a new alert', 'the sender’s fingerprint'),
    },
    'The rule behind each decision',
  ),
  suspectedCause: shape.nullable(
    v.object({
      kind: shape.described(v.literal('node'), 'The kind of the cause'),
      ref: shape.text('A reference to the cause', 'node/worker-2'),
      serviceId: shape.nullable(shape.uuid(), 'The service of the node, or null'),
    }),
    'The failed node that explains the alert, or null',
    null,
  ),
  events: shape.list(eventShape, 'The newest 50 events'),
})

const filterParameters = {
  ...timeParameters,
  serviceId: idParameter('service'),
  incidentId: idParameter('incident'),
  status: shape.optional(wordParameter(STATUSES), 'Only firing alerts, or only resolved alerts'),
  severity: severityParameter,
  source: sourceParameter,
  silenced: shape.described(flagParameter, '1: only silenced alerts; 0: only alerts that are not silenced'),
  q: shape.optional(
    v.pipe(v.string(), v.maxLength(200, 'too long; at most 200 characters')),
    'Words that must all occur in the name or summary',
    'restarting container',
  ),
}

export const alertRoutes: readonly Route[] = [
  rest('GET /api/alerts', {
    summary: 'List alerts, most recently started first',
    scope: 'read',
    query: v.object({ ...pageParameters, ...filterParameters }),
    answers: successPage(alertShape, 'A page of alerts with startsAt in the half-open range [from, to)'),
    handle: (call) => {
      const { own, query } = call
      const { incidentId } = query
      const isSearch = MATCHES.some((name) => query[name] !== undefined)
      const list = (page: Page) => {
        if (incidentId !== undefined) return own.read(listAlertsOfIncident, { ...query, incidentId }, page)
        if (query.status === 'firing') return own.run(listFiringAlerts, query, page)
        return own.read(isSearch ? listMatchingAlerts : listAlerts, query, page)
      }
      return answerPage(call, list, showAlert)
    },
  }),
  rest('GET /api/alerts/:id', {
    summary: 'Show an alert with its newest events',
    scope: 'read',
    answers: success(alertWithEventsShape, 'The alert and its newest 50 events'),
    handle: answerAlert,
  }),
  rest('PATCH /api/alerts/:id', {
    summary: 'Resolve an alert manually',
    scope: 'write',
    body: v.object({ status: shape.described(wordParameter(['resolved']), 'The only allowed value') }),
    answers: success(alertWithEventsShape, 'The resolved alert'),
    handle: async (call) => {
      const { alert } = await requireAlert(call)
      if (alert.status === 'firing') await call.own.change((ctx, now, actor) => resolveAlert(ctx, alert.id, actor, now))
      return answerAlert(call)
    },
  }),
]

async function answerAlert(call: Call): Promise<Reply> {
  const { alert, events, onNode } = await requireAlert(call)
  return json({
    ...showAlert(alert),
    rules: rulesText(alert.rules),
    suspectedCause: suspectedCauseOf(onNode, alert, call.deps.now()),
    events: events.map(showEvent),
  })
}

function suspectedCauseOf(onNode: AlertOnNode | null, { id }: AlertRecord, now: number) {
  if (!onNode || !explainedByNodes([onNode.alert], onNode.troubles, { now }).has(id)) return null
  return { kind: 'node' as const, ref: `node/${onNode.alert.node}`, serviceId: onNode.nodeServiceId }
}

function requireAlert({ own, id }: Call) {
  const found = own.read(findAlertView, id, RECENT_EVENTS)
  return required(found, 'alert', 'GET /api/alerts')
}
