/**
 * Sentences of the documentation, by page, with the value from the code that stands at `…`. To add a claim, add a row.
 * `constantOf` reads a constant from a source file, so that the code need not export it.
 */
import { globSync, readFileSync } from 'node:fs'
import { document } from '../../src/app.ts'
import { judge } from '../../src/domain/alert/signal.ts'
import { BUDGETS } from '../../src/domain/budgets.ts'
import { FAILS_ON_NEW_NODE } from '../../src/domain/event/going-away.ts'
import { isRepeated } from '../../src/domain/event/reason.ts'
import { acknowledged } from '../../src/domain/incident/acknowledgement.ts'
import { INCIDENT_STATUSES, type IncidentStatus } from '../../src/domain/incident/incident.ts'
import { NO_PROBLEM } from '../../src/domain/incident/problem.ts'
import { DEFAULT_CHANNEL, recipientsOf } from '../../src/domain/notification/channel.ts'
import { type IncidentState, notificationKindOf } from '../../src/domain/notification/kind.ts'
import type { Rule } from '../../src/domain/notification/rule.ts'
import { beatsFor, heldUntil } from '../../src/domain/sender/beats.ts'
import { attributeCi, relationOf } from '../../src/domain/service/from-project.ts'
import { LAST_NAMES } from '../../src/domain/service/target.ts'
import { type Matcher, matchersFault } from '../../src/domain/silence/matcher.ts'
import { standingOf } from '../../src/domain/suspect/likely-cause.ts'
import { READERS } from '../../src/intake/index.ts'
import { build, pipeline } from '../helpers/senders.ts'
import { ROOT } from './pages.ts'

/** The words of the first number, from 1 on, for which a rule applies. */
const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth'] as const
const leastOf = (applies: (number: number) => boolean) => ORDINALS.find((_, index) => applies(index + 1)) ?? ''
/** Returns whether a silence with this matcher alone is accepted. */
const needs = (name: string, op: string, value: string) =>
  matchersFault([{ name, op: op as Matcher['op'], value }]) === null
/** The application in the HTTP tests. */
const WORLD = readFileSync(`${ROOT}tests/helpers/app.ts`, 'utf8')
/** A change of an incident by a user, and the message about it. */
const OPENED = {
  status: 'open',
  acknowledgedAt: null,
  problem: NO_PROBLEM,
  severity: 'error',
  origin: 'manual',
  cause: 'service',
} as const
const changed = (before: object, after: object) =>
  notificationKindOf({ ...OPENED, ...before } as IncidentState, { ...OPENED, ...after } as IncidentState)
/** Returns whether a channel that was told nothing is told of an end. */
const isToldEnd = (rules: readonly Rule[]) => {
  const end = { kind: 'recovered', severity: 'critical', alerts: [] } as const
  const of = { serviceId: '', service: '', namespace: '', cluster: '' }
  const channel = { rowId: 1, enabled: true, settings: { ...DEFAULT_CHANNEL, rules } }
  return recipientsOf([channel], { ...end, ...of }, false, 1).some(({ dueAt }) => dueAt !== null)
}
/** The texts of the metrics. */
const METRICS = readFileSync(`${ROOT}src/server/metrics.ts`, 'utf8')
/** The end of an alert that fired for an hour. */
const UNTIL = 3_600_000

/** A suspect that began an hour after its incident. */
const LATE_SUSPECT = {
  ...({ kind: 'object', ref: 'db', score: 0.9, since: UNTIL, verdict: null } as const),
  ...{ startsAt: null, outcome: null, builtTheImage: false, onlyTime: false, isOwn: false },
}

type Claim = readonly [sentence: string, value: string | number]

const UNITS = { SECOND: 1_000, MINUTE: 60_000, HOUR: 3_600_000, DAY: 86_400_000, MIB: 1_048_576 }

