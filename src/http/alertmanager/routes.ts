/** The API of Alertmanager, so that Prometheus, amtool, karma and Grafana can use incmon as an Alertmanager. */
import { checkStore } from '../../actions/readiness.ts'
import { programVersion } from '../../assets.ts'
import { receiverNames, receiverTest } from '../../domain/notification/receivers.ts'
import { listRecipients } from '../../store/notification/channels.ts'
import { problem } from '../middleware/problem.ts'
import { json, type Reply, text } from '../middleware/reply.ts'
import type { HandlerParts } from '../route.ts'
import { getAlertGroups, getAlerts } from './alerts.ts'
import { receiverIn } from './filters.ts'
import { postAlerts } from './post-alerts.ts'
import { configOf, groupByOf } from './receivers.ts'
import { type AlertmanagerRoute, type ApiCall, api, BASE, missingPath } from './route.ts'
import { deleteSilence, getSilence, getSilences, postSilences } from './silences.ts'

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

/** The version of Alertmanager's API that incmon serves. Clients check it. */
const API_VERSION = '0.34.0'

async function getStatus(call: ApiCall): Promise<Reply> {
  const { deps, store, server, identity } = call
  const channels = await store.read(listRecipients, identity.organizationId)
  return json({
    cluster: { name: '', peers: [], status: 'disabled' },
    config: { original: configOf(channels, await groupByOf(call)) },
    uptime: new Date(deps.now() - server.elapsed()).toISOString(),
    versionInfo: versionInfo(),
  })
}

function versionInfo() {
  const revision = `incmon ${programVersion()}`
  return { version: API_VERSION, revision, branch: 'incmon', buildUser: '', buildDate: '', goVersion: '' }
}

async function getReceivers({ c, store, identity }: ApiCall): Promise<Reply> {
  const receiver = receiverIn(c)
  if (receiver === 'none') return json([])
  const isWanted = receiverTest(receiver)
  const channels = await store.read(listRecipients, identity.organizationId)
  return json(
    receiverNames(channels)
      .filter(isWanted)
      .map((name) => ({ name, labels: {} })),
  )
}

const PLAIN = 'text/plain; charset=utf-8'

function getHealthy(): Reply {
  return text('OK', PLAIN)
}

async function getReady({ store, server }: HandlerParts): Promise<Reply> {
  const checks = [...(await store.run(checkStore)), ...server.checks()]
  const failing = checks.flatMap(({ detail }) => detail ?? [])
  return failing.length === 0 ? text('OK', PLAIN) : problem(503, failing.join('; '))
}

/** karma reads the version. The metrics of incmon are at /metrics. */
function getMetrics(): Reply {
  const { version, revision, branch, goVersion } = versionInfo()
  const labels = Object.entries({ branch, goversion: goVersion, revision, version })
  const help = 'A metric with a constant value of 1, labeled by the version of the API.'
  const name = 'alertmanager_build_info'
  const sample = `${name}{${labels.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(',')}} 1`
  return text(`# HELP ${name} ${help}\n# TYPE ${name} gauge\n${sample}\n`, 'text/plain; version=0.0.4; charset=utf-8')
}
