/** The API of Alertmanager, so that Prometheus, amtool, karma and Grafana can use incmon as an Alertmanager. */
import type { HttpBindings } from '@hono/node-server'
import { checkStore } from '../../actions/readiness.ts'
import { programVersion } from '../../assets.ts'
import { receiverNames, receiverTest, rootReceiver } from '../../domain/notification/audience.ts'
import type { ChannelSettings } from '../../domain/notification/channel.ts'
import type { Rule } from '../../domain/notification/rule.ts'
import { SEVERITIES, SEVERITY_WORDS, type Severity } from '../../domain/severity.ts'
import { formatMatchers } from '../../domain/silence/matcher.ts'
import { RESOLVE_TIMEOUT } from '../../intake/prometheus.ts'
import { findAlertsJson, type Wanted } from '../../store/alertmanager/alerts.ts'
import { findGroupsJson } from '../../store/alertmanager/groups.ts'
import { listRecipients } from '../../store/notification/channels.ts'
import { findOrganization } from '../../store/organizations.ts'
import { problem, required } from '../middleware/problem.ts'
import { json, type Reply, text } from '../middleware/reply.ts'
import type { HandlerParts } from '../route.ts'
import { flag, matchersIn, receiverIn } from './filters.ts'
import { postAlerts } from './post-alerts.ts'
import { type AlertmanagerRoute, type ApiCall, api, BASE, missingPath, removedVersion } from './route.ts'
import { deleteSilence, getSilence, getSilences, postSilences } from './silences.ts'

// GET /alerts and GET /alerts/groups: the firing alerts of Alertmanager and Grafana, one for each fingerprint.

async function getAlerts(call: ApiCall): Promise<Reply> {
  const wanted = wantedIn(call)
  if (!wanted) return json([])
  return jsonReply(call, await call.store.read(findAlertsJson, call.identity.organizationId, wanted))
}

/** Lists the groups by their labels. An alert with several receivers is in the groups of all of them. */
async function getAlertGroups(call: ApiCall): Promise<Reply> {
  const wanted = wantedIn(call)
  const groupBy = await groupByOf(call)
  if (!wanted) return json([])
  const groups = { ...wanted, groupBy, muted: flag(call.c, 'muted') }
  return jsonReply(call, await call.store.read(findGroupsJson, call.identity.organizationId, groups))
}

/** Reads the filters. Returns null if no receiver can match. @throws Refusal 400 */
function wantedIn({ c, deps }: ApiCall): Wanted | null {
  const matchers = matchersIn(c, 'filter')
  const receiver = receiverIn(c)
  if (receiver === 'none') return null
  const flags = { active: flag(c, 'active'), silenced: flag(c, 'silenced'), inhibited: flag(c, 'inhibited') }
  return { matchers, receiver, ...flags, now: deps.now(), resolveTimeout: RESOLVE_TIMEOUT }
}

/**
 * Returns megabytes as a reply. They are freed as soon as they are sent: the garbage collector would free them after the
 * next ones.
 */
function jsonReply({ c }: ApiCall, body: Uint8Array<ArrayBuffer>): Reply {
  const { outgoing }: Partial<HttpBindings> = c.env ?? {}
  outgoing?.once('close', () => body.buffer.transfer(0))
  return { status: 200, headers: { 'content-type': 'application/json' }, body }
}

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
  removedVersion,
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

// Presents the channels as Alertmanager's receivers, and their rules as its routes.

type Channel = { readonly name: string; readonly enabled: boolean; readonly settings: ChannelSettings }

/** Returns the labels by which the organization groups alerts. */
async function groupByOf({ store, identity }: ApiCall): Promise<readonly string[]> {
  const found = store.read(findOrganization, identity.organizationId)
  const { settings } = await required(found, 'organization', 'incmon org list')
  return settings['group-by']
}

/** Returns a configuration file of Alertmanager. JSON strings are valid YAML. */
function configOf(channels: readonly Channel[], groupBy: readonly string[]): string {
  const root = JSON.stringify(rootReceiver(channels))
  const routes = channels.filter(({ enabled }) => enabled).flatMap(routesOf)
  return [
    'global:',
    '  resolve_timeout: 5m',
    'route:',
    `  receiver: ${root}`,
    `  group_by: ${JSON.stringify(groupBy)}`,
    ...(routes.length > 0 ? ['  routes:', ...routes] : []),
    'receivers:',
    ...receiverNames(channels).map((name) => `- name: ${JSON.stringify(name)}`),
    '',
  ].join('\n')
}

function routesOf({ name, settings }: Channel): string[] {
  const rules: readonly Rule[] = settings.rules.length === 0 ? [{}] : settings.rules
  return rules.flatMap((rule) => {
    const matchers = matchersOf(rule)
    return [
      `  - receiver: ${JSON.stringify(name)}`,
      ...(matchers.length > 0 ? ['    matchers:', ...matchers.map((one) => `    - ${JSON.stringify(one)}`)] : []),
      '    continue: true',
    ]
  })
}

function matchersOf({ minSeverity, services, namespaces, matchers = [] }: Rule): string[] {
  return [
    ...(minSeverity === undefined ? [] : [matcher('severity', wordsFrom(minSeverity))]),
    ...(services === undefined ? [] : [matcher('service', services)]),
    ...(namespaces === undefined ? [] : [matcher('namespace', namespaces)]),
    ...(matchers.length === 0 ? [] : [formatMatchers(matchers).slice(1, -1)]),
  ]
}

function wordsFrom(least: Severity): readonly string[] {
  return SEVERITIES.slice(0, SEVERITIES.indexOf(least) + 1).flatMap((severity) => SEVERITY_WORDS[severity].split(' '))
}

function matcher(name: string, values: readonly string[]): string {
  const escaped = values.map((value) => value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return `${name}=~${JSON.stringify(escaped.join('|'))}`
}
