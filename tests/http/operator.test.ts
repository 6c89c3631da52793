/**
 * Operators: what is possible only over the Unix socket or within the program, and that no header makes anyone an
 * operator.
 */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createApp } from '../../src/app.ts'
import { programVersion } from '../../src/assets.ts'
import type { Access } from '../../src/http/route.ts'
import { readHere } from '../../src/store/read.ts'
import { makeWorld } from '../helpers/app.ts'
import { DAY, makeEvent, makeIncident, makeService, NOON, newUuid } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

type Sent = { readonly headers?: Record<string, string>; readonly body?: unknown }
const OPERATES = { 'X-Incmon-Organization': 'Acme', 'X-Incmon-Actor': 'root' }

/** Creates the organizations and the application as operators access it. */
function asOperator(t: TestContext, access: Access = 'socket') {
  const world = makeWorld(t)
  const { deps, server } = world
  const app = createApp(deps, readHere(deps.db), server, access)
  const operate = async (method: string, path: string, { headers = {}, body }: Sent = {}) => {
    // Sent as bytes, so that no Content-Type is added.
    const sent = body === undefined ? {} : { body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }
    const response = await app.request(path, { method, headers, ...sent })
    const text = await response.text()
    // biome-ignore lint/suspicious/noExplicitAny: tests look into what they were answered
    const read = (): any =>
      response.headers.get('content-type')?.includes('ndjson') ? null : JSON.parse(text || 'null')
    return { status: response.status, text, body: read() }
  }
  const ofAcme = { 'X-Incmon-Organization': 'Acme' }
  return { ...world, operate, ofAcme }
}

test('an operator needs no token and acts under the login name', async (t) => {
  const { db, acme, operate } = asOperator(t)
  const { id } = makeIncident(db, acme, makeService(db, acme, 'cart'))
  const headers = { 'X-Incmon-Organization': 'Acme', 'X-Incmon-Actor': Buffer.from('jürgen').toString('latin1') }
  const { status, body } = await operate('POST', `/api/incidents/${id}/notes`, { headers, body: { text: 'hello' } })
  assert.deepEqual([status, body.timeline.at(-1).actor], [201, 'jürgen'])
})

for (const name of ['Acme', 'id'] as const) {
  test(`an operator names the organization by its ${name === 'id' ? 'id' : 'name'}`, async (t) => {
    const { db, acme, operate } = asOperator(t)
    makeService(db, acme, 'cart')
    const headers = { 'X-Incmon-Organization': name === 'id' ? acme.id : name }
    assert.equal((await operate('GET', '/api/services', { headers })).body.length, 1)
    assert.deepEqual(
      (await operate('GET', '/api/services', { headers: { 'X-Incmon-Organization': 'Charlie' } })).body,
      [],
    )
  })
}

test('without a known organization, the error lists all organizations', async (t) => {
  const { operate } = asOperator(t)
  const none = await operate('GET', '/api/services')
  const unknown = await operate('GET', '/api/services', { headers: { 'X-Incmon-Organization': 'Nobody' } })
  assert.deepEqual([none.status, unknown.status], [400, 400])
  assert.match(none.body.detail, /^set the X-Incmon-Organization header to one of Acme, Basil, Ch/)
  assert.match(unknown.body.detail, /^there is no organization named Nobody: choose one of Acme, Basil, Charlie/)
})

test('the operator’s cluster becomes the cluster of the events', async (t) => {
  const { operate, ofAcme } = asOperator(t)
  const body = alertmanager([alert('Slow', { service: 'cart' }, { startsAt: NOON })])
  await operate('POST', '/api/webhooks/metrics', { headers: { ...ofAcme, 'X-Incmon-Cluster': 'west' }, body })
  assert.equal((await operate('GET', '/api/services', { headers: ofAcme })).body[0].cluster, 'west')
})

for (const header of ['X-Forwarded-For', 'Forwarded', 'Via', 'Origin', 'X-Real-IP']) {
  test(`a request with ${header} came through a proxy or browser and is refused`, async (t) => {
    const { operate, ofAcme } = asOperator(t)
    for (const path of ['/api/services', '/operator/organizations']) {
      const { status, body } = await operate('GET', path, { headers: { ...ofAcme, [header]: 'x' } })
      assert.equal(status, 403)
      assert.match(
        body.detail,
        /the Unix socket accepts only commands on this machine.+send it to the port of the server/,
      )
    }
  })
}

const OPERATOR_PATHS = [
  ['GET', '/operator/server'],
  ['GET', '/operator/organizations'],
  ['POST', '/operator/organizations'],
  ['PATCH', `/operator/organizations/${newUuid()}`],
  ['POST', '/operator/prune'],
] as const

for (const [method, path] of OPERATOR_PATHS) {
  test(`${method} ${path.replace(/[0-9a-f-]{36}/, ':id')} does not exist over the network, whatever the headers`, async (t) => {
    const { request, acme, charlie } = asOperator(t)
    const missing = await request('GET', '/no/such/path')
    for (const token of [acme.token, charlie.token]) {
      const answer = await request(method, path, {
        token,
        headers: OPERATES,
        ...(method === 'GET' ? {} : { body: {} }),
      })
      assert.deepEqual([answer.status, answer.body], [404, missing.body])
    }
  })
}

