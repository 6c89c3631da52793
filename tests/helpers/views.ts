/** The data of pages: one incident of a shop at 03:14, as the store would return it. */
import { type GroupedAlert, groupAlerts } from '../../src/domain/alert/groups.ts'
import { commandFor } from '../../src/domain/event/reason-command.ts'
import { headlineOf } from '../../src/domain/health/headline.ts'
import type { StripBin } from '../../src/domain/health/strip.ts'
import type { WhoWasTold } from '../../src/domain/notification/told.ts'
import { likelyCauseOf } from '../../src/domain/suspect/likely-cause.ts'
import type { LanePicture } from '../../src/web/drawing/lane-model.ts'
import type { LaneBar } from '../../src/web/drawing/lanes.ts'
import type { GroupView, IncidentView, SuspectView, TimelineView } from '../../src/web/incident/view.ts'
import type { OverviewView, ServiceRowView } from '../../src/web/overview/view.ts'

export const NOW = Date.parse('2026-11-19T03:14:22Z')
export const READER = { now: NOW, zone: 'UTC' }
/** Returns a time in that night: `at('03:02')`. */
export const at = (time: string) => Date.parse(`2026-11-19T${time}:00Z`)

function bar(id: string, lane: LaneBar['lane'], from: string, to: string | null, more: Partial<LaneBar>): LaneBar {
  const times = { startsAt: at(from), endsAt: to === null ? null : at(to) }
  const common = {
    id,
    lane,
    ...times,
    shape: 'bar',
    level: 'neutral',
    label: id,
    href: `/x/${id}`,
    events: [],
  } as const
  return { ...common, title: `${more.label ?? id} since ${from}`, ...more }
}

export const PICTURE: LanePicture = {
  ...{ span: { from: at('02:52'), to: NOW }, now: NOW, zone: 'UTC', moreHref: '/alerts', recoveredAt: null, fix: null },
  lanes: ['ci', 'rollouts', 'cluster', 'alerts'],
  bars: [
    bar('s', 'ci', '02:53', '02:57', { label: 'storefront!812' }),
    bar('p', 'ci', '02:59', '03:03', { level: 'change', label: '#4711 deployed' }),
    bar('r', 'rollouts', '03:00', '03:00', { level: 'change', label: '6f8d7b9c5', shape: 'diamond' }),
    bar('c', 'cluster', '03:02', null, {
      level: 'critical',
      label: 'CrashLoopBackOff',
      events: ['03:02', '03:03', '03:05', '03:09', '03:12'].map(at),
    }),
    bar('k', 'alerts', '03:03', null, { level: 'critical', label: 'KubePodCrashLooping ×6' }),
    bar('h', 'alerts', '03:05', null, { level: 'warning', label: 'HighErrorRate ×440' }),
  ],
  links: [
    { change: 'p', condition: 'c', score: 0.92, band: 'strong', verdict: null },
    { change: 'p', condition: 'k', score: 0.92, band: 'strong', verdict: null },
    { change: 'p', condition: 'h', score: 0.66, band: 'probable', verdict: null },
  ],
  score: [
    { at: at('01:00'), status: 'healthy', score: 100 },
    { at: at('03:02'), status: 'critical', score: 60 },
    { at: at('03:03'), status: 'critical', score: 20 },
    { at: at('03:05'), status: 'critical', score: 8 },
  ],
  ...{ firstAlertAt: at('03:02'), acknowledgedAt: null, resolvedAt: null },
  lead: { from: at('02:59'), to: at('03:02') },
}

export function suspect(more: Partial<SuspectView> = {}): SuspectView {
  return {
    ...{ kind: 'pipeline', ref: 'shop/checkout#4711', score: 0.92, verdict: null, outcome: 'deployed' },
    ...{
      startsAt: at('02:59'),
      builtTheImage: true,
      onlyTime: false,
      href: '/services/checkout',
      sha: '9b1c3d5e',
      isOwn: false,
      judgeable: true,
      verdictBy: null,
    },
    rollouts: [],
    external: { text: 'Open #4711 in GitLab', href: 'https://gitlab.example.com/shop/checkout/-/pipelines/4711' },
    support: [
      'the service uses the image shop/checkout:9b1c3d5e, which was built from this commit',
      'began 2 min after the change started',
      'a new ReplicaSet appeared before the problem',
    ],
    reasons: [
      { condition: '', text: 'the service uses the image shop/checkout:9b1c3d5e, which was built from this commit' },
      { condition: 'CrashLoopBackOff', text: 'began 3 min after the change started' },
      { condition: 'KubePodCrashLooping', text: 'began 4 min after the change started' },
    ],
    ...more,
  }
}

let made = 0
export function alert(more: Partial<GroupedAlert> = {}): GroupedAlert & { readonly href: string } {
  made += 1
  return {
    ...{
      id: `a${made}`,
      serviceId: 's',
      source: 'metrics',
      name: 'HighErrorRate',
      severity: 'warning',
      status: 'firing',
    },
    ...{ summary: 'More than 5 % of requests fail', labels: {}, startsAt: at('03:05'), endsAt: null, occurrences: 1 },
    ...{ href: `/alerts/a${made}`, ...more },
  }
}

