/** The fake API server speaks Kubernetes' protocol: `kubectl` works with it. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { makeCertificate } from '../helpers/certificates.ts'
import { kubectl, kubectlUntil, writeKubeconfig } from '../helpers/kubernetes/kubeconfig.ts'
import { deployment, event, node, pod, replicaSet, running } from '../helpers/kubernetes/objects.ts'
import { startFakeCluster } from '../helpers/kubernetes/server.ts'
import type { Json } from '../helpers/kubernetes/storage.ts'
import { missingPrograms } from '../helpers/programs.ts'

const skip = missingPrograms().includes('kubectl') && !process.env.CI && 'kubectl is missing'

async function shop(t: TestContext) {
  const { pem, cert, key } = makeCertificate(t)
  const cluster = await startFakeCluster(t, { tls: { cert: pem, key: readFileSync(key, 'utf8') } })
  cluster.put(deployment('cart', { replicas: 2, ready: 1 }))
  cluster.put(replicaSet('cart', '5d4f8c7b9', { replicas: 2 }))
  cluster.put(pod('cart-5d4f8c7b9-x2kqp', { owner: ['ReplicaSet', 'cart-5d4f8c7b9'], state: running(0) }))
  cluster.put(node('node-1'))
  // kubectl sends tokens only to https.
  const authority = [`certificate-authority: ${cert}`]
  return { cluster, authority, config: writeKubeconfig(t, cluster.url, { cluster: authority }) }
}

test('kubectl gets pods, nodes and deployments', { skip }, async (t) => {
  const { config } = await shop(t)
  assert.match(await kubectl(config, 'get', 'pods'), /cart-5d4f8c7b9-x2kqp/)
  assert.match(await kubectl(config, 'get', 'nodes,deployments', '-A'), /node\/node-1[\s\S]*deployment.apps\/cart/)
  assert.match(await kubectl(config, 'get', 'pod', 'cart-1'), /NotFound/)
})

test('kubectl watches pods', { skip }, async (t) => {
  const { cluster, config } = await shop(t)
  const seen = await kubectlUntil(config, ['get', 'pods', '-w'], ['x2kqp', 'cart-new'], () =>
    cluster.put(pod('cart-new')),
  )
  assert.match(seen, /cart-new/)
})

test('kubectl describes a pod with its events', { skip }, async (t) => {
  const { cluster, config } = await shop(t)
  cluster.put({
    ...event('e1', 'Pod', 'cart-5d4f8c7b9-x2kqp', 'BackOff', 'Back-off restarting'),
    involvedObject: cluster.get('Pod', 'shop', 'cart-5d4f8c7b9-x2kqp').metadata,
  })
  const text = await kubectl(config, 'describe', 'pod', 'cart-5d4f8c7b9-x2kqp')
  assert.match(text, /Controlled By:\s+ReplicaSet\/cart-5d4f8c7b9[\s\S]*Back-off restarting/)
})

test('kubectl waits for a rollout', { skip }, async (t) => {
  const { cluster, config } = await shop(t)
  const args = ['rollout', 'status', 'deployment/cart']
  const said = await kubectlUntil(config, args, ['1 of 2 updated replicas', 'successfully rolled out'], () =>
    cluster.put(deployment('cart', { replicas: 2, ready: 2 })),
  )
  assert.match(said, /successfully rolled out/)
})

test('kubectl asks what it is allowed to do', { skip }, async (t) => {
  const { cluster, config } = await shop(t)
  assert.match(await kubectl(config, 'auth', 'can-i', 'list', 'pods'), /^yes/)
  cluster.state.denied.add('list pods')
  assert.match(await kubectl(config, 'auth', 'can-i', 'list', 'pods'), /^no/)
  assert.match(await kubectl(config, 'get', 'pods'), /Forbidden/)
})

test('a wrong token is refused', { skip }, async (t) => {
  const { cluster, authority } = await shop(t)
  const wrong = writeKubeconfig(t, cluster.url, { cluster: authority, user: ['token: wrong'] })
  assert.match(await kubectl(wrong, 'get', 'pods'), /logged in to the server/)
})

test('a list comes in pages, and a page is gone after a compaction', async (t) => {
  const cluster = await startFakeCluster(t)
  for (let index = 0; index < 5; index += 1) cluster.put(pod(`pod-${index}`))
  const ask = async (query: string) => {
    const response = await fetch(`${cluster.url}/api/v1/pods?${query}`, { headers: { Authorization: 'Bearer secret' } })
    return { status: response.status, body: (await response.json()) as Json }
  }
  const first = await ask('limit=2')
  cluster.put(pod('pod-new'))
  const next = first.body.metadata.continue
  const second = await ask(`limit=9&continue=${next}`)
  assert.deepEqual([first.body.items.length, second.body.items.length], [2, 3])
  cluster.compact()
  assert.equal((await ask(`limit=9&continue=${next}`)).status, 410)
})
