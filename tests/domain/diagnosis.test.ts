/** Findings about an installation: each test changes one fact, which exactly one check reports. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { diagnose } from '../../src/domain/doctor/diagnosis.ts'
import { type DoctorFacts, formatBytes } from '../../src/domain/doctor/facts.ts'
import { DEFAULT_LIMITS } from '../../src/domain/limits.ts'

const NOW = Date.UTC(2026, 2, 14, 12)
const MINUTE = 60_000
const DAY = 86_400_000
const GB = 1e9

const MINE = { uid: 1000, readable: true, writable: true }
const DIRECTORY = { ...MINE, path: '/var/lib/incmon', mode: 0o700, size: 4096 }
const ENTRY = { ...MINE, path: '/var/lib/incmon/incmon.db', mode: 0o600, size: 3 * GB, isFile: true }
const WAL = { ...MINE, path: '/var/lib/incmon/incmon.db-wal', mode: 0o600, size: 4e6 }
const SENDER = {
  ...{ organization: 'Acme', source: 'metrics', cluster: '', receiver: 'incmon' },
  ...{ lastEventAt: NOW - MINUTE, lastRejectionAt: null, heartbeatAt: NOW - MINUTE, heartbeatDueAt: NOW + MINUTE },
  ...{ clockOffset: 0, namesCluster: true as boolean | null },
}
const TOKEN = {
  ...{ id: 'T1', organization: 'Acme', name: 'alertmanager', scopes: ['ingest'] as const, cluster: '' },
  ...{ expiresAt: NOW + 90 * DAY, revokedAt: null, lastUsedAt: NOW - MINUTE },
} as const
const CHANNEL = { organization: 'Acme', name: 'on-call', enabled: true, failing: null } as const
const CONTENT = {
  state: 'read',
  version: 3,
  known: 3,
  settings: { journal_mode: 'wal', synchronous: 2, foreign_keys: 1 },
  check: 'quick_check',
  damage: [],
  differences: [],
  isCopied: false,
  brokenReferences: [],
  history: { receivedAt: NOW - MINUTE, senders: [SENDER], tokens: [TOKEN], channels: [CHANNEL], usage: [] },
} as const
const sentBy = (sender: object) => ({
  ...CONTENT,
  history: { ...CONTENT.history, senders: [{ ...SENDER, ...sender }] },
})
const holding = (token: object) => ({
  content: {
    ...CONTENT,
    history: {
      ...CONTENT.history,
      tokens: [
        { ...TOKEN, expiresAt: null },
        { ...TOKEN, ...token },
      ],
    },
  },
})
const sendingOver = (channel: object) => ({
  content: { ...CONTENT, history: { ...CONTENT.history, channels: [{ ...CHANNEL, ...channel }] } },
})
const UNUSED = { heartbeatAt: null, lastEventAt: null }
const COPY = { ...CONTENT, settings: { ...CONTENT.settings, journal_mode: 'delete' } }
const receivedAt = (at: number) => ({ ...CONTENT, history: { ...CONTENT.history, receivedAt: at } })
const HELD = { from: NOW - DAY, until: NOW + 90 * DAY, fingerprint: 'AB' }
const inFile = (held: object) => ({ certificate: { file: 'tls.crt', held: { ...HELD, ...held } } })
const showing = (shown: object) =>
  ({ ...inFile({}), port: { state: 'incmon', unready: null, certificate: { ...HELD, ...shown } } }) as const
const SOUND: DoctorFacts = {
  now: NOW,
  uid: 1000,
  faults: [],
  settingFaults: [],
  organizations: [],
  file: '/var/lib/incmon/incmon.db',
  directory: DIRECTORY,
  rescued: null,
  entry: ENTRY,
  companions: [WAL],
  disk: { free: 50 * GB, freeEntries: 1e6 },
  minFree: 8,
  publicUrl: 'https://incmon.example.com',
  limits: DEFAULT_LIMITS,
  content: CONTENT,
  served: true,
  refusedSenders: { newest: [], more: 0 },
  address: 'http://127.0.0.1:8080',
  port: { state: 'incmon', unready: null, certificate: null },
  certificate: null,
}

test('a correct installation has one ok per check', () => {
  const findings = diagnose(SOUND)
  const checks = ['configuration', 'database', 'permissions', 'disk', 'log', 'integrity', 'settings', 'schema', 'clock']
  assert.deepEqual(
    findings.map(({ check }) => check),
    [...checks, 'source', 'token', 'channel', 'port'],
  )
  assert.ok(findings.every(({ state, remedy }) => state === 'ok' && remedy === null))
})

test('a database that Litestream has copied is recognized', () => {
  const findings = diagnose({ ...SOUND, content: { ...CONTENT, isCopied: true } })
  assert.match(findings.find(({ check }) => check === 'copy')?.text ?? '', /^Litestream has copied this database/)
})

test('the size of the database includes its log', () => {
  const sizes = [[], [WAL]].map((companions) =>
    diagnose({ ...SOUND, companions }).find(({ check }) => check === 'database'),
  )
  const texts = sizes.map((finding) => finding?.text)
  assert.deepEqual(texts, [
    `${ENTRY.path}, ${formatBytes(3 * GB)}`,
    `${ENTRY.path}, ${formatBytes(3 * GB + 4e6)} with its log`,
  ])
})

const used = (...names: readonly string[]) => {
  const usage = names.map((organization) => ({ organization, limit: 'tokens', used: 1 }) as const)
  return { ...CONTENT, history: { ...CONTENT.history, usage } }
}
const [WITH_ACME, WITH_BOTH] = [used('Acme'), used('Acme', 'Basil')]

test('settings that name an organization which exists cause no failure', () => {
  for (const [name, content] of [
    ['', WITH_ACME],
    ['Basil', WITH_BOTH],
  ] as const) {
    const findings = diagnose({ ...SOUND, organizations: [{ setting: 'user-organization', name }], content })
    assert.deepEqual(
      findings.filter(({ check }) => check === 'organization'),
      [],
    )
  }
})

test('of a database that the user cannot read, nothing is said about its log or its server', () => {
  const entry = { ...ENTRY, readable: false, isFile: true }
  const port = { state: 'free' } as const
  const findings = diagnose({ ...SOUND, entry, content: null, served: false, port })
  assert.deepEqual(
    findings.filter(({ check }) => check === 'log'),
    [],
  )
  assert.equal(findings.find(({ check }) => check === 'port')?.text, 'http://127.0.0.1:8080 is free')
})

const CASES: readonly [what: string, changed: Partial<DoctorFacts>, said: RegExp][] = [
  [
    'a sender with a wrong token',
    {
      refusedSenders: {
        newest: [{ network: '192.0.2.1', times: 120, withinMs: 180 * MINUTE, agoMs: 2 * MINUTE }],
        more: 0,
      },
    },
    /^warn token: requests from 192\.0\.2\.1 were rejected 120 times in 3 h with 401, last 2 min ago; the token is missing or wrong/,
  ],
  [
    'wrong tokens within a second',
    { refusedSenders: { newest: [{ network: '192.0.2.1', times: 4, withinMs: 999, agoMs: 0 }], more: 0 } },
    /were rejected 4 times within a second with 401/,
  ],
  [
    'more senders with wrong tokens than are listed',
    { refusedSenders: { newest: [], more: 12 } },
    /^warn token: requests from 12 more networks were rejected with 401 in the last hour; the token is missing or wrong/,
  ],
  [
    'a file that a setting names',
    { settingFaults: ['kubernetes: /x: cannot be read'] },
    /^fail configuration: kubernetes: \/x: cannot be read/,
  ],
  [
    'a setting with an organization that does not exist',
    { organizations: [{ setting: 'user-organization', name: 'Nope' }], content: WITH_ACME },
    /^fail organization: there is no organization Nope/,
  ],
  [
    'a setting without a name, and several organizations',
    { organizations: [{ setting: 'user-organization', name: '' }], content: WITH_BOTH },
    /^fail organization: there are several organizations/,
  ],
  ['a fault', { faults: ['INCMON_PORT: "x" is not'] }, /^fail configuration: INCMON_PORT: "x" is not/],
  [
    'no directory',
    { directory: null, entry: null, content: null },
    /^fail database: the directory of \S+ does not exist/,
  ],
  [
    'no file beside a log',
    { entry: null, content: null, companions: [WAL] },
    /^fail database: no database at \S+, but \S+-wal contains .+ of its data; put the database file back next to its log/,
  ],
  [
    'no file, but a copy that a server saved',
    {
      entry: null,
      content: null,
      companions: [],
      rescued: 'a.db is missing, and a.db.rescued-1 contains its data: run "mv a b"',
    },
    /^fail database: a\.db is missing, and a\.db\.rescued-1 contains its data; run "mv a b"$/,
  ],
  [
    'no file',
    { entry: null, content: null, companions: [] },
    /^fail database: no database at \S+; create one with "incmon serve"/,
  ],
  ['a directory in its place', { entry: { ...ENTRY, isFile: false } }, /^fail database: \S+ is not a file/],
  [
    'a directory not writable',
    { directory: { ...DIRECTORY, writable: false } },
    /^fail permissions: \S+ cannot be written by uid 1000: SQLite creates the write-ahead log in this directory/,
  ],
  [
    'a file of somebody else',
    { entry: { ...ENTRY, uid: 7, readable: false }, companions: [] },
    /^fail permissions: \S+ cannot be read by uid 1000: .+; chown 1000 .+ or run incmon as its owner, uid 7/,
  ],
  [
    'a file that others may read',
    { entry: { ...ENTRY, mode: 0o644 } },
    /^warn permissions: other users .+ mode 0644; chmod 600/,
  ],
  [
    'a directory that others may write',
    { directory: { ...DIRECTORY, mode: 0o777 } },
    /^warn permissions: every user can replace/,
  ],
  [
    'a log of root',
    { companions: [{ ...WAL, uid: 0 }] },
    /^fail permissions: \S+-wal belongs to uid 0, but the database file belongs to uid 1000; chown 1000/,
  ],
  [
    'less room than readiness asks for',
    { disk: { free: 8 * 1_048_576 - 1, freeEntries: 1e6 } },
    /^fail disk: 8\.4 MB free, less than min-free-disk = 8 MiB: the server is not ready/,
  ],
  [
    'room for readiness alone',
    { disk: { free: 8 * 1_048_576, freeEntries: 1e6 } },
    /^warn disk: 8\.4 MB free; free some/,
  ],
  [
    'little more than was asked for',
    { disk: { free: 39e9, freeEntries: 1e6 }, minFree: 10_000 },
    /^warn disk: 39\.0 GB/,
  ],
  ['999 MB of room', { disk: { free: 999e6, freeEntries: 1e6 } }, /^warn disk: 999 MB free/],
  [
    'room for less than a copy',
    { disk: { free: 2 * GB, freeEntries: 1e6 } },
    /^warn disk: 2\.0 GB free, but an upgrade makes a copy of the database, which takes 3\.0 GB/,
  ],
  ['no inodes', { disk: { free: 50 * GB, freeEntries: 0 } }, /^fail disk: 0 free inodes/],
  [
    'a log that grows',
    { companions: [{ ...WAL, size: 65e6 }] },
    /^warn log: .+ 65\.0 MB that are not yet in the database file; stop programs that read/,
  ],
  [
    'a file that belongs to another program',
    { content: { state: 'foreign' } },
    /^fail integrity: not an incmon database/,
  ],
  [
    'a damaged header',
    { content: { state: 'unreadable', why: 'damaged' } },
    /^fail integrity: the database is damaged; stop the server, keep this file/,
  ],
  [
    'a trigger that no migration made',
    { content: { ...CONTENT, differences: ['trigger steal is not part of schema version 3', 'x'] } },
    /^fail schema: 2 differences from schema version 3: trigger steal is not part of schema version 3; stop the server/,
  ],
  [
    'a broken reference',
    { content: { ...CONTENT, brokenReferences: ['row 7 of alerts refers to a row of services that does not exist'] } },
    /^fail integrity: 1 broken reference: row 7 of alerts refers to a row of services/,
  ],
  [
    'a damaged page',
    { content: { ...CONTENT, damage: ['page 7 is never used', 'x'] } },
    /^fail integrity: quick_check found 2 faults; the first: page 7/,
  ],
  [
    'no WAL below a server',
    { content: COPY },
    /^warn settings: journal_mode delete, .+ while a server is using the database; restart the server/,
  ],
  [
    'no sync',
    { content: { ...CONTENT, settings: { ...CONTENT.settings, synchronous: 1 } } },
    /^fail settings: .+ synchronous 1.+ may be lost/,
  ],
  [
    'an older model',
    { content: { ...CONTENT, version: 2 } },
    /^warn schema: schema version 2, but this version of incmon uses 3; "incmon migrate"/,
  ],
  [
    'a newer model',
    { content: { ...CONTENT, version: 4, history: null } },
    /^fail schema: schema version 4, but this version of incmon supports at most 3; use a newer/,
  ],
  [
    'a clock set back',
    { content: receivedAt(NOW + 90 * MINUTE) },
    /^fail clock: 1 h 30 min behind the newest event.+; correct the clock .+, wait until it passes .+ manually, .+ restore/,
  ],
  [
    'no sender',
    { content: { ...CONTENT, history: { ...CONTENT.history, senders: [] } } },
    /^warn source: no sender has sent anything yet/,
  ],
  [
    'a wrong clock of a sender',
    { content: sentBy({ clockOffset: -2 * 60 * MINUTE }) },
    /^warn source: Acme\/metrics\/incmon: the clock of this sender is 2 h behind; incmon corrects .+; correct the clock/,
  ],
  [
    'a sender without a cluster',
    {
      content: {
        ...CONTENT,
        history: { ...CONTENT.history, senders: [SENDER, { ...SENDER, source: 'cluster', namesCluster: false }] },
      },
    },
    /^warn source: Acme\/cluster\/incmon: items from this sender do not specify a cluster, but items from 1 other sender do; create a token with --cluster/,
  ],
  [
    'an overdue heart',
    { content: sentBy({ heartbeatDueAt: NOW }) },
    /^warn source: Acme\/metrics\/incmon: the last heartbeat arrived 1 min ago/,
  ],
  [
    'a silent heart',
    { content: sentBy({ heartbeatDueAt: null }) },
    /^warn source: .+ alerts from this sender may not arrive/,
  ],
  [
    'a week without',
    { content: sentBy({ heartbeatAt: null, lastEventAt: NOW - 8 * DAY }) },
    /^warn source: .+ last event 8 d ago; .+ Watchdog/,
  ],
  [
    'a sender of rubbish',
    { content: sentBy({ ...UNUSED, lastRejectionAt: NOW - DAY }) },
    /^warn source: .+: no usable item yet; the last rejected item arrived 1 d ago; see the item and its error on the Sources page or with GET \/api\/rejections/,
  ],
  [
    'a token that ends this instant',
    holding({ expiresAt: NOW, lastUsedAt: NOW - 2 * DAY }),
    /^warn token: Acme\/alertmanager: expired on 2026-03-14T12:00:00\.000Z, last used 2 d ago: requests with this token are rejected; create/,
  ],
  [
    'one that expired, used a week ago',
    holding({ expiresAt: NOW - 6 * DAY, lastUsedAt: NOW - 7 * DAY }),
    /^warn token: .+ expired on 2026-03-08\S+, last used 7 d ago: requests with this token are rejected/,
  ],
  [
    'one of the last 7 days',
    holding({ expiresAt: NOW + 7 * DAY, cluster: 'staging' }),
    /^warn token: .+: expires on 2026-03-21\S+, last used 1 min ago; create a new token with "incmon token create" \(scopes ingest, cluster staging\), use it in the configuration of the sender, then run "incmon token revoke T1"$/,
  ],
  [
    'one that is still to be used',
    holding({ expiresAt: NOW + 1, lastUsedAt: null }),
    /^warn token: .+: expires on 2026-03-14T12:00:00\.001Z, not used yet; create a new token/,
  ],
  [
    'one for reading',
    holding({ expiresAt: NOW + DAY, scopes: ['read', 'write'] }),
    /^warn token: .+ \(scopes read,write\), use it in the configuration of the caller/,
  ],
  [
    'a server that is not ready',
    { port: { state: 'incmon', unready: '503, full', certificate: null } },
    /^fail port: incmon is listening on \S+ but is not ready: 503, full/,
  ],
  ['a server over another file', { served: false }, /^warn port: .+ but it uses another database/],
  [
    'a server that does not answer',
    { port: { state: 'free' } },
    /^warn port: a server is using the database, but does not respond on its socket/,
  ],
  [
    'a server that this command cannot ask',
    { port: { state: 'unreachable', why: 'no permission' } },
    /^warn port: a server is using the database, but this command cannot reach it; no permission/,
  ],
  ['another program', { port: { state: 'other' } }, /^fail port: another program is listening on/],
  [
    'a server without the TLS that is configured',
    { port: { state: 'changed', address: 'http://a:1' } },
    /^warn port: incmon is listening on http:\/\/a:1, but \S+ is configured; restart the server/,
  ],
  ['a port of root', { port: { state: 'denied', code: 'EACCES' } }, /^fail port: .+ is not available \(EACCES\)/],
  [
    'a certificate that ends this instant',
    inFile({ until: NOW }),
    /^fail certificate: tls\.crt expired on 2026-03-14T12:00:00\.000Z: clients reject it; renew the certificate/,
  ],
  [
    'one of the last 14 days',
    inFile({ until: NOW + 14 * DAY }),
    /^warn certificate: tls\.crt expires on .+; renew the certificate/,
  ],
  [
    'one of tomorrow',
    inFile({ from: NOW + DAY }),
    /^fail certificate: tls\.crt is not valid before .+; check the clock/,
  ],
  [
    'no certificate to use',
    { certificate: { fault: 'no key' } },
    /^fail certificate: no key; correct the setting or the file; until then, the server cannot start/,
  ],
  [
    'no token',
    { content: { ...CONTENT, history: { ...CONTENT.history, tokens: [] } } },
    /^warn token: there are no tokens: webhooks and API requests are rejected with 401; create a token for a sender with "incmon token create/,
  ],
  [
    'no token that counts',
    { content: { ...CONTENT, history: { ...CONTENT.history, tokens: [{ ...TOKEN, revokedAt: NOW - DAY }] } } },
    /^warn token: every token is revoked or expired/,
  ],
  ['a server without an address', { publicUrl: '' }, /^warn channel: messages contain no links to .+; set public-url/],
  [
    'a channel with connect ECONNREFUSED 10.0.0.9:443',
    sendingOver({ failing: 'connect ECONNREFUSED 10.0.0.9:443' }),
    /check that a program is listening/,
  ],
  [
    'a channel with connect ETIMEDOUT 10.0.0.9:443',
    sendingOver({ failing: 'connect ETIMEDOUT 10.0.0.9:443' }),
    /check the network and the firewalls/,
  ],
  ['a channel with read ECONNRESET', sendingOver({ failing: 'read ECONNRESET' }), /check the log of the receiver/],
  [
    'a failing channel',
    sendingOver({ failing: 'no_team' }),
    /^warn channel: on-call of Acme is failing: no_team; correct/,
  ],
  [
    'a channel whose receiver is gone',
    sendingOver({ failing: 'gone', enabled: false }),
    /^warn channel: on-call of Acme was disabled because .+: gone; run "incmon channel set on-call --enable"/,
  ],
  [
    'a renewal that the server was not told of',
    showing({ fingerprint: 'CD', until: NOW + DAY }),
    /^warn certificate: the server's certificate is not the certificate in tls\.crt, valid until .+; send SIGHUP/,
  ],
  [
    'a renewal that it was not told of in time',
    showing({ fingerprint: 'CD', until: NOW - DAY }),
    /^fail certificate: the server's certificate is not the certificate in tls\.crt, .+; send SIGHUP/,
  ],
]

for (const [what, changed, said] of CASES) {
  test(`${what}: ${said.source.slice(1, 5)}`, () => {
    const wrong = diagnose({ ...SOUND, ...changed }).filter(({ state }) => state !== 'ok')
    const lines = wrong.map(({ check, state, text, remedy }) => `${state} ${check}: ${text}; ${remedy}`)
    assert.equal(lines.length, 1, lines.join('\n'))
    assert.match(wrong[0]?.remedy ?? '', /^[^\n]+$/)
    assert.match(lines[0] ?? '', said)
  })
}

for (const [what, changed] of [
  ['a clock that was set back by five seconds', { content: receivedAt(NOW + 5_000) }],
  ['a directory like /tmp', { directory: { ...DIRECTORY, mode: 0o1777 } }],
  ['a file system without a number of entries', { disk: { free: 50 * GB, freeEntries: null } }],
  ['a quiet week of a sender whose heart beats', { content: sentBy({ lastEventAt: 0 }) }],
  ['rubbish of more than a day ago', { content: sentBy({ ...UNUSED, lastRejectionAt: NOW - DAY - 1 }) }],
  ['a sender of empty lists', { content: sentBy(UNUSED) }],
  ['a token that counts for more than 7 days', holding({ expiresAt: NOW + 7 * DAY + 1 })],
  ['a token that expired, and was not used for a week', holding({ expiresAt: NOW - 1, lastUsedAt: NOW - 7 * DAY - 1 })],
  ['a token that expired, and was never used', holding({ expiresAt: NOW - 1, lastUsedAt: null })],
  ['a token that was revoked while it was in use', holding({ expiresAt: NOW, revokedAt: NOW - MINUTE })],
  ['a token without an end', holding({ expiresAt: null })],
  ['a copy, or what was restored from one', { content: COPY, served: false, port: { state: 'free' } }],
  ['no server at all', { served: false, port: { state: 'free' } }],
  ['a certificate that counts for more than 14 days', inFile({ until: NOW + 14 * DAY + 1 })],
  ['the certificate of the file, as shown', showing({})],
  ['any port', { served: false, port: { state: 'any' } }],
] as const satisfies readonly (readonly [string, Partial<DoctorFacts>])[]) {
  test(`${what} is ok`, () => {
    assert.ok(diagnose({ ...SOUND, ...changed }).every(({ state }) => state === 'ok'))
  })
}

test('for a copy it says what the next server will do', () => {
  const findings = diagnose({ ...SOUND, content: COPY, served: false, port: { state: 'free' } })
  const { text } = findings.find(({ check }) => check === 'settings') ?? {}
  assert.match(text ?? '', /^journal_mode delete, .+; the next "incmon serve" sets journal_mode to wal$/)
})

test('sizes are shown in steps of a thousand', () => {
  assert.deepEqual([0, 999, 1_000, 4_194_304, 123_456_789, 5e15].map(formatBytes), [
    ...['0 B', '999 B', '1.0 kB', '4.2 MB', '123 MB', '5000 TB'],
  ])
})

function limitsOf(used: Readonly<Partial<Record<'live-alerts' | 'channels', number>>>, limits = DEFAULT_LIMITS) {
  const usage = Object.entries(used).map(([limit, count]) => ({ organization: 'Acme', limit, used: count }))
  const content = { ...CONTENT, history: { ...CONTENT.history, usage: usage as never } }
  return diagnose({ ...SOUND, limits, content }).filter(({ check }) => check === 'limits')
}

test('the nearest limit is named while there is room', () => {
  const [found, ...more] = limitsOf({ 'live-alerts': 39_999, channels: 3 })
  assert.deepEqual([found?.state, more], ['ok', []])
  assert.equal(found?.text, 'none is nearly reached; the nearest is live-alerts of Acme: 39,999 of 50,000')
})

test('each limit of which 80 % are used is a warning that says what happens at the limit', () => {
  const [alerts, channels] = limitsOf({ 'live-alerts': 50_000, channels: 80 })
  assert.match(
    alerts?.text ?? '',
    /^live-alerts of Acme: 50,000 of 50,000; at the limit, a new alert is refused with 503/,
  )
  assert.match(alerts?.remedy ?? '', /raise live-alerts in the setting limits/)
  assert.equal(channels?.text, 'channels of Acme: 80 of 100; at the limit, a new one is refused with 409')
  assert.equal(channels?.remedy, 'remove channels that nobody needs')
})

test('a raised limit counts', () => {
  const raised = { ...DEFAULT_LIMITS, 'live-alerts': 100_000 }
  assert.deepEqual(
    limitsOf({ 'live-alerts': 50_000 }, raised).map(({ state }) => state),
    ['ok'],
  )
})
