/** The way of a new user through docs/kubernetes.md: from the manifest to a crash loop, its likely cause and its end. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeCertificate } from '../helpers/certificates.ts'
import { call, incmonServe } from '../helpers/cli.ts'
import { deployment, node, pod, replicaSet, running, terminated, waiting } from '../helpers/kubernetes/objects.ts'
import { positionIn } from '../helpers/kubernetes/positions.ts'
import { type FakeCluster, startFakeCluster } from '../helpers/kubernetes/server.ts'
import type { Json } from '../helpers/kubernetes/storage.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'

const image = 'registry.example/shop/cart:2.0'

async function shop(t: TestContext) {
  const { pem, key } = makeCertificate(t)
  const cluster = await startFakeCluster(t, { tls: { cert: pem, key: readFileSync(key, 'utf8') } })
  cluster.put(node('node-1'))
  cluster.put(deployment('cart'))
  cluster.put(replicaSet('cart', '5d4f8c7b9'))
  cluster.put(pod('cart-5d4f8c7b9-x2kqp', { owner: ['ReplicaSet', 'cart-5d4f8c7b9'] }))
  return { cluster, authority: Buffer.from(pem).toString('base64') }
}

/** Writes the files of the documentation, with the address, the authority and the token of the cluster. */
function configure(directory: string, url: string, authority: string): void {
  const docs = readFileSync(new URL('../../docs/kubernetes.md', import.meta.url), 'utf8')
  const [toml = ''] = /^\[\[kubernetes\]\]\n[^`]*/m.exec(docs) ?? []
  const [kubeconfig = ''] = /^ {3}apiVersion: v1\n {3}kind: Config\n[^`]*/m.exec(docs) ?? []
  writeFileSync(join(directory, 'incmon.toml'), toml.replace('in-cluster', join(directory, 'kubeconfig')))
  const filled = kubeconfig.replace('https://203.0.113.7:6443', url).replace('LS0t…', authority)
  writeFileSync(join(directory, 'kubeconfig'), filled.replace('eyJh…', 'secret').replaceAll(/^ {3}/gm, ''))
}

function breakDown(cluster: FakeCluster): void {
  const at = Date.now()
  cluster.put(deployment('cart', { revision: 2, image, by: 'kubectl-set', ready: 0, at }))
  cluster.put(replicaSet('cart', '7d9f5b6c8', { revision: 2, image, ready: 0 }))
  cluster.delete('Pod', 'shop', 'cart-5d4f8c7b9-x2kqp')
  const more = { state: waiting('CrashLoopBackOff'), last: terminated(1, at - 2_000, at), restarts: 5 }
  cluster.put(pod('cart-7d9f5b6c8-abcde', { owner: ['ReplicaSet', 'cart-7d9f5b6c8'], image, at, ...more }))
}

function recover(cluster: FakeCluster): void {
  const more = { last: terminated(1, 1_000, 3_000), restarts: 5, state: running(10_000), at: Date.now() }
  cluster.put(pod('cart-7d9f5b6c8-abcde', { owner: ['ReplicaSet', 'cart-7d9f5b6c8'], image, ...more }))
  cluster.put(deployment('cart', { revision: 2, image, by: 'kubectl-set' }))
}

test('the documentation leads to a crash loop with its rollout as the likely cause, and to its end', async (t) => {
  const directory = temporaryDirectory(t)
  const { cluster, authority } = await shop(t)
  const run = async (...args: string[]) => (await call(directory, args)).out
  assert.match(await run('kubernetes', 'manifest'), /kind: ClusterRole\n/)
  configure(directory, cluster.url, authority)
  assert.match(await run('kubernetes', 'check'), /^production \(https.*\n[\s\S]*pods +yes/)
  const { url, said } = await incmonServe(t, directory)
  const token = (await run('token', 'create', '--name', 'reader', '--scopes', 'read')).trim()
  const get = async (path: string): Promise<Json> => {
    const response = await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } })
    return response.json()
  }
  const alerts = async () => (await get('/api/alerts')).data
  await eventually(
    () => run('service', 'list'),
    (text) => /cart +.*healthy/i.test(text),
  )
  // What the first lists contain began earlier.
  await eventually(
    async () => positionIn(directory),
    (version) => version > 0,
  )
  breakDown(cluster)
  await eventually(alerts, (all: Json[]) => all.some(({ name }) => name === 'CrashLoopBackOff'))
  const [incident] = await eventually(
    async () => (await get('/api/incidents')).data,
    (all: Json[]) => all.length > 0,
  )
  await eventually(
    async () => (await get(`/api/incidents/${incident.id}/suspects`)).data,
    ([cause = null]: Json[]) => JSON.stringify(cause).includes('shop/cart@7d9f5b6c8'),
  )
  const shown = await run('service', 'show', 'shop/cart')
  assert.match(shown, /^Deployment +0 of 1 available$/m)
  assert.match(shown, /^images +app registry\.example\/shop\/cart:2\.0 \(before: \S+\)$/m)
  assert.match(shown, /^cart-7d9f5b6c8-abcde +CrashLoopBackOff +5 +\d{4}-/m)
  assert.match(
    (await call(directory, ['service', 'show', 'cart'])).err,
    /no service cart: did you mean shop\/cart\? use/,
  )
  recover(cluster)
  await eventually(alerts, (all: Json[]) => all.every(({ status }) => status === 'resolved'))
  for (const told of [
    /"cluster":"production","message":"watching the cluster at https/,
    /the cluster was read: 4 objects/,
  ])
    assert.match(said.out + said.err, told)
})
