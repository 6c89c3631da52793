/** Alerts and bodies for `POST /alerts`, good and bad. */
import type { At } from './call.ts'

export function bodies(): string[] {
  return [
    '',
    ' ',
    '[]',
    'null',
    '{}',
    '[',
    '[{',
    'alerts',
    '7',
    '""',
    '[7]',
    '[null]',
    '[[]]',
    '[{}]',
    '[]x',
    '[{"labels":7}]',
  ]
}

export function alertsAt(at: At): object[] {
  const named = (alertname: string, more: object = {}) => ({ labels: { alertname, namespace: 'shop' }, ...more })
  const zero = '0001-01-01T00:00:00.000Z'
  const labelSets: unknown[] = [
    null,
    [],
    ['a'],
    'a',
    7,
    {},
    { a: '' },
    { '': 'a' },
    { a: 1 },
    { a: null },
    { a: ['b'] },
    { a: { b: 'c' } },
    { a: true },
    { '1x': 'a' },
    { a: '\ud800' },
    { alertname: 'Empty', empty: '' },
    { alertname: 'Line\nbreak', quote: '"\\' },
    { alertname: 'Emoji', face: '😀' },
    { alertname: 'Space', text: '  around  ' },
    { alertname: 'Long', text: 'x'.repeat(3_000) },
    { noname: 'x' },
    { _a: 'b' },
    JSON.parse('{"alertname":"Proto","constructor":"y","toString":"z"}'),
    JSON.parse('{"__proto__":"x"}'),
    { alertname: 'Many', ...Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`label_${i}`, `${i}`])) },
    { __name__: 'up', alertname: 'Meta' },
    { alertname: 'Case', ALERTNAME: 'x' },
    { job: 'a', instance: '10.0.0.1:9100' },
  ]
  return [
    ...labelSets.map((labels) => ({ labels })),
    named('Warning', { labels: { alertname: 'Same', severity: 'warning' } }),
    named('Critical', { labels: { alertname: 'Same', severity: 'critical' } }),
    named('Slow', { startsAt: at(-1), endsAt: at(30) }),
    named('Down', { labels: { alertname: 'Down', namespace: 'shop', job: 'b', instance: 'x', severity: 'critical' } }),
    named('Down', { labels: { alertname: 'Down', namespace: 'shop', job: 'a', instance: 'y', severity: 'critical' } }),
    named('Down', { labels: { alertname: 'Down', namespace: 'pay', severity: 'info' } }),
    named('Ended', { startsAt: at(-9), endsAt: at(-5) }),
    named('EndBeforeStart', { startsAt: at(-1), endsAt: at(-5) }),
    named('OnlyEnd', { endsAt: at(30) }),
    named('OnlyPastEnd', { endsAt: at(-5) }),
    named('Future', { startsAt: at(60), endsAt: at(90) }),
    named('FutureWithoutEnd', { startsAt: at(60) }),
    named('BothZero', { startsAt: zero, endsAt: zero }),
    named('ZeroStart', { startsAt: zero, endsAt: at(30) }),
    named('ZeroEnd', { startsAt: at(-1), endsAt: zero }),
    named('Offset', { startsAt: at(-1).replace('Z', '+00:00'), endsAt: at(30) }),
    named('NullStart', { startsAt: null }),
    named('NullEnd', { endsAt: null }),
    ...['http://p/graph?g0.expr=up', '', null].map((generatorURL, i) => named(`Url${i}`, { generatorURL })),
    ...[null, {}, [], 'x', { a: 1 }, { '1x': 'a' }, { a: '' }, { a: null }, { summary: 'Text\nwith lines' }].map(
      (annotations, i) => named(`Note${i}`, { annotations }),
    ),
    named('Unknown', { unknownField: 1, status: 'firing' }),
    named('Resolved', { status: 'resolved' }),
  ]
}

/** Alerts that incmon stores and Alertmanager 0.25 rejects or stores with other values. They are sent last. */
export function looseAlerts(): object[] {
  const named = (alertname: string, more: object) => ({ labels: { alertname, namespace: 'shop' }, ...more })
  const labelSets = [{ 'a b': 'c' }, { 'a-b': 'c' }, { 'a.b': 'c' }, { é: 'c' }, { 'a\0': 'c' }]
  return [
    ...labelSets.map((labels) => ({ labels })),
    ...['', 'now', '2026-13-40', 7, {}].flatMap((time, i) => [
      named(`Start${i}`, { startsAt: time }),
      named(`End${i}`, { endsAt: time }),
    ]),
    ...['::', 7].map((generatorURL) => named('Url', { generatorURL })),
    named('Note', { annotations: { 'a.b': 'c' } }),
  ]
}
