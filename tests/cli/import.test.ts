/** incmon import: the channels and silences of an Alertmanager. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { planImport } from '../../src/cli/import/alertmanager-file.ts'
import { startAlertmanager, withoutAlertmanager } from '../helpers/alertmanager.ts'
import { call, refusal } from '../helpers/cli.ts'
import { makeOrganization } from '../helpers/factory.ts'
import { newStore, temporaryDirectory } from '../helpers/store.ts'

const HOOK = 'https://hooks.slack.com/services/T000/B000/XXXX'
const FILE = `global:
  slack_api_url: ${HOOK}
  smtp_smarthost: mail:587
route:
  receiver: ops
  group_by: [alertname]
  routes:
    - receiver: oncall
      matchers: ['severity="critical"', 'team="shop"']
      mute_time_intervals: [night]
    - receiver: shop
      match_re: {namespace: shop|pay}
      routes:
        - matchers: [severity=~"critical|warning"]
          receiver: mail
receivers:
  - name: ops
    webhook_configs: [{url: https://example.com/hook}]
  - name: oncall
    slack_configs: [{channel: '#oncall'}]
    pagerduty_configs: [{routing_key: x}]
  - name: shop
    discord_configs: [{webhook_url: https://discord.com/api/webhooks/1/x}]
    telegram_configs: [{bot_token_file: /token, chat_id: 1}]
  - name: mail
    email_configs: [{to: a@example.com}]
  - name: unused
    webhook_configs: [{url: https://example.com/unused}]
inhibit_rules: []
time_intervals:
  - name: night
    time_intervals: [{times: [{start_time: '22:00', end_time: '24:00'}], weekdays: ['saturday:sunday'], location: Europe/Berlin}]
  - name: monthly
    time_intervals: [{days_of_month: ['1']}]
`

const SHOP_TEAM = { name: 'team', op: '=', value: 'shop' }
const NAMESPACES = { name: 'namespace', op: '=~', value: 'shop|pay' }

function start(t: TestContext, file = FILE) {
  const cwd = temporaryDirectory(t)
  const db = newStore(join(cwd, 'incmon.db'))
  makeOrganization(db, 'Acme', 'Team')
  db.close()
  writeFileSync(join(cwd, 'alertmanager.yml'), file)
  return { cwd, run: (...args: string[]) => call(cwd, ['import', ...args]) }
}

test('receivers become channels with the rules of their routes', () => {
  const quietHours = { from: '22:00', to: '00:00', timeZone: 'Europe/Berlin', weekdays: ['sunday', 'saturday'] }
  assert.deepEqual(planImport(FILE).channels, [
    { name: 'ops', kind: 'webhook', url: 'https://example.com/hook', rules: [] },
    {
      name: 'oncall',
      kind: 'slack',
      url: HOOK,
      rules: [{ minSeverity: 'critical', matchers: [SHOP_TEAM], quietHours }],
    },
    {
      name: 'shop',
      kind: 'discord',
      url: 'https://discord.com/api/webhooks/1/x',
      rules: [{ matchers: [NAMESPACES] }],
    },
    {
      name: 'mail',
      kind: 'mail',
      to: 'a@example.com',
      rules: [{ matchers: [NAMESPACES], minSeverity: 'warning' }],
    },
  ])
})

for (const [matcher, rule] of [
  ['severity="critical"', { minSeverity: 'critical' }],
  ['severity=~"warning|critical"', { minSeverity: 'warning' }],
  ['severity="warning"', { matchers: [{ name: 'severity', op: '=', value: 'warning' }] }],
  ['severity!="critical"', { matchers: [{ name: 'severity', op: '!=', value: 'critical' }] }],
  ['severity=~"crit.*"', { matchers: [{ name: 'severity', op: '=~', value: 'crit.*' }] }],
] as const) {
  test(`the matcher ${matcher} becomes ${JSON.stringify(rule)}`, () => {
    const file = `route: {receiver: a, matchers: ['${matcher}']}\nreceivers: [{name: a, webhook_configs: [{url: 'https://a'}]}]`
    assert.deepEqual(planImport(file).channels[0]?.rules, [rule])
  })
}

for (const [line, text] of [
  [3, /^smtp_smarthost was not imported: set smtp-url/],
  [5, /^the receiver ops also gets the alerts that its routes send to other receivers$/],
  [6, /^group_by was not imported/],
  [21, /^pagerduty_configs of the receiver oncall was not imported: incmon has no such channel$/],
  [24, /^telegram_configs of the receiver shop was not imported: bot_token is missing or is read from a file/],
  [27, /^the receiver unused was not imported: no route leads to it$/],
  [29, /^inhibit_rules was not imported/],
  [33, /^the time interval monthly was not imported: quiet hours have no days_of_month$/],
] as const) {
  test(`line ${line} of the example is reported`, () => {
    const { notes } = planImport(FILE)
    assert.ok(
      notes.some((note) => note.line === line && text.test(note.text)),
      JSON.stringify(notes),
    )
  })
}

test('a receiver that sends the alerts to incmon becomes no channel', () => {
  const own = 'webhook_configs: [{url: http://127.0.0.1:8080/api/webhooks/metrics}]'
  const { channels, notes } = planImport(`route: {receiver: incmon}\nreceivers: [{name: incmon, ${own}}]`)
  assert.deepEqual(channels, [])
  assert.match(notes[0]?.text ?? '', /^the receiver incmon was not imported: it sends the alerts to incmon$/)
})

test('routes to receivers that become no channel are not mentioned', () => {
  const route = 'route: {receiver: default, group_by: [alertname], routes: [{receiver: default, repeat_interval: 2m}]}'
  assert.deepEqual(planImport(`${route}\nreceivers: [{name: default}]`), { channels: [], notes: [] })
  const imported = planImport(`${route}\nreceivers: [{name: default, slack_configs: [{api_url: https://a.example}]}]`)
  assert.equal(imported.notes.length, 3)
})

test('one channel, and one line that was not imported', async (t) => {
  const { run } = start(t, 'route: { receiver: ops }\nreceivers:\n  - name: ops\n    opsgenie_configs: [{}]\n')
  const { out } = await run('--alertmanager', 'alertmanager.yml')
  assert.match(out, /^imported: 0 of 0 channels; 1 line was not imported completely$/m)
})

test('a byte order mark is left out', async (t) => {
  const { run, cwd } = start(t, `\u{feff}${FILE}`)
  assert.match((await run('--alertmanager', 'alertmanager.yml')).out, /^imported: /m)
  const times = { startsAt: new Date().toISOString(), endsAt: new Date(Date.now() + 3_600_000).toISOString() }
  const silence = { matchers: [{ name: 'a', value: 'b', isRegex: false }], createdBy: 'me', comment: 'x', ...times }
  writeFileSync(join(cwd, 'silences.json'), `\u{feff}${JSON.stringify([{ id: 'x', ...silence }])}`)
  assert.match((await run('--silences', 'silences.json')).out, /^imported: 1 silence; /)
  writeFileSync(join(cwd, 'silences.json'), '\u{feff}\u{feff}[]')
  assert.equal((await run('--silences', 'silences.json')).code, 1)
})

test('the command adds the channels once, and lists what it did not import', async (t) => {
  const { run, cwd } = start(t)
  const first = await run('--alertmanager', 'alertmanager.yml')
  assert.equal(first.code, 0, first.err)
  assert.match(first.out, /^channel oncall: added$/m)
  assert.match(first.out, /^alertmanager.yml:21: pagerduty_configs of the receiver oncall/m)
  assert.match(first.out, /^imported: 3 of 4 channels; \d+ lines were not imported completely/m)
  assert.match(
    (await run('--alertmanager', 'alertmanager.yml')).out,
    /^channel oncall: exists already and was not changed$/m,
  )
  const { out } = await call(cwd, ['channel', 'list', '--json'])
  assert.equal(JSON.parse(out).length, 3)
})

for (const [what, text, message] of [
  ['is not YAML', 'route: [', /alertmanager.yml: /],
  [
    'is another file',
    'scrape_configs: []',
    /expected the configuration of an Alertmanager, with "route" and "receivers"/,
  ],
  ['is a list', '- 1', /expected the configuration of an Alertmanager/],
  ['is empty', '', /expected the configuration of an Alertmanager/],
] as const) {
  test(`a file that ${what} is refused`, async (t) => {
    const { err, code } = await start(t, text).run('--alertmanager', 'alertmanager.yml')
    assert.equal(code, 1)
    assert.match(err, message)
  })
}

for (const text of [
  'route: 7\nreceivers: x',
  'route: {receiver: a, routes: [null, 7], matchers: [7, "(("]}\nreceivers: [null, {name: a, webhook_configs: [null]}]',
  'route: {receiver: a, mute_time_intervals: [x]}\nreceivers: [{name: a}]\ntime_intervals: [{name: x, time_intervals: 7}]',
  '__proto__: {a: 1}\nroute: {receiver: constructor}\nreceivers: [{name: constructor, __proto__: [1]}]',
]) {
  test(`${JSON.stringify(text).slice(0, 40)} plans no channel`, () => assert.deepEqual(planImport(text).channels, []))
}

test('nothing to import is refused', async () => {
  assert.match((await refusal(['import'])).text, /specify what to import/)
})

test('silences are imported from a running Alertmanager once', { skip: withoutAlertmanager }, async (t) => {
  const { run, cwd } = start(t)
  const { url } = await startAlertmanager(t, cwd, 'route: {receiver: a}\nreceivers: [{name: a}]')
  const silence = { matchers: [{ name: 'a', value: 'b', isRegex: false }], createdBy: 'me', comment: 'x' }
  const times = { startsAt: new Date().toISOString(), endsAt: new Date(Date.now() + 3_600_000).toISOString() }
  const headers = { 'Content-Type': 'application/json' }
  await fetch(`${url}/api/v2/silences`, { method: 'POST', headers, body: JSON.stringify({ ...silence, ...times }) })
  assert.match((await run('--silences', url)).out, /^imported: 1 silence; /)
  assert.match((await run('--silences', `${url}/`)).out, /^imported: 0 silences; .*: 1$/m)
  assert.match((await run('--silences', 'http://127.0.0.1:9')).err, /cannot be reached/)
})
