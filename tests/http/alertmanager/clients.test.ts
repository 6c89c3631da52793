/** The requests of Grafana's data source and of karma, with what each of them reads from the responses. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../../helpers/app.ts'
import { MINUTE } from '../../helpers/factory.ts'

const at = (minutes: number) => new Date(Date.parse('2026-03-14T12:00:00Z') + minutes * MINUTE).toISOString()
const labels = { alertname: 'CartDown', namespace: 'shop', service: 'cart', severity: 'critical' }
const MATCHER = { name: 'alertname', value: 'CartDown', isRegex: false, isEqual: true }

async function start(t: TestContext) {
  const world = makeWorld(t)
  const { token } = world.acme
  const headers = {
    'Content-Type': 'application/json',
    Authorization: `Basic ${Buffer.from(`user:${token}`).toString('base64')}`,
  }
  const ask = (method: string, path: string, body?: unknown) =>
    world.request(method, path, { headers, ...(body === undefined ? {} : { body }) })
  await ask('POST', '/alertmanager/api/v2/alerts', [{ labels, startsAt: at(-1), endsAt: at(5) }])
  return { ...world, token, ask }
}

test('Grafana’s test of the data source finds an Alertmanager, and no Mimir or Cortex', async (t) => {
  const { ask } = await start(t)
  // Grafana appends these paths to the URL of the data source. A 200 of the first one would mean Mimir or Cortex.
  const statuses = []
  for (const path of ['/alertmanager/api/v2/status', '/api/v2/status', '/api/v1/status/buildinfo']) {
    statuses.push((await ask('GET', `/alertmanager${path}`)).status)
  }
  assert.deepEqual(statuses, [404, 200, 410])
  assert.equal((await ask('GET', '/api/v2/status')).status, 404)
})

test('Grafana lists groups and silences, and creates, changes and expires a silence', async (t) => {
  const { ask } = await start(t)
  const api = '/alertmanager/api/v2'
  const query = 'silenced=true&active=true&inhibited=true'
  const groups = (await ask('GET', `${api}/alerts/groups?${query}&filter=alertname%3D%22CartDown%22`)).body
  assert.deepEqual([groups.length, groups[0].alerts[0].labels.alertname], [1, 'CartDown'])
  const silence = { matchers: [MATCHER], startsAt: at(0), endsAt: at(120), createdBy: 'admin', comment: 'created now' }
  const id = (await ask('POST', `${api}/silences`, silence)).body.silenceID
  assert.equal((await ask('POST', `${api}/silences`, { ...silence, id, comment: 'changed' })).body.silenceID, id)
  assert.equal((await ask('GET', `${api}/silence/${id}`)).body.comment, 'changed')
  assert.equal((await ask('GET', `${api}/alerts?${query}`)).body[0].status.state, 'suppressed')
  assert.equal((await ask('DELETE', `${api}/silence/${id}`)).status, 200)
  assert.equal((await ask('GET', `${api}/silences`)).body[0].status.state, 'expired')
})

test('karma reads the version, the silences and the groups', async (t) => {
  const { ask, request } = await start(t)
  const { text } = await request('GET', '/alertmanager/metrics')
  assert.match(text, /^alertmanager_build_info\{.*version="(?:0\.(?:2[2-9]|[3-9]\d)|[1-9]).*"\} 1$/m)
  assert.deepEqual((await ask('GET', '/alertmanager/api/v2/silences')).body, [])
  const [group] = (await ask('GET', '/alertmanager/api/v2/alerts/groups')).body
  const { receiver, alerts } = group
  assert.deepEqual([receiver, alerts[0].receivers], [{ name: 'incmon' }, [{ name: 'incmon' }]])
  for (const time of ['startsAt', 'endsAt', 'updatedAt']) assert.match(alerts[0][time], /^2026-03-14T.*\.\d{3}Z$/)
})

test('karma’s proxy and a browser create and delete silences', async (t) => {
  const { ask, request } = await start(t)
  const body = { matchers: [MATCHER], startsAt: at(0), endsAt: at(60), createdBy: 'karma', comment: 'ACK', id: '' }
  const { status, body: created, headers } = await ask('POST', '/alertmanager/api/v2/silences', body)
  assert.deepEqual([status, headers.get('access-control-allow-origin')], [200, '*'])
  const path = `/alertmanager/api/v2/silence/${created.silenceID}`
  const preflight = await request('OPTIONS', path, { headers: { Origin: 'https://karma.example.com' } })
  assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /DELETE/)
  assert.equal((await ask('DELETE', path)).status, 200)
})

test('groups have the labels that the organization groups by', async (t) => {
  const { ask, request, token, charlie } = await start(t)
  const set = (own: string, groupBy: unknown) =>
    request('PATCH', '/api/organization', { token: own, body: { settings: { 'group-by': groupBy } } })
  assert.equal((await set(token, ['severity', 'missing'])).status, 200)
  await set(charlie.token, ['service'])
  const [group] = (await ask('GET', '/alertmanager/api/v2/alerts/groups')).body
  assert.deepEqual(group.labels, { severity: 'critical' })
  const { config } = (await ask('GET', '/alertmanager/api/v2/status')).body
  assert.match(config.original, /group_by: \["severity","missing"\]/)
  for (const wrong of ['severity', [''], [7], Array.from({ length: 21 }, () => 'a')]) {
    assert.equal((await set(token, wrong)).status, 400)
  }
})

test('grouping by ... puts only alerts with the same labels into a group, as Alertmanager does', async (t) => {
  const { ask, request, token } = await start(t)
  await ask('POST', '/alertmanager/api/v2/alerts', [
    { labels: { ...labels, severity: 'warning' }, startsAt: at(-1), endsAt: at(5) },
    { labels: { ...labels, pod: 'cart' }, startsAt: at(-1), endsAt: at(5) },
  ])
  await request('PATCH', '/api/organization', { token, body: { settings: { 'group-by': ['...'] } } })
  const groups: { labels: object; alerts: object[] }[] = (await ask('GET', '/alertmanager/api/v2/alerts/groups')).body
  assert.deepEqual(
    groups.map((group) => [group.labels, group.alerts.length]),
    [
      [labels, 1],
      [{ ...labels, severity: 'warning' }, 1],
      [{ ...labels, pod: 'cart' }, 1],
    ],
  )
})
