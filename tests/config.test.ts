/** The configuration: which source wins, and a single report of all errors. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { clientVariables, DEFAULTS, programName, readConfig, readSettings } from '../src/config.ts'
import { KEYS } from '../src/settings.ts'

type Given = { flags?: Record<string, string>; env?: Record<string, string>; files?: Record<string, string> }

function read({ flags = {}, env = {}, files = {} }: Given) {
  const readFile = (path: string) => {
    const text = files[path]
    if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' })
    return text
  }
  return readConfig({ flags, env, readFile })
}

function faultsOf(given: Given): string[] {
  const result = read(given)
  assert.ok('faults' in result, 'expected faults')
  return result.faults
}

const KNOWN =
  'host, port, database, log-level, tls-cert, tls-key, trusted-proxies, user-header, user-organization, user-scopes, path-prefix, max-connections, max-connections-per-address, max-waiting, limits, min-free-disk, public-url, notify-allow, smtp-url, smtp-password-file, mail-from, heartbeat-url, kubernetes, stop-grace'

test('by default, the server listens only on this machine', () => {
  assert.deepEqual(read({}), { config: { ...DEFAULTS, host: '127.0.0.1', port: 8080, database: 'incmon.db' } })
})

test('a flag overrides a variable, a variable the file, and the file the default', () => {
  const files = { 'incmon.toml': 'host = "file"\nport = 1\ndatabase = "file.db"' }
  const env = { INCMON_HOST: 'variable', INCMON_PORT: '2' }
  assert.deepEqual(read({ files, env, flags: { host: 'flag' } }), {
    config: { ...DEFAULTS, host: 'flag', port: 2, database: 'file.db' },
  })
})

test('the file is given by --config, or else by INCMON_CONFIG', () => {
  const files = { 'a.toml': 'port = 1', 'b.toml': 'port = 2', 'incmon.toml': 'port = 3' }
  const env = { INCMON_CONFIG: 'b.toml' }
  const ports = [{ files, env, flags: { config: 'a.toml' } }, { files, env }, { files }].map((given) => {
    const result = read(given)
    return 'config' in result && result.config.port
  })
  assert.deepEqual(ports, [1, 2, 3])
})

test('an empty variable is ignored', () => {
  assert.deepEqual(read({ env: { INCMON_PORT: '', INCMON_CONFIG: '' } }), read({}))
})

test('port 0 means any free port', () => {
  const result = read({ flags: { port: '0' } })
  assert.equal('config' in result && result.config.port, 0)
})

test('one report contains all errors in flags, variables and the file', () => {
  const faults = faultsOf({
    flags: { port: '70000' },
    env: { INCMON_PROT: '1', INCMON_HOST: 'a b', INCMON_PORT: '-1' },
    files: { 'incmon.toml': 'databse = "x"\nport = "8080"' },
  })
  assert.deepEqual(faults, [
    'INCMON_PROT: unknown variable; did you mean INCMON_PORT? choose one of ' +
      'INCMON_HOST, INCMON_PORT, INCMON_DATABASE, INCMON_LOG_LEVEL, INCMON_TLS_CERT, INCMON_TLS_KEY, INCMON_TRUSTED_PROXIES, INCMON_USER_HEADER, INCMON_USER_ORGANIZATION, INCMON_USER_SCOPES, INCMON_PATH_PREFIX, ' +
      'INCMON_MAX_CONNECTIONS, INCMON_MAX_CONNECTIONS_PER_ADDRESS, INCMON_MAX_WAITING, INCMON_LIMITS, INCMON_MIN_FREE_DISK, INCMON_PUBLIC_URL, INCMON_NOTIFY_ALLOW, INCMON_SMTP_URL, INCMON_SMTP_PASSWORD_FILE, INCMON_MAIL_FROM, INCMON_HEARTBEAT_URL, INCMON_KUBERNETES, INCMON_STOP_GRACE, INCMON_CONFIG, INCMON_URL, INCMON_TOKEN, INCMON_ORG',
    `incmon.toml: databse: unknown key; did you mean database? choose one of ${KNOWN}`,
    'INCMON_HOST: "a b" is not a host name or an address without a port',
    '--port: "70000" is not a whole number from 0 to 65535',
    'INCMON_PORT: "-1" is not a whole number from 0 to 65535',
    'incmon.toml: port: "8080" is not a whole number from 0 to 65535',
  ])
})

test('a name that resembles no known one is rejected without a guess', () => {
  assert.deepEqual(faultsOf({ files: { 'incmon.toml': 'colour_scheme = 1' } }), [
    `incmon.toml: colour_scheme: unknown key; choose one of ${KNOWN}`,
  ])
})

for (const [shown, toml] of [
  ['1.5', 'port = 1.5'],
  ['true', 'port = true'],
  ['[1]', 'port = [1]'],
  ['a table', '[port]\nnumber = 1'],
] as const) {
  test(`a port that is ${shown} is rejected`, () => {
    const [fault] = faultsOf({ files: { 'incmon.toml': toml } })
    assert.equal(fault, `incmon.toml: port: ${shown} is not a whole number from 0 to 65535`)
  })
}

test('a list is comma-separated in a flag or variable, and an array in the file', () => {
  const given = [
    { flags: { trustedProxies: '10.0.0.0/8, ::1' } },
    { env: { INCMON_TRUSTED_PROXIES: '10.0.0.0/8,::1' } },
    { files: { 'incmon.toml': 'trusted-proxies = ["10.0.0.0/8", "::1"]' } },
  ]
  for (const one of given) {
    const result = read(one)
    assert.deepEqual('config' in result && result.config['trusted-proxies'], ['10.0.0.0/8', '::1'])
  }
})

for (const [shown, toml] of [
  ['["10.0.0.0/33"]', '["10.0.0.0/33"]'],
  ['["proxy.example.com"]', '["proxy.example.com"]'],
  ['[10]', '[10]'],
  ['"10.0.0.0/8"', '"10.0.0.0/8"'],
  ['a list', JSON.stringify(Array(20).fill('10.0.0.0/33'))],
] as const) {
  test(`trusted-proxies = ${toml} is rejected`, () => {
    const [fault] = faultsOf({ files: { 'incmon.toml': `trusted-proxies = ${toml}` } })
    assert.equal(
      fault,
      `incmon.toml: trusted-proxies: ${shown} is not a list of addresses and networks such as 10.0.0.0/8; host names are not allowed`,
    )
  })
}

for (const [flag, value] of Object.entries({ logLevel: 'loud', maxWaiting: '0', stopGrace: '1m', minFreeDisk: '-1' })) {
  test(`${flag} ${value} is rejected, and the message says what is allowed`, () => {
    const [fault = ''] = faultsOf({ flags: { [flag]: value } })
    assert.match(fault, new RegExp(`^--[a-z-]+: "${value}" is not (a whole number|debug, info)`))
  })
}

for (const port of ['', ' 80', '0x50', '8e3', '80.0', 'eighty']) {
  test(`--port ${JSON.stringify(port)} is rejected`, () => {
    assert.equal(faultsOf({ flags: { port } }).length, 1)
  })
}

test('an empty database path is rejected', () => {
  assert.deepEqual(faultsOf({ flags: { database: '' } }), ['--database: "" is not the path of a file'])
})

test('a file that is not TOML is rejected with line and column, in one line', () => {
  const [fault = '', ...more] = faultsOf({ files: { 'incmon.toml': 'host = "a"\nport 8080' } })
  assert.match(fault, /^incmon\.toml:2:\d+: not TOML: .+$/)
  assert.deepEqual(more, [])
})

test('a specified file that is missing is rejected', () => {
  assert.deepEqual(faultsOf({ flags: { config: 'gone.toml' } }), [
    'gone.toml: cannot be read (ENOENT); set --config or INCMON_CONFIG to a readable TOML file',
  ])
})

test('an invalid value is reported even if a flag overrides it', () => {
  assert.equal(faultsOf({ flags: { port: '1' }, env: { INCMON_PORT: 'x' } }).length, 1)
})

test('variables of other programs are ignored', () => {
  assert.ok('config' in read({ env: { PATH: '/bin', INCMONITOR: 'x' } }))
})

test('clients read the URL and the token from the environment, if they are set', () => {
  assert.deepEqual(clientVariables({ INCMON_URL: 'http://a', INCMON_TOKEN: '' }), {
    url: 'http://a',
    token: null,
    organization: null,
  })
})

test('variables that Kubernetes sets for a Service called incmon are ignored', () => {
  const env = {
    INCMON_SERVICE_HOST: '10.0.0.1',
    INCMON_PORT: 'tcp://10.0.0.1:80',
    INCMON_PORT_80_TCP: 'tcp://10.0.0.1:80',
  }
  const read = readConfig({ flags: {}, env, readFile: () => '' })
  assert.ok('config' in read)
  assert.equal(read.config.port, 8080)
})

test("messages use the program's name as it was invoked, so that their commands can be pasted", () => {
  assert.equal(programName({ npm_lifecycle_event: 'start' }), 'npm run -s incmon --')
  assert.equal(programName({}), 'incmon')
})

test('each key has the source of its value, its variable and its allowed values', () => {
  const { settings } = readSettings({ flags: { host: 'a' }, env: { INCMON_PORT: '2' }, readFile: () => 'port = 1' })
  assert.deepEqual(settings.map(({ name, value, from, variable }) => [name, value, from, variable]).slice(0, 2), [
    ['host', 'a', '--host', 'INCMON_HOST'],
    ['port', 2, 'INCMON_PORT', 'INCMON_PORT'],
  ])
  assert.deepEqual(
    settings.map(({ name, doc, allowed, fallback }) => ({ name, doc, allowed, fallback })),
    Object.entries(KEYS).map(([name, { doc, allowed, fallback }]) => ({ name, doc, allowed, fallback })),
  )
})

test('a key with an invalid value falls back to its default, and the error is reported', () => {
  const { settings, faults } = readSettings({ flags: {}, env: { INCMON_PORT: 'x' }, readFile: () => '' })
  const port = settings.find(({ name }) => name === 'port')
  assert.deepEqual([port?.value, port?.from, faults.length], [8080, null, 1])
})