test('over the network, operator headers have no effect', async (t) => {
  const { db, acme, charlie, request } = asOperator(t)
  const { id } = makeIncident(db, acme, makeService(db, acme, 'cart'))
  const without = await request('GET', '/api/services', { headers: OPERATES })
  const charlies = await request('GET', '/api/services', { token: charlie.token, headers: OPERATES })
  const foreign = await request('GET', `/api/incidents/${id}`, { token: charlie.token, headers: OPERATES })
  assert.deepEqual([without.status, charlies.body, foreign.status], [401, [], 404])
})

test('creates, lists and changes organizations', async (t) => {
  const { operate } = asOperator(t)
  const made = await operate('POST', '/operator/organizations', { body: { name: ' Dora ' } })
  const changed = await operate('PATCH', `/operator/organizations/${made.body.id}`, { body: { plan: 'Team' } })
  const listed = await operate('GET', '/operator/organizations')
  assert.deepEqual([made.status, made.body.name, made.body.plan], [201, 'Dora', 'Free'])
  assert.deepEqual([changed.status, changed.body.plan], [200, 'Team'])
  const names = listed.body.map(({ name }: { name: string }) => name)
  assert.deepEqual(names, ['Acme', 'Basil', 'Charlie', 'Dora'])
})

for (const [what, method, path, body, status, detail] of [
  ['a name that is taken', 'POST', '/operator/organizations', { name: 'Acme' }, 409, /Acme already exists/],
  ['a name with an escape', 'POST', '/operator/organizations', { name: 'x\u001b[2J' }, 400, /control characters/],
  ['an empty name', 'POST', '/operator/organizations', { name: ' ' }, 400, /^body: name: empty/],
  [
    'no such plan',
    'POST',
    '/operator/organizations',
    { name: 'x', plan: 'Gold' },
    400,
    /expected one of Free, Team, Pro/,
  ],
  [
    'no such organization',
    'PATCH',
    `/operator/organizations/${newUuid()}`,
    { plan: 'Pro' },
    404,
    /no such organization/,
  ],
  ['an unknown organization', 'POST', '/operator/prune', { organizationId: newUuid() }, 404, /no such organization/],
  ['no JSON', 'POST', '/operator/prune', '{', 400, /JSON/],
  [
    'another method',
    'DELETE',
    '/operator/organizations',
    undefined,
    405,
    /does not support DELETE; use GET, HEAD, POST/,
  ],
] as const) {
  test(`an operator cannot use ${what}`, async (t) => {
    const { operate } = asOperator(t)
    const answer = await operate(method, path, { body })
    assert.equal(answer.status, status)
    assert.match(answer.body.detail, detail)
  })
}

test('the server reports its program, its version and where it listens', async (t) => {
  const { db, operate } = asOperator(t)
  const { body } = await operate('GET', '/operator/server')
  const server = { program: 'incmon', version: programVersion(), database: db.file, listening: null }
  assert.deepEqual(body, { ...server, refusedSenders: { newest: [], more: 0 } })
})

test('an incident is found by its number and by the start of its id, with its organization', async (t) => {
  const { db, acme, charlie, operate } = asOperator(t)
  const { id } = makeIncident(db, acme, makeService(db, acme, 'cart'))
  const other = makeIncident(db, charlie, makeService(db, charlie, 'cart')).id
  const found = await operate('GET', '/operator/incidents/1')
  const prefix = await operate('GET', `/operator/incidents/${id.replaceAll('-', '').slice(0, 30)}`)
  const names = (body: { id: string; organization: { name: string } }[]) =>
    body.map((one) => [one.id, one.organization.name])
  assert.deepEqual(names(found.body), [
    [id, 'Acme'],
    [other, 'Charlie'],
  ])
  assert.ok(names(prefix.body).some(([one]) => one === id))
})

for (const word of ['2', '0190000', 'x', '0190000g', '%00', '00000000-0000-0000-0000-0000000000000']) {
  test(`${word} finds no incident, alert or silence`, async (t) => {
    const { db, acme, operate } = asOperator(t)
    makeIncident(db, acme, makeService(db, acme, 'cart'))
    for (const noun of ['incidents', 'alerts', 'silences']) {
      const { status, body } = await operate('GET', `/operator/${noun}/${word}`)
      assert.deepEqual([status, body], [200, []])
    }
  })
}

test('pruning reports each step, the deleted records and the end', async (t) => {
  const { db, acme, operate } = asOperator(t)
  for (const at of [NOON - 40 * DAY, NOON, NOON]) makeEvent(db, acme, { at, received_at: at })
  const { text } = await operate('POST', '/operator/prune', { body: { organizationId: acme.id } })
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const outcome = lines.find((line) => line.outcome)?.outcome
  assert.deepEqual([outcome.organization, outcome.deleted.events, outcome.waits], ['Acme', 1, null])
  assert.ok(lines.some((line) => line.progress?.organization === 'Acme'))
  assert.deepEqual(lines.at(-1), { done: true })
})

test('pruning stops if the client disconnects, and the next request continues', async (t) => {
  const { deps, db, acme, server, operate } = asOperator(t)
  for (let old = 0; old < 500; old += 1) makeEvent(db, acme, { at: old, received_at: old })
  const app = createApp(deps, readHere(db), server, 'socket')
  const body = Buffer.from(JSON.stringify({ approved: true }))
  const response = await app.request('/operator/prune', { method: 'POST', body })
  const reader = response.body?.getReader()
  const left = () => db.all(db.sql.selectFrom('events').select('id')).length
  while (left() === 500) await reader?.read()
  await reader?.cancel()
  assert.ok(left() > 0, 'it went on to the end')
  await operate('POST', '/operator/prune', { body: { approved: true } })
  assert.equal(left(), 0)
})
