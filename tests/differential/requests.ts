/** The requests that are sent to Alertmanager and to incmon. They are built from tables. */
import { alertsAt, bodies, looseAlerts } from './alerts.ts'
import { type Call, get, post } from './call.ts'
import { silenceCalls, silenceOf } from './silences.ts'

const MINUTE = 60_000

/** `now` is in ms UTC. */
export function callsAt(now: number): readonly Call[] {
  const at = (minutes: number) => new Date(now + minutes * MINUTE).toISOString()
  return [
    ...bodies().map((body) => post('/alerts', body)),
    ...alertsAt(at).map((alert) => post('/alerts', JSON.stringify([alert]))),
    post('/alerts', JSON.stringify([{ labels: { '1x': 'a' } }, { labels: { alertname: 'BesideBad' } }])),
    ...TYPES.map((type) => ({ ...post('/alerts', '[]'), type })),
    ...TYPES.map((type) => ({ ...post('/silences', '{}'), type })),
    ...MATCHERS.flatMap((matcher) =>
      ['/alerts', '/alerts/groups', '/silences'].map((path) => get(path, { filter: matcher })),
    ),
    ...PAIRS.map((filter) => get('/alerts', { filter })),
    ...RECEIVERS.flatMap((receiver) => ['/alerts', '/alerts/groups'].map((path) => get(path, { receiver }))),
    ...silenceCalls(at),
    ...FLAGS.flatMap((query) =>
      ['/alerts', '/alerts/groups'].map((path) => ({ method: 'GET', path: `${path}?${query}` })),
    ),
    ...OTHERS,
    ...looseAlerts().map((alert) => post('/alerts', JSON.stringify([alert]))),
    post('/alerts', JSON.stringify([{ labels: { alertname: 'Nul', a: 'b\0c' }, generatorURL: 'ftp://x' }])),
    get('/alerts', { filter: 'alertname=Nul' }),
    post('/silences', silenceOf(at, { comment: '', createdBy: '' })),
    post('/silences', silenceOf(at, { startsAt: '' })),
    post('/silences', silenceOf(at, { endsAt: '' })),
    post('/silences', silenceOf(at, { matchers: [{ name: 'a-b', value: 'c', isRegex: false }] })),
    get('/silences', { filter: 'alertname=Blank' }),
    post(
      '/alerts',
      JSON.stringify(Array.from({ length: 10_000 }, (_, pod) => ({ labels: { alertname: 'Many', pod: `p-${pod}` } }))),
    ),
    get('/alerts', { filter: 'alertname=Many' }),
  ]
}

const TYPES = [
  '',
  'text/plain',
  'application/json',
  'application/json; charset=utf-8',
  'application/xml',
  'APPLICATION/JSON',
  'json',
  'application/x-www-form-urlencoded',
]

const MATCHERS = [
  'alertname=Down',
  'alertname="Down"',
  'alertname!=Down',
  'alertname=~"D.*"',
  'alertname=~D.*',
  'alertname!~"D.*|S.*"',
  'alertname=~"own"',
  'alertname=',
  'alertname=""',
  'alertname!=""',
  'missing=',
  'missing!=x',
  'missing=x',
  'missing=~".*"',
  'missing=~".+"',
  ' alertname = Down ',
  'alertname="Line\\nbreak"',
  'quote="\\"\\\\"',
  '__proto__=x',
  'constructor=y',
  'toString=z',
  'severity=~"crit|warn"',
  'severity=~"(?i)CRITICAL"',
  'instance=10.0.0.1:9100',
  'face=😀',
  'text="  around  "',
  '',
  ' ',
  'alertname',
  '=x',
  '=~',
  'alertname==x',
  'alertname=~(',
  'alertname=~"("',
  'alertname=~[',
  'alertname=~*',
  'alertname="x',
  'alertname=x"',
  'alertname=x"y',
  'a="b",c="d"',
  '{a="b"}',
  '1a=b',
  'a b=c',
  'a-b=c',
  'a.b=c',
  'é=c',
  '"a.b"=c',
  'alertname~x',
  'alertname=~"\\p{L}+"',
  'alertname=~"(?P<n>D).*"',
  'alertname=~"D(?=own)"',
  "alertname='Down'",
]

const PAIRS = [
  ['alertname=Down', 'namespace=shop'],
  ['alertname=Down', 'namespace!=shop'],
  ['alertname=Down', 'missing='],
  ['alertname=Down', 'alertname=Slow'],
  ['alertname=Down', 'bad'],
]

const RECEIVERS = ['incmon', 'inc.*', 'inc', '.*', '', 'x', '(', '^incmon$', 'incmon|x', 'INCMON']

const FLAG_NAMES = ['active', 'silenced', 'inhibited', 'unprocessed']
const FLAGS = [
  ...FLAG_NAMES.flatMap((name) => ['true', 'false', '1', '0', 'maybe', ''].map((value) => `${name}=${value}`)),
  'active=false&silenced=false',
  'active=true&silenced=false&inhibited=false&unprocessed=false',
  'unknown=1',
]

const OTHERS: readonly Call[] = [
  ...['/receivers', '/nope', '/alerts/nope', '/silence', '/alerts/', '/silence/'].map((path) => ({
    method: 'GET',
    path,
  })),
  ...['PUT', 'PATCH', 'DELETE'].flatMap((method) =>
    ['/alerts', '/silences', '/status'].map((path) => ({ method, path })),
  ),
  ...['/alerts', '/silences', '/receivers', '/status'].map((path) => ({
    method: 'POST',
    path: `${path}/x`,
    body: '{}',
    type: 'application/json',
  })),
]
