/** /api/incidents/:id/postmortem: created once, completed by people, never overwritten, and safe. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queryOf } from '../../src/domain/graph/graph.ts'
import { saveGraph } from '../../src/store/incident/graphs.ts'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, makeAlert, makeIncident, makeService, NOON, newUuid } from '../helpers/factory.ts'
import { alert, alertmanager, crashLoop } from '../helpers/senders.ts'

const MARKDOWN = { Accept: 'text/markdown' }

/**
 * Creates an incident of Acme's cart with one alert, half an hour old. `move` sets its status, `edit` edits the
 * postmortem.
 */
function acmesIncident(t: Parameters<typeof makeWorld>[0]) {
  const world = makeWorld(t)
  const { db, acme, clock, request } = world
  const token = acme.token
  const cart = makeService(db, acme, 'cart')
  const incident = makeIncident(db, acme, cart)
  makeAlert(db, acme, cart, { incident_id: incident.key, severity: 'critical' })
  clock.now = NOON + 30 * MINUTE
  const path = `/api/incidents/${incident.id}`
  const move = (status: string) => request('PATCH', path, { token, body: { status } })
  const read = (headers: Record<string, string> = {}) => request('GET', `${path}/postmortem`, { token, headers })
  const edit = (body: unknown) => request('PATCH', `${path}/postmortem`, { token, body })
  const revisions = () => db.all(db.sql.selectFrom('postmortems').select('revision')).map(({ revision }) => revision)
  return { ...world, token, cart, incident, path, move, read, edit, revisions }
}

test('a resolved incident has a postmortem with every section', async (t) => {
  const { move, read } = acmesIncident(t)
  const moved = await move('resolved')
  const { status, body } = await read()
  assert.deepEqual([status, moved.body.hasPostmortem], [200, true])
  assert.equal(
    Object.keys(body).join(' '),
    'header summary impact detection timeline contributing rootCause resolution metrics lessons actions recurrence evidence',
  )
  assert.deepEqual([body.header.state, body.header.revision, body.metrics.ttr.seconds], ['draft', 1, 1800])
})

