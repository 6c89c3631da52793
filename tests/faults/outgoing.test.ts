/** Outgoing messages when the server is killed, and when receivers never answer. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { createChannel } from '../../src/actions/channels.ts'
import { systemDeps } from '../../src/deps.ts'
import { BUDGETS } from '../../src/domain/budgets.ts'
import { MAX_CHANNELS } from '../../src/store/notification/channels.ts'
import { listOrganizations } from '../../src/store/organizations.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { type Received, startReceiver } from '../notify/receiver.ts'
import { descriptorsOf, figure, judging } from './generator.ts'
import { MAX_STALL, watchHealth } from './health.ts'
import { acknowledged, request } from './load.ts'
import { addOrganization, makeDatabase, startServer } from './server.ts'
import { sized } from './size.ts'

const ROUNDS = 50
/** In milliseconds: covers the time from before the commit until after the receiver's response. */
const MAX_BEFORE_KILL = 600
const MAX_ANSWER = 150
const FLAGS = ['--notify-allow', 'localhost']

test('kill -9 at 50 random moments loses no message, and duplicates have the same id', async (t) => {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const news: News = new Map()
  let keys: ReadonlyMap<string, Webhook> = new Map()
  const receiver = await startReceiver(t, (response, message) => {
    note(news, keys.get(message.path), message)
    setTimeout(() => response.writeHead(200).end('ok'), Math.random() * MAX_ANSWER)
  })
  keys = addChannels(file, receiver.url)
  const accepted: string[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const server = await startServer(t, file, [], FLAGS)
    const service = `svc-${round}`
    const sending = fail({ url: server.url, token }, service).catch(() => false)
    // In every second round, the kill comes after the commit, while the message is being sent.
    if (round % 2 === 1) await sending
    await pause(Math.random() * MAX_BEFORE_KILL)
    await server.kill()
    if (await sending) accepted.push(service)
  }
  await startServer(t, file, [], FLAGS)
  await eventually(
    async () => lost(accepted, news),
    (services) => services.length === 0,
  )
  const doubled = [...news.values()].filter(({ count }) => count > 1).length
  figure(
    t,
    15,
    `${accepted.length} incidents, ${receiver.received.length} messages, 0 lost, ${doubled} delivered twice`,
  )
  for (const [name, { ids }] of news) assert.equal(ids.size, 1, `${name} has several ids`)
  assert.ok(accepted.length > ROUNDS / 4, 'most kills came before the answer')
})

test('hundreds of channels whose receivers never answer leave room for new connections', async (t) => {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const receiver = await startReceiver(t, () => {})
  const tokens = silentChannels(file, receiver.url, [token])
  const server = await startServer(t, file, [], FLAGS)
  const [before, judge] = [descriptorsOf(server.pid).length, judging(t, 50, server.pid)]
  for (const own of tokens) assert.ok(await fail({ url: server.url, token: own }, 'cart'))
  let [open, sending] = [0, 0]
  // Each request needs a new connection.
  const stop = await watchHealth(t, server, true)
  const until = performance.now() + sized(30_000, 8_000)
  while (performance.now() < until) {
    open = Math.max(open, descriptorsOf(server.pid).length - before)
    const text = await (await fetch(`${server.url}/metrics`, { headers: { Authorization: `Bearer ${token}` } })).text()
    sending = Math.max(sending, Number(/limit_used.limit="organization-connections". (\d+)/.exec(text)?.[1]))
    await pause(20)
  }
  const channels = tokens.length * MAX_CHANNELS
  const { silent, words } = await stop()
  figure(t, 50, `${channels} channels: ${words}, ${open} descriptors more, ${sending} of one sender`)
  assert.equal(sending, BUDGETS['organization-connections'].value)
  assert.ok(open <= BUDGETS['outgoing-connections'].value + 16, `${open} more descriptors`)
  judge(silent <= MAX_STALL, words)
})

/** Fills three organizations with channels. Returns a token of each. `tokens`: of the first. */
function silentChannels(file: string, url: string, tokens: readonly string[]): string[] {
  const db = openStore(file)
  try {
    const all = [...tokens, ...['Globex', 'Initech'].map((name) => addOrganization(db, name, 'Pro'))]
    for (const { rowId } of listOrganizations(db))
      for (let index = 0; index < MAX_CHANNELS; index += 1)
        createChannel(systemDeps(db), rowId, { name: `silent ${index}`, kind: 'webhook', target: url, rules: [{}] })
    return all
  } finally {
    db.close()
  }
}

/**
 * Adds one channel per service, which sends immediately, and one for all services, which sends digests. Returns their
 * keys by path.
 */
function addChannels(file: string, url: string): ReadonlyMap<string, Webhook> {
  const db = openStore(file)
  try {
    const deps = systemDeps(db)
    const [organization] = listOrganizations(db)
    const rulesOf = [{}, ...Array.from({ length: ROUNDS }, (_, round) => ({ services: [`svc-${round}`] }))]
    const keys = rulesOf.map((rule, index) => {
      const wanted = { name: `channel ${index}`, kind: 'webhook', target: `${url}/${index}`, rules: [rule] } as const
      const { secret } = createChannel(deps, organization?.rowId ?? 0, wanted)
      return [`/${index}`, new Webhook(secret ?? '')] as const
    })
    return new Map(keys)
  } finally {
    db.close()
  }
}

async function fail(target: { url: string; token: string }, service: string): Promise<boolean> {
  const body = alertmanager([alert('Down', { service, severity: 'critical' })])
  return acknowledged(await request(target, 'POST', '/api/webhooks/metrics', body)).length > 0
}

type Item = { readonly service: { readonly name: string } }
/** For each channel and service: the number of messages and their ids. */
type News = Map<string, { readonly ids: Set<unknown>; count: number }>

/** Records a message after verifying its signature. */
function note(news: News, key: Webhook | undefined, { path, headers, text }: Received): void {
  assert.ok(key)
  key.verify(text, headers as Record<string, string>)
  const { type, data } = JSON.parse(text) as {
    type: string
    data: Item & { notifications?: (Item & { type: string })[] }
  }
  for (const { service, type: kind } of data.notifications ?? [{ ...data, type: type.replace('incident.', '') }]) {
    const name = `${path} ${service.name} ${kind}`
    const known = news.get(name) ?? { ids: new Set(), count: 0 }
    known.ids.add(headers['webhook-id'])
    known.count += 1
    news.set(name, known)
  }
}

/** Returns the services whose failure was not reported to their own channel or to the common channel. */
function lost(services: readonly string[], news: News): string[] {
  return services.filter((service) => {
    const own = Number(service.slice('svc-'.length)) + 1
    return !news.has(`/${own} ${service} opened`) || !news.has(`/0 ${service} opened`)
  })
}
