/** incmon incident: what it lists, prints and writes to files, and which files it never overwrites. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { call, incmon, refusal } from '../helpers/cli.ts'
import { DAY, makeAlert, makeIncident, makeService, newUuid } from '../helpers/factory.ts'
import { startServer } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'

/** Creates resolved incidents with these titles for Acme, a day apart, and one each for Basil (Free) and Charlie. */
async function resolved(t: TestContext, ...titles: string[]) {
  const world = makeWorld(t)
  const { acme, basil, charlie, db, clock, request } = world
  const ids: string[] = []
  const resolve = async (of: typeof acme, title: string) => {
    const serviceId = makeService(db, of, `cart-${newUuid()}`).id
    const wanted = { title, serviceId, severity: 'error' }
    const { id } = (await request('POST', '/api/incidents', { token: of.token, body: wanted })).body
    await request('PATCH', `/api/incidents/${id}`, { token: of.token, body: { status: 'resolved' } })
    clock.now += DAY
    return id as string
  }
  for (const title of titles) ids.push(await resolve(acme, title))
  const [basils, charlies] = [await resolve(basil, 'Herbs'), await resolve(charlie, 'Secret')]
  const directory = join(temporaryDirectory(t), 'postmortems')
  const at = ['--database', db.file]
  const acmes = [...at, '--org', 'Acme']
  const run = (...args: string[]) => call('/', ['incident', ...args])
  const refuse = (...args: string[]) => refusal(['incident', ...args])
  return { ...world, ids, basils, charlies, directory, at, acmes, run, refuse }
}