export function groups(alerts: readonly (GroupedAlert & { readonly href: string })[]): GroupView[] {
  return groupAlerts(alerts).map((group) => ({
    ...group,
    counts: group.name === 'HighErrorRate' ? [0, 0, 0, 1, 2, 4, 6, 9, 9, 12] : [0, 0, 3, 4, 3, 2, 4, 3, 5, 4],
    hint: commandFor(group.name, { namespace: 'shop', pod: group.members[0]?.labels.name ?? null, node: null }),
    href: `/alerts?q=${encodeURIComponent(group.name)}`,
  }))
}

/** Returns a crash, its six alerts, and a storm of `count` similar alerts. */
export function stormAlerts(count = 440) {
  const storm = Array.from({ length: count }, (_, n) =>
    alert({ labels: { alertname: 'HighErrorRate', route: `/route/${n % 11}`, pod: `checkout-6f8d7b9c5-${n % 40}` } }),
  )
  const pods = Array.from({ length: 6 }, () =>
    alert({
      name: 'KubePodCrashLooping',
      severity: 'critical',
      summary: 'Pod is crash looping.',
      startsAt: at('03:03'),
    }),
  )
  const crash = alert({
    ...{ name: 'CrashLoopBackOff', severity: 'critical', source: 'cluster', occurrences: 38, startsAt: at('03:02') },
    ...{ summary: 'Back-off restarting failed container checkout.', labels: { name: 'checkout-6f8d7b9c5-x2kqp' } },
  })
  return [crash, ...pods, ...storm]
}

const NOBODY: WhoWasTold = { hasChannel: false, told: [], lastAt: null, waiting: [], notTold: [] }
const entry = (time: string, kind: string, text: string, more: Partial<TimelineView> = {}): TimelineView => ({
  ...{
    at: at(time),
    until: at(time),
    kind,
    code: null,
    text,
    actor: null,
    href: null,
    count: 1,
    ...{ source: null, ref: '', seen: 1 },
    ...more,
  },
})

export function incidentView(more: Partial<IncidentView> = {}): IncidentView {
  const suspects = [
    suspect(),
    suspect({ kind: 'rollout', ref: 'shop/checkout@6f8d7b9c5', score: 0.86, outcome: null, external: null }),
    suspect({ kind: 'object', ref: 'shop/checkout', score: 0.31, outcome: null, startsAt: null, judgeable: false }),
    suspect({ kind: 'node', ref: 'node/worker-7', score: 0.08, outcome: null, startsAt: null, judgeable: false }),
  ]
  return {
    ...{
      reader: READER,
      graph: null,
      workload: null,
      csrf: 'proof',
      typed: null,
      mutes: 3,
      hasChannel: false,
      muted: null,
      told: NOBODY,
      items: [],
      ...{ fix: null, previous: null, group: null },
      canWrite: true,
      newestFirst: true,
      turnHref: '?order=oldest',
      alertsHref: '/alerts',
    },
    incident: {
      ...{
        number: '41',
        href: '/incidents/41',
        mutedSince: null,
        ...{ isMerged: false, declared: [], isSilence: false },
        title: 'checkout: CrashLoopBackOff',
        severity: 'critical',
        status: 'open',
      },
      service: { namespace: 'shop', name: 'checkout', href: '/services/checkout' },
      ...{
        startedAt: at('03:02'),
        createdAt: at('03:03'),
        acknowledgedAt: null,
        acknowledgedBy: null,
        movedAt: at('03:03'),
        movedBy: null,
        resolvedAt: null,
        endedAt: null,
        isGuess: false,
        reportedAt: null,
        criticalMs: READER.now - at('03:02'),
        breaks: '',
        severeMs: READER.now - at('03:02'),
        mutedMs: 0,
        firingAlerts: 447,
      },
      opened: 'Opened automatically at 03:03 because a cluster event and an alert agree.',
      ...{ alertCount: 447, hasPostmortem: false },
    },
    cause: likelyCauseOf(suspects, at('03:02')),
    lastGoodDeploy: { text: '#4702 (c3f81e90)', href: '/services/checkout', at: Date.parse('2026-11-18T16:05:00Z') },
    picture: PICTURE,
    ranges: ['30 min', '2 h', '24 h'].map((text, n) => ({ text, href: `?range=${n}`, current: n === 0 })),
    ...{ suspects, allSuspects: false, overdue: null, groups: groups(stormAlerts()), affected: [] },
    timeline: [
      entry('02:58', 'pipeline', 'pipeline shop/checkout#4711 on main (9b1c3d5e): deployed', { until: at('03:02') }),
      entry('03:00', 'rollout', 'rollout shop/checkout@6f8d7b9c5: new pod template'),
      entry('03:02', 'alert', 'CrashLoopBackOff: Back-off restarting failed container', {
        count: 38,
        until: at('03:14'),
      }),
      entry('03:02', 'correlation', 'shop/checkout#4711 linked to CrashLoopBackOff: likely'),
      entry('03:03', 'opened', 'opened automatically: a cluster event and an alert agree'),
      entry('03:08', 'note', 'rolling back to #4702', { actor: 'Alex' }),
    ],
    ...more,
  }
}