/** Returns the value of a constant in the source file with this name, for example `const DECAY = 30 * MINUTE`. */
function constantOf(file: string, name: string, unit: keyof typeof UNITS | null = null): number {
  const pattern = new RegExp(`^(?:export )?const ${name} = (.*)$`, 'm')
  const sources = globSync(`src/**/${file}.ts`, { cwd: ROOT }).map((path) => readFileSync(ROOT + path, 'utf8'))
  const [expression] = sources.flatMap((source) => pattern.exec(source)?.[1] ?? [])
  if (expression === undefined) throw new Error(`${file}.ts has no constant ${name}`)
  const value = expression
    .split('*')
    .map((factor) => UNITS[factor.trim() as keyof typeof UNITS] ?? Number(factor.trim().replaceAll('_', '')))
    .reduce((product, factor) => product * factor, 1)
  return value / (unit === null ? 1 : UNITS[unit])
}

/** Returns the number of milliseconds that a Kubernetes condition lasts without a repeat, in minutes. */
const lasting = (name: string) => constantOf('lasting', name, 'MINUTE')
const problem = (name: string) => constantOf('problem', name, 'MINUTE')
const schedule = (name: string, unit: keyof typeof UNITS | null = null) => constantOf('schedule', name, unit)
const interval = (name: string) => constantOf('delivery-interval', name)
const listOf = (names: readonly string[]) => `\`${names.join('`, `')}\``.replace(/, (?=[^,]*$)/, ' or ')
const graph = (name: string) => constantOf('graph', name)

/** Returns how a deploy of the project `team/PROJECT` to an environment finds a service. */
const relation = (project: string, service: string, environment: string) => {
  const deploy = build('deploy', 'failed', { environment: { name: environment, action: 'start' } })
  const draft = READERS.ci(pipeline('failed', `team/${project}`, { jobs: [deploy] }), 0).accepted[0]?.draft
  const jobs = draft?.source === 'ci' && draft.kind === 'pipeline' ? draft.jobs : []
  const [namespace = '', name = ''] = service.split('/')
  return relationOf(`team/${project}`, jobs, { namespace, name })
}
/** Returns the namespace of the service of the project `team/cart`, if services named `cart` are in these namespaces. */
const namesake = (...namespaces: readonly string[]) => {
  const draft = READERS.ci(pipeline('failed', 'team/cart'), 0).accepted[0]?.draft
  const known = namespaces.map((namespace) => ({ namespace, name: 'cart' }))
  return draft?.source === 'ci' ? attributeCi(draft, known, [])?.namespace : undefined
}
const PRODUCTION = { name: 'production', action: 'start' }
/** Returns the severity of the alert of a failed pipeline. */
const severityIn = (failed: ReturnType<typeof build>) => {
  const [read] = READERS.ci(pipeline('failed', 'shop/cart', { jobs: [failed] }), 0).accepted
  const found = { namespace: 'shop', name: 'cart', cluster: '' }
  const service = { ...found, rule: { code: 'text', text: 'project' }, creates: 'alert' } as const
  return (read && judge(read.draft, found, service).signal?.severity) ?? ''
}
/** The heartbeat of a cluster. */
const BEAT = { fingerprint: 'a', cluster: 'blue', endsAt: null, gap: null }
/** Returns whether a user's change to a status acknowledges an incident, or withdraws its acknowledgement. */
const OPEN = { status: 'open', acknowledgedAt: null, problem: NO_PROBLEM } as const
const acknowledges = (status: IncidentStatus) => 'acknowledgedBy' in acknowledged(OPEN, status, 'ann', 1)
const withdraws = (status: IncidentStatus) => {
  const after = acknowledged({ ...OPEN, status: 'monitoring', acknowledgedAt: 1 }, status, 'ann', 2)
  return 'acknowledgedAt' in after && after.acknowledgedAt === null
}
/** Returns what a reader says about an unknown status. */
const unknownStatus = (source: 'metrics' | 'ci', body: unknown) =>
  /(?:treated|counts) as (\w+)$/.exec(READERS[source](body, 0).accepted[0]?.warnings?.join() ?? '')?.[1] ?? ''