suite('incident', { concurrency: 1 }, () => {
  test('list shows the incidents of one organization, newest first, as a table and as JSON', async (t) => {
    const { acmes, ids, run } = await resolved(t, 'First', 'Second')
    const [table, json] = await Promise.all([run('list', ...acmes), run('list', '--json', ...acmes)])
    assert.match(
      table.out,
      /^NUMBER +CREATED +STATUS +SEVERITY +SERVICE +TITLE +POSTMORTEM +ID\n2 +2026-03-15[^\n]+Second +yes/,
    )
    const listed = JSON.parse(json.out)
    assert.deepEqual(
      listed.map(({ id }: { id: string }) => id),
      ids.toReversed(),
    )
    assert.deepEqual([listed[0].createdAt, listed[0].key], ['2026-03-15T12:00:00.000Z', undefined])
    assert.ok(!table.out.includes('Secret'))
  })

  test('list --status filters, and prints a sentence if there are none', async (t) => {
    const { acme, acmes, db, run } = await resolved(t, 'Over')
    const open = await run('list', '--status', 'open', ...acmes)
    makeIncident(db, acme, makeService(db, acme, 'web'))
    const [some] = JSON.parse((await run('list', '--status', 'open', '--json', ...acmes)).out)
    assert.deepEqual([open.out, some.title], ['there are no open incidents\n', 'Checkout is down'])
  })

  test('the suggested command has the organization that the user named, and runs', async (t) => {
    const { acme, acmes, db, run } = await resolved(t)
    const { id } = makeIncident(db, acme, makeService(db, acme, 'web'))
    const { out } = await run('resolve', id, ...acmes)
    const [, next = ''] = /read its postmortem with "incmon incident ([^"]+)"/.exec(out) ?? []
    assert.match(next, / --org Acme /)
    assert.equal((await run(...next.split(' '))).code, 0)
  })

  test('resolve does the same as PATCH: status, actor in the timeline, and postmortem', async (t) => {
    const { acme, at, db, request, run } = await resolved(t)
    const { id } = makeIncident(db, acme, makeService(db, acme, 'web'))
    const { code, out, err } = await run('resolve', ` ${id} `, ...at)
    const { body } = await request('GET', `/api/incidents/${id}`, { token: acme.token })
    const next = `incmon incident postmortem ${body.number} --database ${db.file}`
    const printed = `resolved incident ${body.number} (Checkout is down) of shop/web\nread its postmortem with "${next}"\n`
    assert.deepEqual([code, out, err], [0, printed, ''])
    assert.deepEqual([body.status, body.acknowledgedAt, body.hasPostmortem], ['resolved', null, true])
    const { kind, text, actor } = body.timeline.at(-1)
    assert.deepEqual([kind, text, actor], ['status', 'resolved', userInfo().username])
  })

  test('resolve prints how many alerts of the incident are still firing, without failed pipelines', async (t) => {
    const { acme, at, db, run } = await resolved(t)
    const service = makeService(db, acme, 'web')
    const incident = makeIncident(db, acme, service)
    const fire = (source: 'ci' | 'metrics') => makeAlert(db, acme, service, { source, incident_id: incident.key })
    fire('metrics')
    fire('ci')
    const one = await run('resolve', incident.id, ...at)
    fire('metrics')
    const two = await run('resolve', incident.id, '--json', ...at)
    const three = await run('resolve', incident.id, ...at)
    assert.match(one.out, /^resolved .+\n1 alert is still firing: it opens no new incident until it has ended\n/)
    assert.equal(JSON.parse(two.out).firingAlerts, 2)
    assert.match(three.out, /\n2 alerts are still firing: they open no new incident until they have ended\n/)
  })

  test('resolve on the Free plan says that there is no postmortem, and why', async (t) => {
    const { at, basil, db, run } = await resolved(t)
    const { id } = makeIncident(db, basil, makeService(db, basil, 'web\u001b[2J'))
    const { code, out } = await run('resolve', id, ...at)
    const why = 'no postmortem: the Free plan does not include postmortems; change the plan to Team or Pro'
    assert.deepEqual([code, out], [0, `resolved incident 2 (Checkout is down) of shop/web�[2J\n${why}\n`])
  })

  test('resolving a resolved incident succeeds and changes nothing', async (t) => {
    const { acme, at, ids, request, run } = await resolved(t, 'Checkout')
    const [id = ''] = ids
    const look = async () => (await request('GET', `/api/incidents/${id}`, { token: acme.token })).body
    const before = await look()
    const [text, json] = [await run('resolve', id, ...at), await run('resolve', id, '--json', ...at)]
    assert.match(
      text.out,
      /^incident 1 \(Checkout\) of shop\/cart-\S+ was already resolved at 2026-03-14T12:00:00\.000Z\n/,
    )
    const { status, changed, organization } = JSON.parse(json.out)
    assert.deepEqual([text.code, json.code, status, changed, organization], [0, 0, 'resolved', false, 'Acme'])
    assert.deepEqual(await look(), before)
  })

  test('a running server immediately shows that a command resolved an incident', async (t) => {
    const { db, organization, get } = await startServer(t)
    const acme = { ...organization, key: organization.rowId }
    const { id } = makeIncident(db, acme, makeService(db, acme, 'web'))
    const before = await get(`/api/incidents/${id}`)
    assert.equal((await incmon('/', ['incident', 'resolve', id, '--database', db.file])).code, 0)
    const [after, postmortem] = [await get(`/api/incidents/${id}`), await get(`/api/incidents/${id}/postmortem`)]
    assert.deepEqual([before.status, after.status, postmortem.header.state], ['open', 'resolved', 'draft'])
    assert.deepEqual((await get('/api/incidents?status=open')).data, [])
  })

  test("postmortem prints Markdown, or with --json the API's document", async (t) => {
    const { acme, at, ids, request, run } = await resolved(t, 'Checkout')
    const [id = ''] = ids
    const [text, json] = await Promise.all([run('postmortem', id, ...at), run('postmortem', id, '--json', ...at)])
    const answer = await request('GET', `/api/incidents/${id}/postmortem`, { token: acme.token })
    assert.match(text.out, /^# Postmortem: Checkout\n\n- \*\*Lasted:\*\* /)
    assert.deepEqual([text.code, JSON.parse(json.out)], [0, answer.body])
  })

  test('export writes and names one file for each postmortem of the organization in the period', async (t) => {
    const { acmes, directory, ids, run } = await resolved(t, '../../Etc: ./pass <b>', 'Ünïcödé 火', '…')
    const some = await run('export', directory, ...acmes, '--from', '2026-03-15')
    const names = [`2026-03-15-ünïcödé-火-${ids[1]}.md`, `2026-03-16-untitled-${ids[2]}.md`]
    assert.deepEqual(readdirSync(directory).sort(), names)
    assert.match(some.out, /\nwrote 2 postmortems to \S+postmortems\n$/)
    const rest = await run('export', directory, ...acmes, '--to', '2026-03-14', '--json')
    const [file] = JSON.parse(rest.out).files
    assert.equal(file, join(directory, `2026-03-14-etc-pass-b-${ids[0]}.md`))
    assert.match(readFileSync(file, 'utf8'), /^# Postmortem: /)
  })

  test('export with --force overwrites files', async (t) => {
    const { acmes, directory, ids, run } = await resolved(t, 'x'.repeat(200))
    const file = join(directory, `2026-03-14-${'x'.repeat(100)}-${ids[0]}.md`)
    mkdirSync(directory)
    writeFileSync(file, 'mine')
    assert.equal((await run('export', directory, ...acmes, '--force')).code, 0)
    assert.match(readFileSync(file, 'utf8'), /^# Postmortem: /)
  })

  test('export says so if there are no postmortems, and writes nothing', async (t) => {
    const { at, directory, run } = await resolved(t)
    const { code, out } = await run('export', directory, ...at, '--org', 'Basil')
    assert.equal(code, 0)
    assert.match(out, /^wrote nothing: no incident of this organization in this period has a postmortem[^\n]+\n$/)
  })
})

test('export refuses to overwrite a file and writes no others', async (t) => {
  const { acmes, directory, ids, refuse } = await resolved(t, 'One', 'Two')
  mkdirSync(directory)
  const mine = join(directory, `2026-03-14-one-${ids[0]}.md`)
  writeFileSync(mine, 'mine')
  const { text, code } = await refuse('export', directory, ...acmes)
  assert.deepEqual([code, readdirSync(directory).length, readFileSync(mine, 'utf8')], [1, 1, 'mine'])
  assert.match(text, /one-\S+\.md already exists, so nothing was written: add --force, or choose another directory$/)
})

test('without a postmortem one line gives the reason: the plan, the status, or an unknown incident', async (t) => {
  const { acme, at, basils, db, refuse } = await resolved(t)
  const open = makeIncident(db, acme, makeService(db, acme, 'web')).id
  for (const [id, line] of [
    [basils, /^no postmortem: the Free plan does not include postmortems; change the plan to Team or Pro$/],
    [
      open,
      /^no postmortem yet: .+ resolved, for example with "incmon incident resolve ID --database \S+", or with PATCH \/api\/incidents\/ID and \{"status":"resolved"\}$/,
    ],
    [
      newUuid(),
      /^no incident 0190\S+: enter its number, or at least 8 characters of its id, as shown by "incmon incident list --database \S+"$/,
    ],
    [
      'cart',
      /^no incident cart: enter its number, or at least 8 characters of its id, as shown by "incmon incident list --database \S+"$/,
    ],
  ] as const) {
    const { text, code } = await refuse('postmortem', id, ...at)
    assert.match(text, line)
    assert.equal(code, 1)
  }
})

test('an incident is found by its number, by its id, and by the first or last part of its id', async (t) => {
  const { acmes, ids, run } = await resolved(t, 'First')
  const [id = ''] = ids
  const words = ['1', id, id.toUpperCase(), id.slice(0, 35), id.slice(0, 8), id.slice(-8)]
  const shown = await Promise.all(words.map((word) => run('show', word, ...acmes)))
  for (const { out } of shown) assert.match(out, /^Incident 1: First\n/)
})

test('a number that exists in several organizations requires --org', async (t) => {
  const { at, refuse } = await resolved(t, 'First')
  const { text, code } = await refuse('show', '1', ...at)
  assert.deepEqual(
    [code, text],
    [1, 'several organizations have an incident 1: choose one of Acme, Basil, Charlie with --org or INCMON_ORG'],
  )
})

for (const [command, ...more] of [
  ['show'],
  ['ack'],
  ['note', 'Seen'],
  ['edit', '--title', 'Other'],
  ['reopen'],
  ['resolve'],
  ['actions'],
  ['postmortem'],
] as const) {
  test(`INCMON_ORG chooses the incident of a number for ${command}, and --org overrides it`, async (t) => {
    const { at } = await resolved(t, 'First')
    const run = (org: string, ...args: string[]) =>
      call('/', ['incident', command, '1', ...more, ...at, ...args], { env: { INCMON_ORG: org } })
    for (const { err } of [await run('Acme'), await run('Nobody', '--org', 'Basil')]) {
      assert.doesNotMatch(err, /several organizations|Nobody/)
    }
    const { code, err } = await run('Nobody')
    assert.deepEqual([code, /^incmon: there is no organization named Nobody/.test(err)], [1, true])
  })
}

test('INCMON_ORG with another organization finds no incident and changes none', async (t) => {
  const { at, ids, request, acme } = await resolved(t, 'First')
  const [id = ''] = ids
  const { code, err } = await call('/', ['incident', 'edit', id, '--title', 'Theirs', ...at], {
    env: { INCMON_ORG: 'Charlie' },
  })
  assert.deepEqual([code, err.startsWith(`incmon: no incident ${id} in Charlie: enter its number`)], [1, true])
  const { body } = await request('GET', `/api/incidents/${id}`, { token: acme.token })
  assert.equal(body.title, 'First')
})

test('the second number of a merge belongs to the organization of the first', async (t) => {
  const { at, ids, basils, charlies, refuse } = await resolved(t, 'First')
  const { text } = await refuse('merge', basils, '1', ...at)
  assert.doesNotMatch(text, /several organizations/)
  const { text: other, code } = await refuse('merge', ids[0] ?? '', charlies, ...at)
  assert.deepEqual([code, other.startsWith(`no incident ${charlies} in Acme`)], [1, true])
})

test('a partial id that is too short or ambiguous is rejected', async (t) => {
  const { acmes, ids, refuse } = await resolved(t, 'First', 'Second')
  const [first = ''] = ids
  const short = await refuse('show', `${first.slice(0, 6)}`.replace(/^\d+$/, 'abcdef'), ...acmes)
  const several = await refuse('show', first.slice(0, 8), ...acmes)
  assert.match(short.text, /is too short: enter its number, or at least 8 characters of its id/)
  assert.match(
    several.text,
    /^.+ matches the ids of several incidents: enter the last characters of one id, such as [0-9a-f]{8}, [0-9a-f]{8}$/,
  )
})

test('--org with another organization does not find an incident', async (t) => {
  const { at, ids, refuse } = await resolved(t, 'First')
  const { text } = await refuse('show', ids[0] ?? '', ...at, '--org', 'Charlie')
  assert.match(text, /^no incident /)
})

test('an unknown incident cannot be resolved', async (t) => {
  const { at, db, refuse } = await resolved(t)
  for (const id of [newUuid(), 'cart']) {
    const { text, code } = await refuse('resolve', id, ...at)
    const line = `no incident ${id}: enter its number, or at least 8 characters of its id, as shown by "incmon incident list --database ${db.file}"`
    assert.deepEqual([code, text], [1, line])
  }
})

for (const [args, line] of [
  ['list --status closed', /choose one of open, investigating, identified, monitoring, resolved/],
  ['export out --from yesterday', /^--from: yesterday is not a time: use a time such as 2026-03-14/],
  ['export out --to 2026-02-30', /^--to: 2026-02-30 is not a time/],
  ['export out --from 2026-03-15 --to 2026-03-13', /^--from is later than --to: swap the two values$/],
  ['export', /^<dir> is missing: run /],
  ['postmortem', /^<id> is missing: run /],
  ['resolve', /^<id> is missing: run /],
] as const) {
  test(`wrong usage, exit code 2: incmon incident ${args}`, async (t) => {
    const { text, code } = await refusal(['incident', ...args.split(' '), '--database', makeWorld(t).db.file])
    assert.match(text, line)
    assert.equal(code, 2)
  })
}
