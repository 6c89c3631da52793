/** Decides which graphs to fetch from Prometheus, and saves them. */
import {
  alertToDraw,
  expressionIn,
  type GraphFault,
  graphEnd,
  isFault,
  isGraphDue,
  MAX_AGE,
  type Query,
  queryOf,
  readGraph,
} from '../domain/graph/graph.ts'
import {
  type GraphCandidate,
  listGeneratingAlerts,
  listGraphCandidates,
  saveGraph,
  saveGraphFault,
} from '../store/incident/graphs.ts'
import { listOrganizations } from '../store/organizations.ts'
import type { Deps } from './deps.ts'

/** A request to Prometheus. `prometheusUrl` is the organization's setting. */
export type DueGraph = {
  readonly organizationId: number
  readonly prometheusUrl: string
  readonly query: Query
  readonly alertId: string
  readonly candidate: GraphCandidate
}

/** The maximum number of graphs to fetch at once. */
const MAX_DUE = 5

/** Returns the graphs to fetch now. Notes the incidents without an expression, which need no request. */
export function listDueGraphs(deps: Deps): readonly DueGraph[] {
  const now = deps.now()
  const organizations = listOrganizations(deps.db).filter(({ settings }) => settings['prometheus-url'] !== '')
  const due = organizations.flatMap(({ rowId, settings }) =>
    listGraphCandidates(deps.db, rowId, now - 2 * MAX_AGE)
      .filter((candidate) => isGraphDue(candidate, now))
      .map((candidate) => ({ organizationId: rowId, prometheusUrl: settings['prometheus-url'], candidate })),
  )
  return due.slice(0, MAX_DUE).flatMap((one) => withQuery(deps, one, now) ?? [])
}

function withQuery(deps: Deps, due: Omit<DueGraph, 'query' | 'alertId'>, now: number): DueGraph | null {
  const { candidate } = due
  const alert = alertToDraw(listGeneratingAlerts(deps.db, candidate.incidentId))
  const rule = alert && expressionIn(alert.generator)
  if (!alert || rule === null) {
    deps.db.transaction(() => saveGraph(deps.db, { incidentId: candidate.incidentId, alertId: null, at: now }, null))
    return null
  }
  const startsAt = Math.min(alert.startsAt, candidate.startedAt)
  return { ...due, alertId: alert.id, query: queryOf(rule, startsAt, graphEnd(candidate, now)) }
}

/** The text of a response, or why there is none. */
export type GraphAnswer = { readonly text: string } | { readonly failure: string }

/** Saves the response of Prometheus, and shows it on open pages. */
export function keepGraph(deps: Deps, due: DueGraph, answer: GraphAnswer): void {
  const { candidate, alertId, organizationId } = due
  const asked = { incidentId: candidate.incidentId, alertId, at: deps.now() }
  const read = 'text' in answer ? readGraph(due.query, parsed(answer.text)) : null
  deps.db.transaction(() => {
    if (read && !isFault(read)) saveGraph(deps.db, asked, read)
    else saveGraphFault(deps.db, asked, candidate.tries + 1, 'failure' in answer ? answer.failure : wordsOf(read))
  })
  deps.announce({ kind: 'incident', id: candidate.id, organizationId })
}

function wordsOf(fault: GraphFault | null): string {
  if (fault?.code === 'refused')
    return `Prometheus refused the query${fault.detail === null ? '' : `: ${fault.detail}`}`
  return 'the response is not from Prometheus; check the URL'
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
