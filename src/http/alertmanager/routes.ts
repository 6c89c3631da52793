/** The API of Alertmanager, so that Prometheus, amtool, karma and Grafana can use incmon as an Alertmanager. */
import { getAlertGroups, getAlerts } from './alerts.ts'
import { postAlerts } from './post-alerts.ts'
import { type AlertmanagerRoute, api, BASE, missingPath } from './route.ts'
import { deleteSilence, getSilence, getSilences, postSilences } from './silences.ts'
import { getHealthy, getMetrics, getReady, getReceivers, getStatus } from './status.ts'

export const alertmanagerRoutes: readonly AlertmanagerRoute[] = [
  ...api('/alerts', { GET: ['read', getAlerts], POST: ['ingest', postAlerts] }),
  ...api('/alerts/groups', { GET: ['read', getAlertGroups] }),
  ...api('/silences', { GET: ['read', getSilences], POST: ['write', postSilences] }),
  ...api('/silence/:id', { DELETE: ['write', deleteSilence], GET: ['read', getSilence] }),
  ...api('/status', { GET: ['read', getStatus] }),
  ...api('/receivers', { GET: ['read', getReceivers] }),
  { method: 'GET', path: `${BASE}/-/healthy`, handle: getHealthy },
  { method: 'GET', path: `${BASE}/-/ready`, handle: (_, parts) => getReady(parts) },
  { method: 'GET', path: `${BASE}/metrics`, handle: getMetrics },
  missingPath,
]
