/** Requests about silences, good and bad. */
import { type At, type Call, post } from './call.ts'

const UNKNOWN = '3fa85f64-5717-4562-b3fc-2c963f66afa6'

export function silenceCalls(at: At): Call[] {
  const down = { name: 'alertname', value: 'Down', isRegex: false, isEqual: true }
  const good = { matchers: [down], startsAt: at(0), endsAt: at(60), createdBy: 'me', comment: 'upgrade' }
  const without = (name: string) => Object.fromEntries(Object.entries(good).filter(([key]) => key !== name))
  const matching = (matchers: unknown) => ({ ...good, matchers })
  const silence = (body: unknown, as?: string): Call => ({
    ...post('/silences', JSON.stringify(body)),
    ...(as ? { as } : {}),
  })
  const lists = ['', '?filter=alertname%3DDown', '?filter=alertname%3D~Down', '?filter=bad'].map((query) => ({
    method: 'GET',
    path: `/silences${query}`,
  }))
  const bad = [
    ...['', '[', '[]', '7', 'null', '{}'].map((body) => post('/silences', body)),
    ...Object.keys(good).map((name) => silence(without(name))),
    ...Object.keys(good).flatMap((name) => [null, 7].map((value) => silence({ ...good, [name]: value }))),
    silence({ ...good, matchers: '' }),
    ...[
      [],
      {},
      [{}],
      [7],
      [null],
      [{ ...down, name: '' }],
      [{ ...down, name: '1a' }],
      [{ ...down, value: '' }],
      [{ ...down, value: '.*', isRegex: true }],
      [{ ...down, value: '(', isRegex: true }],
      [
        { ...down, value: '' },
        { ...down, name: 'missing', value: '.*', isRegex: true },
      ],
      [{ name: 'a', value: 'b' }],
      [{ name: 'a', isRegex: false }],
      [{ value: 'a', isRegex: false }],
      [{ ...down, isRegex: 'yes' }],
      [{ ...down, value: 7 }],
    ].map((matchers) => silence(matching(matchers))),
    silence({ ...good, startsAt: at(-9), endsAt: at(-1) }),
    silence({ ...good, startsAt: at(9), endsAt: at(5) }),
    silence({ ...good, endsAt: 'soon' }),
    silence({ ...good, id: UNKNOWN }),
    silence({ ...good, id: 'x' }),
  ]
  return [
    ...bad,
    ...(
      [
        ['slow', {}, [{ ...down, value: 'Slow' }]],
        ['down', {}, [down, { name: 'namespace', value: 'shop|pay', isRegex: true }]],
        ['defaults', {}, [{ ...down, isEqual: null }]],
        ['noncritical', {}, [{ ...down, name: 'severity', value: 'critical', isEqual: false }]],
        ['later', { startsAt: at(10), comment: 'later' }, [down]],
        ['soon', { startsAt: at(5), comment: 'soon' }, [down]],
        [
          'negative',
          {},
          [
            { ...down, isEqual: false },
            { ...down, name: 'severity', value: 'info' },
          ],
        ],
      ] as const
    ).map(([as, more, matchers], i) => silence({ ...good, ...more, matchers, endsAt: at(60 + i) }, as)),
    ...lists,
    ...['slow', 'down', 'later'].map((name) => ({ method: 'GET', path: `/silence/{${name}}` })),
    ...['active=false', 'silenced=false'].map((query) => ({ method: 'GET', path: `/alerts?${query}` })),
    { method: 'DELETE', path: '/silence/{slow}' },
    { method: 'DELETE', path: '/silence/{slow}' },
    { method: 'GET', path: '/silence/{slow}' },
    ...lists,
    ...['GET', 'DELETE'].flatMap((method) => [UNKNOWN, 'x', '%20'].map((id) => ({ method, path: `/silence/${id}` }))),
    { method: 'GET', path: `/alerts` },
    { method: 'GET', path: `/alerts/groups` },
  ]
}

export function silenceOf(at: At, more: object): string {
  const matchers = [{ name: 'alertname', value: 'Blank', isRegex: false }]
  return JSON.stringify({ matchers, startsAt: at(0), endsAt: at(60), createdBy: 'me', comment: 'upgrade', ...more })
}
