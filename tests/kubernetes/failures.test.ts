/** A watch goes on after every failure of the API server, and shows what it cannot read. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { ClusterDraft } from '../../src/domain/event/event.ts'
import type { Delivery } from '../../src/engine/changes/receive/delivery.ts'
import { accessOf, targetOf } from '../../src/kubernetes/access.ts'
import { ApiError, createClient } from '../../src/kubernetes/client.ts'
import { watchCluster } from '../../src/kubernetes/cluster.ts'
import { createMemory } from '../../src/kubernetes/memory.ts'
import { pauseOf, RESOURCES, streamsOf } from '../../src/kubernetes/stream.ts'
import { makeCertificate } from '../helpers/certificates.ts'
import { writeKubeconfig } from '../helpers/kubernetes/kubeconfig.ts'
import { deployment, event, pod, replicaSet, waiting } from '../helpers/kubernetes/objects.ts'
import { type FakeCluster, startFakeCluster } from '../helpers/kubernetes/server.ts'
import { eventually } from '../helpers/server.ts'

const owner = ['ReplicaSet', 'cart-5d4f8c7b9']
const looping = (name: string) => pod(name, { owner, restarts: 1, state: waiting('CrashLoopBackOff') })

/** Watches without a database. `idle`: a connection without data for this long is given up. */
async function watching(
  t: TestContext,
  cluster: FakeCluster,
  { idle = 60_000, config = writeKubeconfig(t, cluster.url) } = {},
) {
  const stored: Delivery[] = []
  const onListed = t.mock.fn()
  const access = accessOf(targetOf(config))
  const watch = watchCluster({
    ...{
      name: 'test',
      server: access.server,
      organizationId: 1,
      namespaces: [],
      client: createClient(access, Date.now, idle),
    },
    ...{ watched: { objects: [], positions: new Map() }, now: Date.now, random: () => 0, warn: () => {}, onListed },
    engine: {
      submit: async (delivery) => {
        stored.push(delivery)
        return { eventIds: [], rejected: [], isRepeat: false }
      },
    },
  })
  t.after(() => watch.close())
  const drafts = () => stored.flatMap(({ intake }) => intake.accepted.map(({ draft }) => draft as ClusterDraft))
  const until = (text: string) =>
    eventually(
      async () => drafts().map(({ reason, object }) => `${reason} ${object.name}`),
      (all) => all.includes(text),
    )
  await eventually(
    async () => watch.state(),
    ({ isComplete }) => isComplete,
  )
  return { watch, stored, drafts, until, listed: () => onListed.mock.callCount() }
}

async function shop(t: TestContext, options: Parameters<typeof startFakeCluster>[1] = {}) {
  const cluster = await startFakeCluster(t, { bookmarks: 50, ...options })
  cluster.put(deployment('cart'))
  cluster.put(replicaSet('cart', '5d4f8c7b9'))
  return cluster
}

for (const isGoneByStatus of [true, false]) {
  test(`a forgotten history is a gap, and nothing that exists is missed or doubled (${isGoneByStatus ? 'status' : 'line'})`, async (t) => {
    const cluster = await shop(t)
    cluster.state.isGoneByStatus = isGoneByStatus
    const { stored, drafts, until, listed } = await watching(t, cluster)
    assert.equal(listed(), 1, 'the memory of the list is given back once all lists are complete')
    cluster.put(looping('before'))
    await until('CrashLoopBackOff before')
    await cluster.stop()
    cluster.put(looping('meanwhile'))
    cluster.delete('Pod', 'shop', 'before')
    cluster.compact()
    await cluster.restart()
    await until('CrashLoopBackOff meanwhile')
    await until('PodDeleted before')
    assert.equal(drafts().filter(({ reason }) => reason === 'CrashLoopBackOff').length, 2)
    assert.ok(stored.some(({ watch }) => watch?.gap))
  })
}

test('a page of the first list that is gone starts the list again', async (t) => {
  const cluster = await shop(t)
  for (let index = 0; index < 501; index += 1) cluster.put(pod(`pod-${index}`, { owner }))
  const pages = setInterval(
    () => cluster.state.requests.some((one) => one.includes('continue=')) || cluster.compact(),
    1,
  )
  const { watch } = await watching(t, cluster)
  clearInterval(pages)
  assert.equal(watch.state().objects, 503)
})

