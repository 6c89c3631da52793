/** A repeat can say that its alert started earlier. A change after the new start is then no longer a cause. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Member, makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, build, crashLoop, iso, pipeline } from '../helpers/senders.ts'

const ALERT_STARTS = NOON + 5 * MINUTE

/** Returns functions that report cart's deploys and alert, and that read the result. All of them arrive after 12:10. */
function cartWorld(t: TestContext) {
  const { clock, request, acme, charlie } = makeWorld(t)
  clock.now = NOON + 10 * MINUTE
  const post = async (source: string, body: unknown, { token }: Member) => {
    clock.now += 1_000
    assert.equal((await request('POST', `/api/webhooks/${source}`, { token, body })).status, 200)
  }
  const deploy = (id: number, at: number, who = acme) =>
    post('ci', pipeline('success', 'shop/cart', { id, at, jobs: [build('deploy', 'success')] }), who)
  const down = (startsAt: number, who = acme) =>
    post('metrics', alertmanager([alert('Down', { service: 'cart' }, { startsAt })]), who)
  const get = async (path: string, { token } = acme) => (await request('GET', path, { token })).body.data
  const links = async (who = acme) =>
    (await get('/api/correlations', who)).map(({ change }: { change: { ref: string } }) => change.ref)
  return { acme, charlie, request, post, deploy, down, get, links }
}

test('a deploy between the new start and the previous one is no longer linked or suspected', async (t) => {
  const { deploy, down, links, get } = cartWorld(t)
  await deploy(31, NOON + 2 * MINUTE)
  await down(ALERT_STARTS)
  assert.deepEqual(await links(), ['shop/cart#31'])
  await down(NOON - 30 * MINUTE)
  const [incident] = await get('/api/incidents')
  assert.equal(incident.startedAt, iso(NOON - 30 * MINUTE))
  const suspects: { kind: string; score: number }[] = await get(`/api/incidents/${incident.id}/suspects`)
  assert.deepEqual([await links(), suspects.filter(({ kind, score }) => kind === 'pipeline' && score > 0.1)], [[], []])
})

test('a deploy just before the new start is linked and suspected', async (t) => {
  const { deploy, down, links, get } = cartWorld(t)
  await deploy(30, NOON - 32 * MINUTE)
  await down(ALERT_STARTS)
  assert.deepEqual(await links(), [])
  await down(NOON - 30 * MINUTE)
  const [incident] = await get('/api/incidents')
  const [suspect] = await get(`/api/incidents/${incident.id}/suspects`)
  assert.deepEqual([await links(), suspect.ref], [['shop/cart#30'], 'shop/cart#30'])
})

const THREE_DAYS = 3 * 24 * 60 * MINUTE

test('a deploy just before the new start is linked and suspected however far the start moves back', async (t) => {
  const { deploy, down, links, get } = cartWorld(t)
  await deploy(30, NOON - THREE_DAYS - 2 * MINUTE)
  await down(ALERT_STARTS)
  await down(NOON - THREE_DAYS)
  const [incident] = await get('/api/incidents')
  const [suspect] = await get(`/api/incidents/${incident.id}/suspects`)
  assert.deepEqual([await links(), suspect.ref], [['shop/cart#30'], 'shop/cart#30'])
})

test('a deploy from just before a start three days earlier is linked if it is reported last', async (t) => {
  const { deploy, down, links } = cartWorld(t)
  await down(ALERT_STARTS)
  await down(NOON - THREE_DAYS)
  await deploy(30, NOON - THREE_DAYS - 2 * MINUTE)
  assert.deepEqual(await links(), ['shop/cart#30'])
})

test('a deploy just before an event that counts the repeats of three days is linked', async (t) => {
  const { deploy, post, links, acme } = cartWorld(t)
  await deploy(30, NOON - THREE_DAYS - 2 * MINUTE)
  await post('cluster', crashLoop('cart-5d4f8c7b9-x2kqp', { since: NOON - THREE_DAYS, at: NOON, count: 999 }), acme)
  assert.deepEqual(await links(), ['shop/cart#30'])
})

test('sixty deploys between the starts neither keep their links nor hide the deploy before the new start', async (t) => {
  const { deploy, down, links } = cartWorld(t)
  await deploy(30, NOON - 32 * MINUTE)
  await down(ALERT_STARTS)
  for (let id = 100; id < 160; id += 1) await deploy(id, ALERT_STARTS - (id - 98) * 12_000)
  assert.equal((await links()).length, 50)
  await down(NOON - 30 * MINUTE)
  assert.deepEqual(await links(), ['shop/cart#30'])
})

test('of several moves in one request, the earliest start counts', async (t) => {
  const { acme, request, deploy, down, links } = cartWorld(t)
  await deploy(30, NOON - THREE_DAYS - 2 * MINUTE)
  await deploy(31, NOON + 2 * MINUTE)
  await down(ALERT_STARTS)
  const moves = [NOON, NOON - 10 * MINUTE, NOON - THREE_DAYS].map((startsAt) =>
    alert('Down', { service: 'cart' }, { startsAt }),
  )
  await request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager(moves) })
  assert.deepEqual(await links(), ['shop/cart#30'])
})

test('a deploy that is reported after the moved start is not linked either', async (t) => {
  const { deploy, down, links } = cartWorld(t)
  await down(ALERT_STARTS)
  await down(NOON - 30 * MINUTE)
  await deploy(31, NOON + 2 * MINUTE)
  assert.deepEqual(await links(), [])
})

test("a user's verdict on the link survives the moved start", async (t) => {
  const { deploy, down, links, get, request, acme } = cartWorld(t)
  await deploy(31, NOON + 2 * MINUTE)
  await down(ALERT_STARTS)
  const [{ id }] = await get('/api/correlations')
  await request('PATCH', `/api/correlations/${id}`, { token: acme.token, body: { verdict: 'confirmed' } })
  await down(NOON - 30 * MINUTE)
  assert.deepEqual(await links(), ['shop/cart#31'])
})

test('a start that moves back by more than a day drops the link', async (t) => {
  const { deploy, down, links } = cartWorld(t)
  await deploy(31, NOON + 2 * MINUTE)
  await down(ALERT_STARTS)
  await down(NOON - THREE_DAYS)
  assert.deepEqual(await links(), [])
})

test('a later start in a repeat changes nothing', async (t) => {
  const { deploy, down, links, get } = cartWorld(t)
  await deploy(31, NOON + 2 * MINUTE)
  await down(ALERT_STARTS)
  await down(ALERT_STARTS + MINUTE)
  const [incident] = await get('/api/incidents')
  assert.deepEqual([await links(), incident.startedAt], [['shop/cart#31'], iso(ALERT_STARTS)])
})

test("the moved start of Acme's alert leaves Charlie's link of the same name alone", async (t) => {
  const { deploy, down, links, charlie } = cartWorld(t)
  await deploy(31, NOON + 2 * MINUTE, charlie)
  await down(ALERT_STARTS, charlie)
  await down(ALERT_STARTS)
  await down(NOON - 30 * MINUTE)
  assert.deepEqual(await links(charlie), ['shop/cart#31'])
})