for (const [accept, type] of [
  ['text/markdown', 'text/markdown; charset=utf-8'],
  ['text/markdown;q=0.9, application/json;q=0.1', 'text/markdown; charset=utf-8'],
  ['application/json, text/markdown;q=0.5', 'application/json'],
  ['text/markdown;q=0', 'application/json'],
  ['text/html', 'application/json'],
  ['*/*', 'application/json'],
] as const) {
  test(`Accept: ${accept} gets ${type}`, async (t) => {
    const { move, read } = acmesIncident(t)
    await move('resolved')
    const { headers, text } = await read({ Accept: accept })
    assert.deepEqual([headers.get('content-type'), headers.get('vary')], [type, 'Accept'])
    assert.match(text, type === 'application/json' ? /^\{/ : /^# Postmortem: Checkout is down\n/)
  })
}

test('the Markdown has the graph of the incident, which Charlie cannot see', async (t) => {
  const { db, incident, move, read, path, request, charlie } = acmesIncident(t)
  await move('resolved')
  assert.doesNotMatch((await read(MARKDOWN)).text, /## Graph/)
  const graph = { ...queryOf('x > 5', NOON, NOON), series: [{ name: 'a', points: [[NOON, 7] as const] }], more: 0 }
  saveGraph(db, { incidentId: incident.key, alertId: newUuid(), at: NOON }, graph)
  assert.match(
    (await read(MARKDOWN)).text,
    /\n## Graph\n\nThe values of x > 5 in .*\n\n.*\n.*\n\| a \| `·+▁·*` \| 7 \|/,
  )
  const other = await request('GET', `${path}/postmortem`, { token: charlie.token, headers: MARKDOWN })
  assert.deepEqual([other.status, /Graph/.test(other.text)], [404, false])
})

test('fifty parallel resolves create one postmortem', async (t) => {
  const { move, revisions } = acmesIncident(t)
  const answers = await Promise.all(Array.from({ length: 50 }, () => move('resolved')))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.deepEqual(revisions(), [1])
})

test('resolving twice changes nothing the second time', async (t) => {
  const { clock, move, read, revisions } = acmesIncident(t)
  const first = await move('resolved')
  const made = await read()
  clock.now += MINUTE
  assert.deepEqual((await move('resolved')).body, first.body)
  assert.deepEqual([revisions(), (await read()).text], [[1], made.text])
})

test('edits by people are kept in the next revision and in the Markdown', async (t) => {
  const { move, read, edit, revisions } = acmesIncident(t)
  await move('resolved')
  await edit({ summary: 'We ran out of disk.', lessons: { lucky: 'It was noon.' }, state: 'final' })
  await edit({ state: 'draft' })
  await edit({ actions: [{ id: 'own-1', text: 'Buy disks', owner: 'Ada', due: '2026-03-31' }] })
  await move('investigating')
  await move('resolved')
  const { body } = await read()
  assert.deepEqual([revisions(), body.header.revision, body.header.state], [[1, 2], 2, 'draft'])
  assert.deepEqual([body.summary.addition, body.lessons.lucky], ['We ran out of disk.', 'It was noon.'])
  assert.match((await read(MARKDOWN)).text, /We ran out of disk\.[\s\S]+Buy disks[^\n]+Ada/)
})

test('null removes an edit, an omitted field keeps it', async (t) => {
  const { move, edit } = acmesIncident(t)
  await move('resolved')
  await edit({ rootCause: 'Disk', summary: 'Full' })
  const { body } = await edit({ rootCause: null })
  assert.deepEqual([body.rootCause.text, body.summary.addition], [null, 'Full'])
})

test('a final postmortem refuses edits and says what to do', async (t) => {
  const { move, read, edit } = acmesIncident(t)
  await move('resolved')
  await edit({ summary: 'Ours', state: 'final' })
  const refused = await edit({ summary: 'Mine' })
  assert.equal(refused.status, 409)
  assert.match(refused.body.detail, /is final; set state to draft/)
  assert.equal((await read()).body.summary.addition, 'Ours')
  assert.equal((await edit({ state: 'draft', summary: 'Mine' })).body.summary.addition, 'Mine')
})

for (const [edits, field] of [
  [{ state: 'done' }, 'state'],
  [{ summary: 7 }, 'summary'],
  [{ summary: 'x'.repeat(65_537) }, 'summary'],
  [{ lessons: 'none' }, 'lessons'],
  [{ actions: [{ id: 'own-1' }] }, 'actions[0].text'],
  [{ actions: [{ id: 'own-1', text: 'x', due: '2026-02-30' }] }, 'actions[0].due'],
  [{ actions: [{ id: 'own-1', text: 'x', state: 'finished' }] }, 'actions[0].state'],
  [{ actions: Array.from({ length: 101 }, (_, i) => ({ id: `${i}`, text: 'x' })) }, 'actions'],
] as const) {
  test(`${JSON.stringify(edits).slice(0, 60)} is refused and the answer names ${field}`, async (t) => {
    const { move, edit } = acmesIncident(t)
    await move('resolved')
    const { status, body } = await edit(edits)
    assert.deepEqual([status, body.errors[0].path], [400, field])
  })
}

test('generated sections cannot be edited', async (t) => {
  const { move, read, edit } = acmesIncident(t)
  await move('resolved')
  const before = await read()
  await edit({ header: { title: 'Mine' }, metrics: null, timeline: [], resolution: { sentences: [] } })
  assert.equal((await read()).text, before.text)
})

test('the number of an incident in the path is refused, and the error says how to find its id', async (t) => {
  const { acme, request } = makeWorld(t)
  const { status, body } = await request('GET', '/api/incidents/1/postmortem', { token: acme.token })
  assert.deepEqual(
    [status, /; 1 is an incident number, but the path requires the id; GET \/api\/incidents lists/.test(body.detail)],
    [404, true],
  )
})

test('the Free plan has no postmortem, and the error says what to do', async (t) => {
  const { basil, db, request } = makeWorld(t)
  const path = `/api/incidents/${makeIncident(db, basil, makeService(db, basil, 'herbs')).id}`
  const resolved = await request('PATCH', path, { token: basil.token, body: { status: 'resolved' } })
  const { status, body } = await request('GET', `${path}/postmortem`, { token: basil.token, headers: MARKDOWN })
  assert.deepEqual([resolved.body.hasPostmortem, status], [false, 404])
  assert.match(body.detail, /the Free plan does not include postmortems; change the plan to Team or Pro/)
})

test('an incident resolved without a postmortem gets one after it is reopened and resolved', async (t) => {
  const { acme, cart, db, request, token } = acmesIncident(t)
  const { id } = makeIncident(db, acme, cart, { status: 'resolved', resolved_at: NOON + MINUTE })
  const path = `/api/incidents/${id}`
  const none = await request('GET', `${path}/postmortem`, { token })
  assert.match(none.body.detail, /reopen the incident and resolve it again/)
  for (const status of ['open', 'resolved']) {
    assert.equal((await request('PATCH', path, { token, body: { status } })).status, 200)
  }
  assert.equal((await request('GET', `${path}/postmortem`, { token })).body.header.revision, 1)
})

test('Charlie can neither read nor edit it and gets the same 404 as for an unknown ID', async (t) => {
  const { charlie, move, read, path, request } = acmesIncident(t)
  await move('resolved')
  const before = await read()
  const sent = { token: charlie.token, body: { summary: 'Charlie was here' } }
  const missing = await request('GET', `/api/incidents/${newUuid()}/postmortem`, { token: charlie.token })
  for (const method of ['GET', 'PATCH']) {
    const { status, text } = await request(
      method,
      `${path}/postmortem`,
      method === 'GET' ? { token: sent.token } : sent,
    )
    assert.deepEqual([status, text], [404, missing.text])
  }
  assert.equal((await read()).text, before.text)
})

test('scripts in titles, labels, notes and edits are escaped in the Markdown', async (t) => {
  const { acme, request } = makeWorld(t)
  const token = acme.token
  const attack = '<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) `code` | cell'
  const hostile = alert('Down', { service: 'cart', note: attack }, { startsAt: NOON, summary: attack })
  await request('POST', '/api/webhooks/metrics', { token, body: alertmanager([hostile]) })
  const [{ id }] = (await request('GET', '/api/incidents', { token })).body.data
  await request('POST', `/api/incidents/${id}/notes`, { token, body: { text: attack } })
  await request('PATCH', `/api/incidents/${id}`, { token, body: { title: attack, status: 'resolved' } })
  await request('PATCH', `/api/incidents/${id}/postmortem`, { token, body: { rootCause: attack, summary: attack } })
  const { text } = await request('GET', `/api/incidents/${id}/postmortem`, { token, headers: MARKDOWN })
  assert.ok(text.split('alert(1)').length > 6, 'what people wrote is still to be read')
  assert.doesNotMatch(text, /(?<!\\)<(?!https?:)|(?<!\\)\]\(<?javascript|(?<!\\)\[x/)
})

for (const [name, texts, first] of [
  ['the text of the first event is the first symptom', ['5 % fail', '40 % fail'], '5 % fail'],
  ['a third text does not replace the first', ['a: 1', 'b: 2', 'c: 3'], 'a: 1'],
  ['a text that returns is still the first', ['5 %', '40 %', '5 %'], '5 %'],
] as const) {
  test(`postmortem: ${name}`, async (t) => {
    const { request, acme, clock } = makeWorld(t)
    const token = acme.token
    for (const [index, summary] of texts.entries()) {
      clock.now = NOON + index * MINUTE
      const body = alertmanager([alert('Errors', { service: 'cart' }, { startsAt: NOON - MINUTE, summary })])
      await request('POST', '/api/webhooks/metrics', { token, body })
    }
    const { data } = (await request('GET', '/api/incidents', { token })).body
    const path = `/api/incidents/${data[0].id}`
    await request('PATCH', path, { token, body: { status: 'resolved' } })
    const { body } = await request('GET', `${path}/postmortem`, { token })
    const rows = body.timeline.filter(({ text }: { text: string }) => text.startsWith('Errors:'))
    assert.match(JSON.stringify(body.summary), new RegExp(`The first symptom was Errors: “${first}”`))
    assert.deepEqual(
      rows.map(({ text }: { text: string }) => text),
      [`Errors: ${first}`],
    )
  })
}

for (const [name, statuses, tta] of [
  ['that was reopened keeps', ['investigating', 'resolved', 'open', 'resolved'], 60],
  ['that was reopened as investigating keeps', ['investigating', 'resolved', 'investigating', 'resolved'], 60],
  ['that a person only resolved has no', ['resolved', 'open', 'resolved'], null],
] as const) {
  test(`an incident ${name} time to acknowledge`, async (t) => {
    const { clock, incident, move, read, db } = acmesIncident(t)
    const [{ created_at: createdAt = 0 } = {}] = db.all(db.sql.selectFrom('incidents').select('created_at'))
    assert.ok(incident)
    for (const [index, status] of statuses.entries()) {
      clock.now = createdAt + (index + 1) * MINUTE
      await move(status)
    }
    assert.equal((await read()).body.metrics.tta.seconds, tta)
  })
}

test('of reports that arrive late and in reverse order, the first that arrived counts, and one in time is not late', async (t) => {
  for (const [minutes, told] of [
    [[20, 21], true],
    [[4, 21], false],
  ] as const) {
    const { acme, clock, deps, request } = makeWorld(t)
    const { token } = acme
    for (const [index, minute] of minutes.entries()) {
      clock.now = NOON + minute * MINUTE
      const [at, count] = index === 0 ? [NOON + 4 * MINUTE, 23] : [NOON, 1]
      const body = crashLoop('cart-5d4f8c7b9-x2kqp', { at, since: NOON, count })
      await request('POST', '/api/webhooks/cluster', { token, body })
      clock.now += MINUTE
      while (await deps.engine.sweep());
    }
    const [incident] = (await request('GET', '/api/incidents', { token })).body.data
    const path = `/api/incidents/${incident.id}`
    await request('PATCH', path, { token, body: { status: 'resolved' } })
    const { text } = await request('GET', `${path}/postmortem`, { token, headers: { Accept: 'text/markdown' } })
    const late = /The first report of CrashLoopBackOff arrived only at 2026-03-14 12:20:00 UTC/
    assert.equal(late.test(text), told, text)
    if (!told) assert.doesNotMatch(text, /arrived only/)
  }
})