test('a hung connection is given up, and the watch resumes', async (t) => {
  const cluster = await shop(t)
  const { until } = await watching(t, cluster, { idle: 300 })
  cluster.state.isHung = true
  cluster.put(looping('hung'))
  await new Promise((resolve) => setTimeout(resolve, 400))
  cluster.state.isHung = false
  await until('CrashLoopBackOff hung')
})

test('lines that arrive in parts are whole', async (t) => {
  const cluster = await shop(t)
  cluster.state.isSplit = true
  const { until } = await watching(t, cluster)
  cluster.put(looping('split'))
  await until('CrashLoopBackOff split')
})

test('a token in a file is read again after Kubernetes has replaced it', async (t) => {
  const cluster = await shop(t)
  const { directory } = makeCertificate(t)
  writeFileSync(`${directory}/token`, 'secret')
  const config = writeKubeconfig(t, cluster.url, { user: [`tokenFile: ${directory}/token`] })
  const { until } = await watching(t, cluster, { config })
  cluster.state.tokens.clear()
  cluster.state.tokens.add('next')
  cluster.endWatches()
  writeFileSync(`${directory}/token`, 'next')
  cluster.put(looping('later'))
  await until('CrashLoopBackOff later')
})

for (const { plural } of RESOURCES) {
  test(`without permission for ${plural}, everything else is read`, async (t) => {
    const cluster = await shop(t)
    cluster.state.denied.add(`list ${plural}`)
    const { watch, until } = await watching(t, cluster)
    assert.deepEqual(
      watch.state().failures.map(({ resource, status }) => [resource, status]),
      [[plural, 403]],
    )
    if (plural === 'pods') cluster.put(event('e', 'Pod', 'cart-5d4f8c7b9-x2kqp', 'Unhealthy', 'Liveness probe failed'))
    else cluster.put(looping('cart-5d4f8c7b9-x2kqp'))
    await until(plural === 'pods' ? 'Unhealthy cart-5d4f8c7b9-x2kqp' : 'CrashLoopBackOff cart-5d4f8c7b9-x2kqp')
  })
}

test('without permission for pods, the watch does not vouch for their states', async (t) => {
  const cluster = await shop(t)
  cluster.state.denied.add('list pods')
  const { stored, until } = await watching(t, cluster)
  cluster.put(event('e', 'Pod', 'cart-5d4f8c7b9-x2kqp', 'BackOff', 'Back-off restarting failed container'))
  await until('BackOff cart-5d4f8c7b9-x2kqp')
  assert.equal(stored.at(-1)?.intake.receiver, '')
})

test('TLS with an own authority works, and a wrong one is refused', async (t) => {
  const { pem, cert, key } = makeCertificate(t)
  const cluster = await shop(t, { tls: { cert: pem, key: readFileSync(key, 'utf8') } })
  const trusted = writeKubeconfig(t, cluster.url, { cluster: [`certificate-authority: ${cert}`] })
  await createClient(accessOf(targetOf(trusted)), Date.now).get('/version')
  const client = createClient(accessOf(targetOf(writeKubeconfig(t, cluster.url))), Date.now)
  await assert.rejects(client.get('/version'), /self-signed certificate/)
})

test('the client certificate of a kubeconfig is shown to the API server', async (t) => {
  const { pem, cert, key } = makeCertificate(t)
  const cluster = await shop(t, { tls: { cert: pem, key: readFileSync(key, 'utf8'), clientCa: pem } })
  const ask = (user: string[]) => {
    const config = writeKubeconfig(t, cluster.url, { cluster: [`certificate-authority: ${cert}`], user })
    return createClient(accessOf(targetOf(config)), Date.now).get('/api/v1/pods')
  }
  await ask([`client-certificate: ${cert}`, `client-key: ${key}`])
  await assert.rejects(ask(['token: wrong']), /Unauthorized/)
})

test('a busy server is asked again later, and later each time', () => {
  const busy = new ApiError(429, 'busy', 7_000)
  const failed = new ApiError(500, 'failed')
  assert.equal(pauseOf(busy, 1, 0), 7_000)
  assert.deepEqual(
    [1, 2, 3, 20].map((failures) => pauseOf(failed, failures, 1)),
    [500, 1_000, 2_000, 30_000],
  )
  assert.ok(pauseOf(failed, 3, 0) < pauseOf(failed, 3, 1))
})

test('namespaces limit what is read, except nodes', () => {
  const names = streamsOf(['shop']).map(({ name }) => name)
  assert.ok(names.includes('nodes') && names.includes('shop/pods') && !names.includes('pods'))
  assert.equal(createMemory([]).size(), 0)
})
