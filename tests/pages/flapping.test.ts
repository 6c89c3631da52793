/** The bar of a flapping alert shows when the alert had ended. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, type Body } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

const LABELS = { service: 'cart', severity: 'critical' }
/** From the start to the end of each spell, in minutes before noon; 0 is still firing. */
type Spells = readonly (readonly [from: number, to: number])[]

async function shown(t: TestContext, spells: Spells, more: readonly Body[] = []) {
  const { request, app, acme } = makeWorld(t)
  const send = (one: Body) => request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager([one]) })
  for (const [from, to] of spells) {
    const startsAt = NOON - from * MINUTE
    await send(alert('Slow', LABELS, { startsAt }))
    if (to > 0) await send(alert('Slow', LABELS, { startsAt, endsAt: NOON - to * MINUTE }))
  }
  for (const one of more) await send(one)
  const browser = makeBrowser(app)
  await browser.signIn(acme.token)
  const [service] = (await request('GET', '/api/services', { token: acme.token })).body
  const pages = [(await browser.get('/incidents/1')).html, (await browser.get(`/services/${service.id}`)).html]
  return pages.map((html) => [html.match(/class="bar-gap"/g)?.length ?? 0, /with (\d+ gaps?)/.exec(html)?.[1]])
}

test('an alert that ended twice in between has two gaps on the pages of its incident and its service', async (t) => {
  const pages = await shown(t, [
    [9, 8],
    [6, 5],
    [2, 0],
  ])
  assert.deepEqual(pages, [
    [2, '2 gaps'],
    [2, '2 gaps'],
  ])
})

test('an alert that fired once has no gap', async (t) => {
  assert.deepEqual(await shown(t, [[9, 0]]), [
    [0, undefined],
    [0, undefined],
  ])
})

test('two alerts of one name that overlap have no gap', async (t) => {
  const other = alert('Slow', { ...LABELS, route: '/b' }, { startsAt: NOON - 12 * MINUTE })
  assert.deepEqual(
    await shown(
      t,
      [
        [9, 8],
        [6, 0],
      ],
      [other],
    ),
    [
      [0, undefined],
      [0, undefined],
    ],
  )
})

test('an incident whose problem ended and came back lasts with breaks, and one that did not does not', async (t) => {
  for (const [spells, breaks] of [
    [
      [
        [9, 8],
        [6, 0],
      ],
      true,
    ],
    [[[9, 0]], false],
  ] as const) {
    const { request, app, acme } = makeWorld(t)
    for (const [from, to] of spells) {
      const startsAt = NOON - from * MINUTE
      const ends = to > 0 ? [{ startsAt, endsAt: NOON - to * MINUTE }] : []
      for (const times of [{ startsAt }, ...ends])
        await request('POST', '/api/webhooks/metrics', {
          token: acme.token,
          body: alertmanager([alert('Slow', LABELS, times)]),
        })
    }
    const browser = makeBrowser(app)
    await browser.signIn(acme.token)
    const text = async (path: string) => (await browser.get(path)).html.replace(/<[^>]*>|\s+/g, ' ').replace(/ +/g, ' ')
    assert.equal(/7 min so far , with breaks/.test(await text('/incidents')), breaks)
    assert.equal(/since 11:51, with breaks/.test(await text('/incidents/1')), breaks)
    const one = (await request('GET', '/api/alerts', { token: acme.token })).body.data[0]
    const long = breaks ? 'Critical for 7 min, with breaks\\.' : 'Critical for 9 min\\.'
    assert.match(await text(`/services/${one.serviceId}`), new RegExp(long))
    const duration = breaks ? '7 min, with breaks' : '9 min'
    for (const path of ['/incidents/1', `/services/${one.serviceId}`])
      assert.match(await text(path), new RegExp(`firing for ${duration} `), path)
    for (const path of ['/alerts', '/alerts?group=0', `/alerts/${one.id}`])
      assert.match(await text(path), new RegExp(`firing ${duration} `), path)
    for (const path of [`/services/${one.serviceId}`, `/alerts/${one.id}`])
      assert.match(await text(path), /since 11:51/)
  }
})

test('an incident that a user resolved and reopened while its alert fired lasts without breaks', async (t) => {
  const { request, app, acme } = makeWorld(t)
  const token = acme.token
  const body = alertmanager([alert('Slow', LABELS, { startsAt: NOON - 9 * MINUTE })])
  await request('POST', '/api/webhooks/metrics', { token, body })
  const [{ id }] = (await request('GET', '/api/incidents', { token })).body.data
  for (const status of ['resolved', 'open']) await request('PATCH', `/api/incidents/${id}`, { token, body: { status } })
  const browser = makeBrowser(app)
  await browser.signIn(token)
  assert.match((await browser.get('/incidents/1')).html, /Critical for 9 min/)
  for (const path of ['/incidents', '/incidents/1']) assert.doesNotMatch((await browser.get(path)).html, /with breaks/)
})
