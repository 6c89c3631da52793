/** The names of operations, from which generated clients make the names of their functions. */
import { capitalized } from '../../../domain/text.ts'
import type { Route } from '../../route.ts'

/** The operations that are neither a list nor a change of one record. */
const NAMES: Readonly<Record<string, string>> = {
  'POST /api/webhooks/cluster': 'sendKubernetesEvent',
  'POST /api/webhooks/metrics': 'sendAlertmanagerNotification',
  'POST /api/webhooks/dashboard': 'sendGrafanaNotification',
  'POST /api/webhooks/ci': 'sendGitlabEvent',
  'POST /api/services/:id/merge': 'mergeService',
  'GET /api/services/:id/history': 'getServiceHistory',
  'GET /api/services/:id/changes': 'getServiceChanges',
  'PATCH /api/alerts/:id': 'resolveAlert',
  'POST /api/incidents/:id/merge': 'mergeIncident',
  'POST /api/incidents/:id/acknowledge-group': 'acknowledgeIncidentGroup',
  'POST /api/incidents/:id/notes': 'addIncidentNote',
  'GET /api/incidents/:id/postmortem': 'getPostmortem',
  'PATCH /api/incidents/:id/postmortem': 'updatePostmortem',
  'GET /api/reports/reliability': 'getReliabilityReport',
  'DELETE /api/silences/:id': 'expireSilence',
  'POST /api/channels/:id/test': 'testChannel',
  'POST /api/channels/:id/rotate-secret': 'rotateChannelSecret',
  'GET /api/sources': 'listSenders',
  'GET /api/organization': 'getOrganization',
  'DELETE /api/tokens/:id': 'revokeToken',
  'GET /api/stream': 'streamChanges',
  'GET /healthz': 'getHealth',
  'GET /readyz': 'getReadiness',
  'GET /metrics': 'getMetrics',
  'GET /openapi.json': 'getOpenApi',
  'GET /docs': 'getDocs',
}
const VERBS = { GET: 'get', POST: 'create', PATCH: 'update', DELETE: 'delete' } as const

/** Returns the name of an operation, for example `listServices`, `getService` or `createIncidentAction`. */
export function operationIdOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const known = NAMES[`${method} ${path}`]
  if (known !== undefined) return known
  const nouns = path.split('/').slice(2)
  const isList = method === 'GET' && !nouns.at(-1)?.startsWith(':')
  const words = nouns.filter((noun) => !noun.startsWith(':')).map(capitalized)
  const named = words.map((word, index) => (isList && index === words.length - 1 ? word : word.replace(/s$/, '')))
  return (isList ? 'list' : VERBS[method]) + named.join('')
}
