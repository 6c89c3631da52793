/** What the page behind the link in a message says while a silence covers the problem. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acknowledgePath } from '../../src/actions/acknowledgement.ts'
import { createChannel } from '../../src/actions/channels.ts'
import { findChannel, loadChannelSecrets } from '../../src/store/notification/channels.ts'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

test('the page says that a silence covers the problem, and not that it is over', async (t) => {
  const { request, acme, charlie, deps, app } = makeWorld(t)
  const down = alert('Down', { service: 'cart', severity: 'critical' }, { startsAt: NOON - 10 * MINUTE })
  await request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager([down]) })
  const { body } = await request('GET', '/api/incidents', { token: acme.token })
  const channel = { name: 'ops', kind: 'slack', target: 'https://chat.example/' } as const
  const { id: channelId } = createChannel(deps, acme.key, channel)
  const secrets = loadChannelSecrets(deps.db, findChannel(deps.db, acme.key, channelId)?.rowId ?? 0)
  const path = acknowledgePath(deps, { channelId, incidentId: body.data[0].id }, secrets?.acknowledging ?? '')
  const page = async () => (await makeBrowser(app).get(path)).html
  assert.match(await page(), /The problem goes on\./)
  const matchers = [{ name: 'service', op: '=', value: 'cart' }]
  const silence = { matchers, comment: 'work', endsAt: new Date(NOON + 60 * MINUTE).toISOString() }
  await request('POST', '/api/silences', { token: charlie.token, body: silence })
  assert.match(await page(), /The problem goes on\./)
  await request('POST', '/api/silences', { token: acme.token, body: silence })
  assert.match(await page(), /A silence covers the problem, which goes on\. The service was critical for 10 min/)
})
