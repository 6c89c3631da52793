/** GET /api/stream: Server-Sent Events from a running server, with a token or a session. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createOrganization } from '../../src/actions/organizations.ts'
import { signIn } from '../../src/actions/sessions.ts'
import { createToken, revokeToken } from '../../src/actions/tokens.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { startServer } from '../helpers/server.ts'

const JSON_BODY = { 'content-type': 'application/json' }
const WANTED = { person: 'Ada', agent: 'a test', stay: true }

describe('The stream', () => {
  const cleanings: (() => void | Promise<void>)[] = []
  let server: Awaited<ReturnType<typeof startServer>>
  before(async () => {
    server = await startServer({ after: (work) => void cleanings.unshift(work) })
  })
  after(async () => {
    for (const clean of cleanings) await clean()
  })
  const follow = async (headers: Record<string, string>) => {
    const response = await fetch(`${server.url}/api/stream`, { headers })
    assert.ok(response.body)
    return response.body.pipeThrough(new TextDecoderStream()).getReader()
  }
  const send = (name: string) =>
    server.request('POST', '/api/webhooks/metrics', JSON.stringify(alertmanager([alert(name, { service: 'cart' })])))

  test('sends a new alert to a session', async () => {
    const { secret } = signIn(server.deps, server.token, WANTED)
    const reader = await follow({ cookie: `incmon_session_${new URL(server.url).port}=${secret}` })
    await reader.read()
    await send('One')
    assert.match((await reader.read()).value ?? '', /event: alert\ndata: [\w-]{36}\n/)
    await reader.cancel()
  })

  test('sends each change of silences, channels and tokens', async () => {
    const reader = await follow({ Authorization: `Bearer ${server.token}` })
    await reader.read()
    const told = async (method: string, path: string, body: object) => {
      const id =
        (await server.request(method, path, JSON.stringify(body), JSON_BODY)).body?.id ?? path.split('/').at(-1)
      assert.match(
        (await reader.read()).value ?? '',
        new RegExp(`event: ${path.split('/')[2]?.slice(0, -1)}\ndata: ${id}\n`),
      )
      return id
    }
    const silence = { matchers: [{ name: 'alertname', op: '=', value: 'Down' }], comment: 'x', endsAt: '2099-01-01' }
    const silenceId = await told('POST', '/api/silences', silence)
    await told('PATCH', `/api/silences/${silenceId}`, { comment: 'y' })
    const channelId = await told('POST', '/api/channels', { name: 'c', kind: 'slack', url: 'https://example.com/x' })
    await told('PATCH', `/api/channels/${channelId}`, { enabled: false })
    await told('POST', '/api/tokens', { name: 't', scopes: ['read'] })
    await reader.cancel()
  })

  test("sends Charlie none of Acme's events", async () => {
    const charlie = createOrganization(server.deps, { name: 'Charlie', plan: 'Pro' })
    const wanted = { organizationId: charlie.rowId, name: 'x', scopes: ['read', 'ingest'] as const }
    const { token } = createToken(server.deps, wanted)
    const reader = await follow({ Authorization: `Bearer ${token}` })
    await reader.read()
    await send('Two')
    const own = { Authorization: `Bearer ${token}` }
    const body = JSON.stringify(alertmanager([alert('Own', { service: 'own' })]))
    const answer = await fetch(`${server.url}/api/webhooks/metrics`, { method: 'POST', headers: own, body })
    const { eventIds } = (await answer.json()) as { eventIds: string[] }
    const { value = '' } = await reader.read()
    const events = [...value.matchAll(/event: event\ndata: (\S+)/g)].map(([, id]) => id)
    assert.deepEqual(events, eventIds)
    await reader.cancel()
  })

  test('refuses a missing token, a wrong token and a missing scope', async () => {
    const { organization, deps } = server
    const { token } = createToken(deps, { organizationId: organization.rowId, name: 'x', scopes: ['ingest'] })
    const statuses = [{}, { Authorization: 'Bearer x' }, { Authorization: `Bearer ${token}` }].map(
      async (headers: Record<string, string>) => (await fetch(`${server.url}/api/stream`, { headers })).status,
    )
    assert.deepEqual(await Promise.all(statuses), [401, 401, 403])
  })

  test('ends after the token is revoked', async () => {
    const { organization, deps } = server
    const { token, id } = createToken(deps, { organizationId: organization.rowId, name: 'x', scopes: ['read'] })
    const reader = await follow({ Authorization: `Bearer ${token}` })
    await reader.read()
    revokeToken(deps, organization.rowId, id)
    // The result of a permission check is cached for a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    await send('Three')
    // The stream has already received the notice of the revocation.
    const { done } = await reader.read()
    assert.equal(done || (await reader.read()).done, true)
  })
})

test('ends when the server stops, and the server does not wait for it', async (t) => {
  const { url, token, running } = await startServer(t)
  const { body } = await fetch(`${url}/api/stream`, { headers: { Authorization: `Bearer ${token}` } })
  const reader = body?.getReader()
  await reader?.read()
  const closed = running.close()
  assert.equal((await reader?.read())?.done, true)
  await closed
})