/** The lists of the API, each with the schema of its response and its parameters. */
const LISTS = Object.entries(document().paths).flatMap(([path, { get }]) => {
  const schema = get?.responses['200']?.content?.['application/json']?.schema
  return schema && get.summary?.startsWith('List ') ? [{ name: path.replace(/.*\//, ''), schema, get }] : []
})
const listsWith = (isMeant: (schema: { readonly type?: unknown }) => boolean) =>
  LISTS.flatMap(({ name, schema }) => (isMeant(schema) ? name : [])).join()
/** Returns the lists that have pagination, but no parameter `limit`. */
const onePages = () =>
  LISTS.flatMap(({ name, schema, get }) => {
    const isOne = schema.type === 'object' && !get.parameters?.some((one) => one.name === 'limit')
    return isOne ? name : []
  })
    .toSorted()
    .join()

export const CLAIMS: Readonly<Record<string, readonly Claim[]>> = {
  'README.md': [['Node … as a dependency', 24]],
  'docs/alertmanager.md': [
    ['An alert ends after … missed deliveries', interval('MISSED_REPEATS')],
    ['the alert expires after … hours', constantOf('ending', 'EXPIRES', 'HOUR')],
    ['the … names the service.', listOf(LAST_NAMES)],
    ['The heartbeat of another … does not matter.', beatsFor([BEAT], 'red').length === 0 ? 'cluster' : ''],
    ['not arrived for … intervals', interval('MISSED_REPEATS') === 3 ? 'three' : ''],
    ['three intervals, and at least … minutes', constantOf('delivery-interval', 'MIN_REPEAT_TIMEOUT', 'MINUTE')],
    ['with at most … series', graph('MAX_SERIES')],
    ['series of … points', graph('MAX_POINTS')],
    ['an end from … minutes before', constantOf('beats', 'BEFORE', 'MINUTE')],
    ['before to … minutes after the end of the heartbeat', constantOf('beats', 'AFTER', 'MINUTE')],
    ['fired for at least … minutes comes', constantOf('beats', 'EXPIRES_AFTER', 'MINUTE')],
    ['minutes comes … seconds after', ((heldUntil(UNTIL, 0, [BEAT]) ?? 0) - UNTIL) / UNITS.SECOND],
    ['every … minutes while it is open', constantOf('graph', 'AGAIN', 'MINUTE')],
    ['and … minutes after its end', constantOf('graph', 'TAIL', 'MINUTE')],
    ['Prometheus must answer within … seconds', constantOf('graphs', 'TIMEOUT_MS', 'SECOND')],
  ],
  'docs/api.md': [
    ['except … (a plain array by namespace and name)', listsWith(({ type }) => type === 'array')],
    ['and name) and the … of a service', listsWith(({ type }) => type !== 'array' && type !== 'object')],
    ['Suspects and action items are …. Very', onePages() === 'actions,suspects' ? 'one page' : ''],
    ['has more than … characters', constantOf('header', 'MAX_KEY')],
    ["A user's change to … sets `acknowledgedAt`", listOf(INCIDENT_STATUSES.filter(acknowledges))],
    ['null again when a user sets `…`, or', INCIDENT_STATUSES.filter(withdraws).join()],
    ['`limit` is … by default', constantOf('pagination', 'DEFAULT_LIMIT')],
    ['by default and at most ….', constantOf('pagination', 'MAX_LIMIT')],
    ['If more than … records of one kind change', constantOf('notices', 'MAX_IDS')],
    ['or if they exceed … KiB', constantOf('notices', 'MAX_MISSED') / 1024],
  ],
  'docs/architecture.md': [
    ['Acme (…), Basil', 'Team'],
    ['Only the …, the IDs', WORLD.includes('now: () => clock.now') ? 'clock' : ''],
    ['the IDs, … and', WORLD.includes('withoutSyncs(') ? 'syncs' : ''],
    ['syncs and … are replaced', WORLD.includes('readHere(') ? 'reader threads' : ''],
  ],
  'docs/command-line.md': [
    ['its last … or more characters', constantOf('records', 'SHORTEST_PART')],
    ['expires after … minutes', constantOf('session', 'SETUP_LINK_LIFE', 'MINUTE')],
  ],
  'docs/configuration.md': [
    ['the limit is … times `max-waiting`', 'four'],
    ['1 to …. |', String(constantOf('organization', 'MAX_RETENTION_DAYS'))],
  ],
  'docs/continuous-copy.md': [['incmon ignores the … tables', 'two']],
  'docs/decisions.md': [
    ['that begin or repeat within … minutes of its failure', constantOf('node-trouble', 'NEAR_NODE', 'MINUTE')],
    ['in no incident yet open their own from … minutes after', constantOf('nodes', 'UNTOLD', 'MINUTE')],
    ['belong to the node for … hour', constantOf('node-trouble', 'LINGERS', 'HOUR') === 1 ? 'another' : ''],
    ['A probe must fail … times, over 45 seconds', constantOf('unavailable', 'PROBES')],
    [
      'times, over … seconds (startup probes, readiness probes in rollouts or of one DaemonSet pod: 5 minutes)',
      constantOf('unavailable', 'PROBES_LAST') / 1000,
    ],
    ['or a liveness probe … times', constantOf('unavailable', 'PROBES') + 1],
    ['becomes `critical` at its … report', leastOf((count) => isRepeated({ count, pods: 1, inTenMinutes: 1 }))],
    ['at the … within 10 minutes', leastOf((inTenMinutes) => isRepeated({ count: 1, pods: 1, inTenMinutes }))],
    ['or with a … pod', leastOf((pods) => isRepeated({ count: 1, pods, inTenMinutes: 1 }))],
    ['For … minutes after a user resolved an alert', constantOf('alert', 'SETTLED_FOR', 'MINUTE')],
    ['A healthy service without events for … days', constantOf('services', 'ARCHIVED_AFTER', 'DAY')],
    ['fires again within … minutes of its recorded end', constantOf('alert', 'REOPEN_WITHIN', 'MINUTE')],
    ['The limit is … hours for CI alerts', constantOf('ending', 'EXPIRES', 'HOUR')],
    ['A warning that was reported for at least … minutes', constantOf('health', 'LASTING', 'MINUTE')],
    ['its penalty decreases to 0 over … minutes', constantOf('health', 'DECAY', 'MINUTE')],
    ['the score is below …,', constantOf('health', 'DEGRADED_BELOW')],
    ['a one-time event: never) or … reports', constantOf('unavailable', 'REPEATS')],
    ['A volume attachment must fail for … minutes', constantOf('unavailable', 'TWO_MINUTES', 'MINUTE')],
    ['`NodeNotReady` of a pod on an unknown node for … minutes', constantOf('unavailable', 'EVICTED', 'MINUTE')],
    ['for 2 minutes or … times', constantOf('unavailable', 'REPEATS')],
    ['fewer than … times', constantOf('unavailable', 'REPEATS')],
    ['that has just started, must last … minutes', constantOf('unavailable', 'PLANNED', 'MINUTE')],
    ['of a drained node, and … on a node that has just started', listOf([...FAILS_ON_NEW_NODE])],
    ['The problem is over … seconds after the last reported end', problem('SETTLE') * 60],
    ['If the problem is back within … minutes after its end became known', problem('COMES_BACK_WITHIN')],
    ['otherwise after … hours', constantOf('incident', 'TOUCHED', 'HOUR')],
    ['form a group if at least … of them', constantOf('group', 'LEAST_MEMBERS') === 3 ? 'three' : ''],
    ['It decreases over the … minutes after the change', constantOf('correlation', 'AFTER', 'MINUTE')],
    ['It is … if the condition started at most', constantOf('correlation', 'BEFORE_START')],
    ['at most … minutes before the change', constantOf('correlation', 'BEFORE', 'MINUTE')],
    ['The score is multiplied by … for a rollout', constantOf('correlation', 'NEW_REPLICASET')],
    ['*likely* from …,', constantOf('likely-cause', 'LIKELY')],
    ['*possible* from …,', constantOf('likely-cause', 'POSSIBLE')],
    ['What began after the incident is no cause: lists say *…*', standingOf(LATE_SUSPECT, 0)],
    ['the problem of the incident ended at most … minutes later', constantOf('sighting', 'RECOVERY') / 60_000],
  ],
  'docs/gitlab.md': [
    ['A failed deploy is a `…`, any other', severityIn(build('deploy', 'failed', { environment: PRODUCTION }))],
    ['any other failure is `…`.', severityIn(build('test', 'failed'))],
    ['or after … hours', constantOf('ending', 'EXPIRES', 'HOUR')],
    [
      "A service with the project's name is in a namespace or cluster of the deploy job's …",
      relation('cart', 'blue/front', 'blue') ?? relation('cart-api', 'blue/cart', 'blue') ?? '',
    ],
    ['such as `…` or `production/checkout`', relation('cart', 'x/checkout', 'checkout') ? 'checkout' : ''],
    ['or `…`. 4.', relation('cart', 'x/checkout', 'production/checkout') ? 'production/checkout' : ''],
    ['Common names such as `…` count only', relation('web', 'x/web', '') === null ? 'web' : ''],
    ["in a … of the project's group", relation('web', 'team/web', '') ?? ''],
    [
      "4. Only … has the project's name in a namespace of the project's group, otherwise anywhere",
      [namesake('a', 'team'), namesake('a'), namesake('a', 'b')].join() === 'team,a,team' ? 'one workload' : '',
    ],
  ],
  'docs/grafana.md': [['and gives it the severity …', '`warning`']],
  'docs/install.md': [['on the … plan', '`Pro`']],
  'docs/kubernetes.md': [
    ['a pod that was deleted within the last … minutes', constantOf('going-away', 'STOPPING', 'MINUTE')],
    ["So is a node's `…` whose message names a cgroup", 'OOMKilling'],
    ['| failed probe | … seconds', 150],
    ['failed probe seen at least … times', constantOf('lasting', 'MANY_PROBES')],
    ['`FailedCreate` seen at least … times', constantOf('lasting', 'MANY_CREATES')],
    ['crash back-off seen for less than … seconds', constantOf('lasting', 'YOUNG_LOOP', 'SECOND')],
    ['liveness probe that failed at least … times', constantOf('lasting', 'MANY_RESTARTS')],
    ['back-off, image error or liveness probe seen at least … times', constantOf('lasting', 'MANY_LOOPS')],
    ['one-time event such as `OOMKilled` or `Evicted` | … minutes', lasting('MOMENT')],
    ['failed certificate of cert-manager | … hours', lasting('CERTIFICATE') / 60],
    ['A condition counted at least … times', constantOf('lasting', 'COUNTED_OFTEN')],
    ['that began at most … minutes before it', constantOf('conditions', 'EARLIER', 'MINUTE')],
    ["If a sender's first … events contain no repeat", constantOf('sender', 'TELLING')],
    ['its limits are … hour, except', constantOf('lasting', 'SILENT_SENDER', 'HOUR')],
    ['must run … seconds longer than', constantOf('pod', 'LONGER', 'SECOND')],
    ['its last crash, or … minutes', constantOf('pod', 'FORGIVEN', 'MINUTE')],
    ['deleted within the last … minutes', constantOf('going-away', 'STOPPING', 'MINUTE')],
    ['Fewer replicas than wanted have been available for … minutes', constantOf('workload', 'FEW_LAST', 'MINUTE')],
  ],
  'docs/notifications.md': [
    [
      'once, … minutes after a user resolved an incident whose problem is still on',
      constantOf('incident', 'STILL_FIRING_AFTER', 'MINUTE'),
    ],
    ['| … or more unresolved incidents', constantOf('group', 'LEAST_MEMBERS') === 3 ? 'three' : ''],
    ['begin with about … and 15 seconds', schedule('FIRST_RETRY', 'SECOND')],
    ['up to … email addresses in', constantOf('target', 'MAX_ADDRESSES')],
    ['one digest every … minutes', constantOf('opening', 'FLAPPING_DIGEST', 'MINUTE')],
    ['a return that lasts … minutes', constantOf('opening', 'FLAPPING_BURNS', 'MINUTE')],
    ['until it is stable for … minutes', problem('COMES_BACK_WITHIN')],
    ['incmon retries for … hours', schedule('GIVE_UP_AFTER', 'HOUR')],
    ['messages in … seconds at once', schedule('AT_ONCE_WITHIN', 'SECOND')],
    [
      'valid for one incident, and for … days',
      constantOf('acknowledgement', 'LINK_LIFE_MS') / UNITS.DAY === 3 ? 'three' : '',
    ],
    ['`alerts` contains at most …', constantOf('format', 'MAX_ALERTS')],
    ['| `…` | a user acknowledged the incident |', changed({}, { acknowledgedAt: 1 }) ?? ''],
    ['| `…` | a user raised the severity', changed({}, { severity: 'critical' }) ?? ''],
    ['| `severity` | a user … the severity', changed({}, { severity: 'info' }) === null ? 'raised' : ''],
    ['| `…` | a user reopened the incident', changed({ status: 'resolved' }, {}) ?? ''],
    [
      'reopened the incident or …',
      changed({ acknowledgedAt: 1 }, {}) === 'reopened' ? 'took an acknowledgement back' : '',
    ],
    ['| `…` | a user resolved the incident', changed({}, { status: 'resolved' }) ?? ''],
    [
      'it gets an end only if its rules leave out `…`',
      isToldEnd([{ events: ['recovered'] }]) && !isToldEnd([]) && !isToldEnd([{ events: ['opened', 'recovered'] }])
        ? 'opened'
        : '',
    ],
  ],
  'docs/operations.md': [
    ['in-flight requests get up to … seconds', constantOf('connections', 'DRAIN_WITHIN') / 1000],
    ['After … failed attempts from one address', constantOf('wrong-tokens', 'AT_ONCE')],
    ['incmon answers one a … at once', constantOf('wrong-tokens', 'PAUSE') === 1_000 ? 'second' : ''],
    ['delays the others (at most …) by one second', constantOf('wrong-tokens', 'MAX_WAITING')],
    [
      '| … (also repeated) and rejected webhook items |',
      METRICS.includes('items accepted, including repeats') ? 'accepted' : '',
    ],
    ['warns … days before the certificate expires', constantOf('certificate', 'SOON', 'DAY')],
  ],
  'docs/performance.md': [
    ['The notifier reads the outbox every … ms', constantOf('notifier', 'LOOK_EVERY_MS')],
    ['and delays a message by up to … second', constantOf('notifier', 'CAUSE_WITHIN_MS') === 1000 ? 'one' : ''],
  ],
  'docs/promise.md': [
    ['A connection can have … open responses', BUDGETS['open-responses'].value],
    ['most … alerts or', constantOf('engine', 'MAX_ITEMS_QUEUED')],
    ['alerts or … events wait for the disk', constantOf('engine', 'MAX_ITEMS_QUEUED') * constantOf('engine', 'LONGER')],
    [
      'of one organization at most … MiB',
      (BUDGETS['pending-bodies'].value / UNITS.MIB) * constantOf('pending-bodies', 'SHARE'),
    ],
    ['bodies of up to … KiB', constantOf('pending-bodies', 'SMALL_BYTES') / 1024],
  ],
  'docs/silences.md': [
    ['one from the last … days', 30],
    ['A silence needs a matcher that is …', ['!=', '!~'].every((op) => needs('team', op, '.*')) ? 'negative' : ''],
    ['or matches no empty value: `…` is rejected', needs('team', '=~', '.*') ? '' : 'team=~".*"'],
  ],
  'docs/troubleshooting.md': [
    ['works only once and expires after … minutes', constantOf('session', 'SETUP_LINK_LIFE', 'MINUTE')],
  ],
  'docs/webhooks.md': [
    [
      'An unknown status is treated as …,',
      unknownStatus('metrics', {
        alerts: [{ labels: { severity: 'info', service: 'a', alertname: 'A' }, status: 'x' }],
      }),
    ],
    ['of a pipeline as …. An', unknownStatus('ci', pipeline('x'))],
    ['accepts at most … items', BUDGETS['dry-run'].value],
    ['`warnings` contains at most … entries', constantOf('delivery', 'MAX_WARNINGS')],
    ['a clock that is more than … minutes ahead', constantOf('sender', 'AHEAD', 'MINUTE')],
    ['clock that is more than … minutes behind', constantOf('sender', 'BEHIND', 'MINUTE')],
    ['consecutive requests over … minutes', constantOf('sender', 'SPAN', 'MINUTE')],
  ],
}
