/** The page behind the link in a message, for an incident of a group: what it says, and that it fits on a phone. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { acknowledgePath } from '../../src/actions/acknowledgement.ts'
import { createChannel } from '../../src/actions/channels.ts'
import { findChannel, loadChannelSecrets } from '../../src/store/notification/channels.ts'
import { makeWorld } from '../helpers/app.ts'
import { startBrowser } from '../helpers/browser.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { layoutFaults } from '../helpers/layout.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { startServer } from '../helpers/server.ts'
import { makeBrowser } from '../helpers/site.ts'

const LONG = 'ErrorBudgetBurningFastForTheCheckoutFlowInTheNorthAmericanRegionAndTheRestOfTheWorld'

/** Services of which all others call the first. */
const failing = (services: readonly string[], name: string, at: number) => {
  const [first] = services
  return alertmanager(
    services.map((service, index) => {
      const summary = service === first ? 'The disk is full' : `connection to ${first}:5432 refused`
      return alert(name, { service, severity: 'critical' }, { startsAt: at + index * 1000, summary })
    }),
  )
}

type Deps = Parameters<typeof acknowledgePath>[0] & Parameters<typeof createChannel>[0]

function linkTo(deps: Deps, organizationId: number, incidentId: string): string {
  const { id: channelId } = createChannel(deps, organizationId, {
    ...{ name: 'ops', kind: 'slack', target: 'https://chat.example/', rules: [{ namespaces: ['none'] }] },
  })
  const secrets = loadChannelSecrets(deps.db, findChannel(deps.db, organizationId, channelId)?.rowId ?? 0)
  return acknowledgePath(deps, { channelId, incidentId }, secrets?.acknowledging ?? '')
}

async function group(t: TestContext) {
  const { request, acme, deps, app } = makeWorld(t)
  const body = failing(['ledger', 'cart', 'search', 'till'], 'Down', NOON - 10 * MINUTE)
  await request('POST', '/api/webhooks/metrics', { token: acme.token, body })
  const { body: incidents } = await request('GET', '/api/incidents', { token: acme.token })
  const first = incidents.data.find(({ title }: { title: string }) => title === 'ledger: Down')
  const path = linkTo(deps, acme.key, first.id)
  const browser = makeBrowser(app)
  const text = async () => (await browser.get(path)).html.replace(/<[^>]*>|\s+/g, ' ').replace(/ +/g, ' ')
  const press = (fields: object) =>
    browser.post('/acknowledge', {
      ...Object.fromEntries(new URLSearchParams(path.split('?')[1])),
      name: 'Dana',
      ...fields,
    })
  return { text, press }
}

test('the button and the line below it count the same others of the group', async (t) => {
  const { text } = await group(t)
  assert.match(
    await text(),
    /Acknowledge this and the other 3 Acknowledge only this one .*3 other incidents that nobody/,
  )
})

test('after the first is acknowledged, the button offers the others', async (t) => {
  const { text, press } = await group(t)
  await press({})
  assert.match(await text(), /Dana is working on this incident\. .*Acknowledge the other 3 .*3 other incidents that/)
})

test('after all are acknowledged, there is no button and no list', async (t) => {
  const { text, press } = await group(t)
  await press({ group: 'all' })
  assert.doesNotMatch(await text(), /Acknowledge (this|the)|other incident/)
})

test('on a phone, long titles wrap, and the button is on the first screen', async (t) => {
  const server = await startServer(t)
  const services = ['recommendation-engine-production-canary-v2-eu1', 'cart', 'search', 'till']
  const body = JSON.stringify(failing(services, LONG, server.deps.now() - 10 * MINUTE))
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
  await fetch(`${server.url}/api/webhooks/metrics`, { method: 'POST', headers, body })
  const { data } = (await (await fetch(`${server.url}/api/incidents`, { headers })).json()) as {
    data: { id: string }[]
  }
  const path = linkTo(server.deps, server.organization.rowId, data[0]?.id ?? '')
  const { page } = await (await startBrowser(t)).visit(server.url + path, { width: 360, height: 740, scheme: 'light' })
  const button = await page.locator('button.primary').boundingBox()
  assert.ok(button && button.y + button.height < 740, `${button?.y}`)
  await page.evaluate("document.querySelector('main details').open = true")
  assert.deepEqual(
    (await layoutFaults(page)).filter((fault) => !fault.startsWith('broken word')),
    [],
  )
})
