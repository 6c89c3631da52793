/** The API of Alertmanager, so that Prometheus, amtool, karma and Grafana can use incmon as an Alertmanager. */
import { postAlerts } from './post-alerts.ts'
import { type AlertmanagerRoute, api, missingPath } from './route.ts'

export const alertmanagerRoutes: readonly AlertmanagerRoute[] = [
  ...api('/alerts', { POST: ['ingest', postAlerts] }),
  missingPath,
]