const bins = (critical: readonly number[], degraded: readonly number[], unknown = 0): StripBin[] =>
  Array.from({ length: 72 }, (_, n) =>
    critical.includes(n)
      ? { status: 'critical', lost: 92 }
      : degraded.includes(n)
        ? { status: 'degraded', lost: 30 }
        : { status: n < unknown ? 'unknown' : 'healthy', lost: 0 },
  )

export function service(namespace: string, name: string, more: Partial<ServiceRowView> = {}): ServiceRowView {
  return {
    ...{ id: `${namespace}/${name}`, href: `/services/${name}`, namespace, name, status: 'healthy', score: 100 },
    shortHref: `/services?name=${namespace}/${name}`,
    strip: { bins: bins([], []), text: 'healthy for the whole period' },
    ...{ penalties: [], lastDeploy: null, ...more },
  }
}

const cost = (name: string, penalty: number) => ({
  ...{ name, penalty },
  severity: penalty === 40 ? ('critical' as const) : penalty === 25 ? ('error' as const) : ('warning' as const),
})

const SERVICES: readonly ServiceRowView[] = [
  service('shop', 'checkout', {
    ...{ status: 'critical', score: 8, strip: { bins: bins([71], [44, 45]), text: 'critical for 12 min' } },
    penalties: [cost('CrashLoopBackOff', 40), cost('KubePodCrashLooping', 40), cost('HighErrorRate', 12)],
    lastDeploy: { ref: 'shop/checkout#4711', outcome: 'deploy failed', at: at('02:59'), linked: true },
  }),
  service('shop', 'storefront', {
    ...{ status: 'degraded', score: 63, strip: { bins: bins([], [21, 22, 23, 71]), text: 'degraded for 70 min' } },
    penalties: [cost('HighErrorRate', 25), cost('SlowRequests', 12)],
    lastDeploy: { ref: 'shop/storefront#2289', outcome: 'deployed', at: NOW - 9 * 3_600_000, linked: false },
  }),
  service('shop', 'search', {
    ...{ status: 'degraded', score: 75, strip: { bins: bins([], [60, 61, 62, 63, 64, 65]), text: 'degraded for 4 h' } },
    penalties: [cost('KubeHpaMaxedOut', 25)],
  }),
  service('', 'node/worker-7', { strip: { bins: bins([66], [67]), text: 'critical for 9 min' } }),
  ...['fraud-check', 'gateway', 'payouts'].map((name) => service('payments', name)),
  ...['auth', 'ingress-nginx', 'postgres', 'rabbitmq'].map((name) => service('platform', name)),
  service('platform', 'mailer', { strip: { bins: bins([], [], 40), text: 'unknown for 13 h' } }),
  ...['cart', 'catalog', 'recommendations'].map((name) => service('shop', name)),
]

export function overviewView(more: Partial<OverviewView> = {}): OverviewView {
  const { incident, cause } = incidentView()
  const second = {
    ...incident,
    number: '40',
    title: 'node/worker-7: NodeNotReady',
    status: 'monitoring',
    href: '/incidents/40',
  } as const
  const recovery =
    'Was critical for 21 min until 01:52, healthy now. Resolves automatically unless the problem comes back.'
  const services = more.services ?? SERVICES
  const count = (status: ServiceRowView['status']) => services.filter((one) => one.status === status).length
  const counts = {
    critical: count('critical'),
    degraded: count('degraded'),
    recovering: count('recovering'),
    healthy: count('healthy'),
    unknown: count('unknown'),
  }
  const names = (status: string) => services.flatMap((one) => (one.status === status ? [one.name] : []))
  return {
    ...{
      reader: READER,
      csrf: 'proof',
      items: [],
      ...{ fix: null, previous: null, group: null },
      canWrite: true,
      canAdminister: false,
      hasExample: false,
      failing: [],
      calm: null,
      counts,
      status: 'all',
      q: '',
      view: 'list',
      changes: [],
    },
    hiddenIncidents: 0,
    newestCritical: null,
    headline: headlineOf({ counts, names, unresolved: 0 }),
    addressOf: ({ status = 'all', view = 'list' }) => `/?status=${status}&view=${view}`,
    incidents: [
      {
        ...{ incident, cause, firstAlertAt: at('03:02'), picture: { ...PICTURE, score: null }, recovery: null },
        ...{ told: NOBODY, overdue: null },
        facts: ['38 crashes in 6 pods', '447 alerts', 'shop/storefront fails too'].map((text) => ({ text, href: '#' })),
      },
      {
        incident: second,
        cause,
        firstAlertAt: null,
        picture: null,
        facts: [{ text: '23 alerts', href: '#' }],
        recovery,
        ...{ told: NOBODY, overdue: null },
      },
    ],
    services,
    ...more,
  }
}
