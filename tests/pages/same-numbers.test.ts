/** Pages that show the same fact show the same number, also when a storm has more alerts than fit on a page. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

type World = ReturnType<typeof makeWorld>

/** Sends `of` alerts of each name to one service. They start from `ago` until now. */
async function storm({ request, acme }: World, of: Readonly<Record<string, number>>, ago: number): Promise<void> {
  for (const [name, count] of Object.entries(of)) {
    const alerts = Array.from({ length: count }, (_, n) =>
      alert(name, { service: 'cart', route: `/r${n}` }, { startsAt: NOON - ago + n }),
    )
    for (let from = 0; from < count; from += 200) {
      const body = alertmanager(alerts.slice(from, from + 200))
      await request('POST', '/api/webhooks/metrics', { token: acme.token, body })
    }
  }
}

async function pagesOf(world: World) {
  const { token } = world.acme
  const browser = makeBrowser(world.app)
  await browser.signIn(token)
  const [service] = (await world.request('GET', '/api/services', { token })).body
  const html = async (path: string) => (await browser.get(path)).html.replace(/<[^>]*>|\s+/g, ' ')
  return { incident: await html('/incidents/1'), service: await html(`/services/${service.id}`), html, id: service.id }
}

/** Returns the counts after a name, such as ×1,200. */
function countsOf(text: string, name: string): string[] {
  return [
    ...new Set([...text.matchAll(new RegExp(`${name} *(×\\d[\\d,]*\\d|×\\d)`, 'g'))].map(([, count = '']) => count)),
  ]
}

for (const [storms, ago] of [
  [{ Down: 3, Slow: 40 }, 5 * MINUTE],
  [{ Down: 700, Slow: 600, Full: 2 }, 20 * MINUTE],
  [{ Down: 501 }, 1800 * MINUTE],
] as const) {
  test(`the service, its incident and the alerts count the same for ${JSON.stringify(storms)}`, async (t) => {
    const world = makeWorld(t)
    await storm(world, storms, ago)
    const { incident, service, html, id } = await pagesOf(world)
    const alerts = await html(`/alerts?service=${id}`)
    for (const [name, count] of Object.entries(storms)) {
      for (const page of [incident, service, alerts]) {
        assert.deepEqual(countsOf(page, name), [`×${count.toLocaleString('en-US')}`], name)
      }
    }
    const total = Object.values(storms).reduce((sum, count) => sum + count, 0)
    assert.match(alerts, new RegExp(`${total.toLocaleString('en-US')} alerts are still firing`))
  })
}

test('the incident and the service agree how long a group has been firing', async (t) => {
  const world = makeWorld(t)
  await storm(world, { Down: 700 }, 20 * MINUTE)
  const { incident, service } = await pagesOf(world)
  for (const page of [incident, service]) {
    assert.ok(page.includes('×700'))
    assert.match(page, /firing for 20 min/)
  }
})

test("a stranger's service has no groups", async (t) => {
  const world = makeWorld(t)
  await storm(world, { Down: 3 }, MINUTE)
  const { id } = await pagesOf(world)
  const browser = makeBrowser(world.app)
  await browser.signIn(world.charlie.token)
  assert.equal((await browser.get(`/services/${id}`)).status, 404)
  assert.doesNotMatch((await browser.get(`/alerts?service=${id}`)).html, /Down/)
})
