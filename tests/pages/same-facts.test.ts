/** The page of an incident, its API and its postmortem tell the same facts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

type World = ReturnType<typeof makeWorld>

async function send({ request, acme, clock }: World, minute: number, startsAt: number, endsAt?: number): Promise<void> {
  clock.now = NOON + minute * MINUTE
  const times = {
    startsAt: NOON + startsAt * MINUTE,
    ...(endsAt === undefined ? {} : { endsAt: NOON + endsAt * MINUTE }),
  }
  const body = alertmanager([alert('Down', { service: 'cart', severity: 'critical' }, times)])
  await request('POST', '/api/webhooks/metrics', { token: acme.token, body })
}

async function wait({ deps, clock }: World, until: number): Promise<void> {
  while (clock.now < NOON + until * MINUTE) {
    clock.now += MINUTE
    while (await deps.engine.sweep());
  }
}

async function told(world: World) {
  const { request, acme, app } = world
  const [{ id }] = (await request('GET', '/api/incidents', { token: acme.token })).body.data
  await request('PATCH', `/api/incidents/${id}`, { token: acme.token, body: { status: 'resolved' } })
  const { summary } = (await request('GET', `/api/incidents/${id}/postmortem`, { token: acme.token })).body
  const browser = makeBrowser(app)
  await browser.signIn(acme.token)
  const page = (await browser.get('/incidents/1')).html.replace(/<[^>]*>|\s+/g, ' ').replace(/ +/g, ' ')
  return { page, summary: summary.sentences[0].text as string, fact: summary.facts[0].text as string }
}

test('a problem that came back lasted the sum of its parts on the page and in the document', async (t) => {
  const world = makeWorld(t)
  await send(world, 1, 0)
  await send(world, 5, 0, 4)
  await wait(world, 8)
  await send(world, 10, 9)
  await send(world, 15, 9, 14)
  await wait(world, 20)
  const { page, summary, fact } = await told(world)
  assert.equal(fact, '9 min')
  assert.match(summary, /for 9 min in total between/)
  assert.match(page, /Was critical for 9 min between 12:00 and 12:14/)
})

test('a problem without a gap lasted from its start to its end', async (t) => {
  const world = makeWorld(t)
  await send(world, 1, 0)
  await send(world, 15, 0, 14)
  await wait(world, 20)
  const { page, summary } = await told(world)
  assert.match(summary, /from .* \(14 min\)/)
  assert.match(page, /Was critical for 14 min from 12:00 to 12:14/)
})
