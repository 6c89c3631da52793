/** Tables of the documentation that are made from tables of the code, by page and head. */
import { ADDS_NODE, LEAVING_NODE } from '../../src/domain/event/going-away.ts'
import { quietPeriodOf } from '../../src/domain/event/lasting.ts'
import { NODE_ONLY, REASONS } from '../../src/domain/event/reason-table.ts'
import { TARGETS } from '../../src/domain/service/target.ts'
import { SEVERITIES, SEVERITY_WORDS } from '../../src/domain/severity.ts'
import { HOUR, MINUTE, SECOND } from '../../src/domain/units.ts'

type Table = {
  readonly page: string
  readonly head: string
  readonly rows: readonly (readonly string[])[]
}

const code = (names: Iterable<string>) => [...names].map((name) => `\`${name}\``).join(', ')

const severities: Table = {
  page: 'docs/decisions.md',
  head: '| severity | accepted values |',
  rows: Object.entries(SEVERITY_WORDS).map(([severity, words]) => [
    severity === 'none' ? 'no alert' : code([severity]),
    words.split(' ').join(', ').replace('veryhigh', 'very high'),
  ]),
}

/** Reasons that are critical only for nodes are listed as such. */
const reasons: Table = {
  page: 'docs/decisions.md',
  head: '| severity | reasons |',
  rows: SEVERITIES.map((severity) => {
    const listed = [...REASONS].flatMap(([reason, row]) => (row.severity === severity ? [reason] : []))
    const own = listed.filter((reason) => !NODE_ONLY.has(reason))
    const ofNodes = listed.filter((reason) => NODE_ONLY.has(reason))
    return [code([severity]), code(own) + (ofNodes.length > 0 ? `; of nodes: ${code(ofNodes)}` : '')]
  }),
}

/** The first label of each kind. */
const KINDS = [
  ['Kubernetes objects', 'deployment'],
  ['applications', 'app_kubernetes_io_name'],
  ['resources of clouds', 'resourceName'],
  ['jobs and machines', 'job'],
] as const

const LABELS = TARGETS.flatMap(([, names]) => names.split(' '))

const labels: Table = {
  page: 'docs/alertmanager.md',
  head: '| kind | labels, in this order |',
  rows: KINDS.map(([kind, first], index) => {
    const next = KINDS[index + 1]?.[1]
    return [kind, code(LABELS.slice(LABELS.indexOf(first), next ? LABELS.indexOf(next) : undefined))]
  }),
}

const reasonsBy = (rows: typeof LEAVING_NODE, who: string) =>
  code(rows.flatMap(([of, reasons]) => (of === who ? reasons.split(' ') : [])))

const nodes: Table = {
  page: 'docs/kubernetes.md',
  head: '| reported by | a node leaves | a node is added |',
  rows: [...new Set([...LEAVING_NODE, ...ADDS_NODE].map(([who]) => who))].map((who) => [
    who,
    reasonsBy(LEAVING_NODE, who),
    reasonsBy(ADDS_NODE, who),
  ]),
}

/** A condition, how often it was seen, and for how many milliseconds. */
type Waiting = readonly [group: string, count: number, lasted?: number]

/** What a row says, and the conditions for which the code waits so long. */
const WAITS: readonly (readonly [condition: string, examples: readonly Waiting[]])[] = [
  [
    'failed probe',
    [
      ['Unhealthy (liveness)', 8],
      ['Unhealthy (readiness)', 19],
    ],
  ],
  [
    '`FailedCreate`; back-off or image error seen only once; crash back-off seen for less than 40 seconds',
    [
      ['FailedCreate', 5],
      ['CrashLoopBackOff', 1],
      ['ImagePullBackOff', 1],
      ['CrashLoopBackOff', 4, 39 * SECOND],
    ],
  ],
  ['failed probe seen at least 20 times', [['Unhealthy (readiness)', 20]]],
  [
    '`FailedBinding`, `ProvisioningFailed`',
    [
      ['FailedBinding', 1],
      ['ProvisioningFailed', 50],
    ],
  ],
  [
    'one-time event such as `OOMKilled` or `Evicted`',
    [
      ['OOMKilled', 1],
      ['Evicted', 4],
    ],
  ],
  [
    'repeated back-off or image error; liveness probe that failed at least 9 times; all other conditions',
    [
      ['CrashLoopBackOff', 2],
      ['CrashLoopBackOff', 4, 40 * SECOND],
      ['ImagePullBackOff', 24],
      ['ImagePullBackOff', 4, 39 * SECOND],
      ['Unhealthy (liveness)', 9],
      ['FailedMount', 99],
      ['SomethingFailed', 1],
    ],
  ],
  ['`FailedCreate` seen at least 6 times: the controller waits twice as long each time', [['FailedCreate', 6]]],
  [
    'back-off, image error or liveness probe seen at least 25 times',
    [
      ['Unhealthy (liveness)', 25],
      ['CrashLoopBackOff', 25],
      ['ImagePullBackOff', 25],
    ],
  ],
  [
    '`FailedScheduling`, node and operator conditions, permanent failures',
    [
      ['FailedScheduling', 9],
      ['NodeNotReady', 1],
      ['OperatorDegraded', 1],
      ['BackoffLimitExceeded', 1],
    ],
  ],
  ['failed certificate of cert-manager', [['Failed (Certificate)', 1]]],
]

const waits: Table = {
  page: 'docs/kubernetes.md',
  head: '  | condition | ends without a repeat after |',
  rows: WAITS.map(([condition, examples]) => {
    const times = new Set(examples.map(([group, count, lasted]) => quietPeriodOf(group, count, true, lasted)))
    return [condition, [...times].map(durationOf).join(' or ')]
  }),
}

function durationOf(time: number): string {
  if (time < 5 * MINUTE) return `${time / SECOND} seconds`
  return time < HOUR ? `${time / MINUTE} minutes` : `${time / HOUR} hour${time > HOUR ? 's' : ''}`
}

export const TABLES: readonly Table[] = [severities, reasons, labels, nodes, waits]
