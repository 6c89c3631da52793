/** Groups of incidents with a common cause. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wordsOf } from '../../src/domain/suspect/accused.ts'
import { type DependentAlert, dependenciesOf } from '../../src/domain/suspect/dependency.ts'
import { incidentGroupsOf, type OpenIncident } from '../../src/domain/suspect/group.ts'
import { MINUTE } from '../helpers/factory.ts'

const OWN = { cluster: '', namespace: 'shop', name: 'cart' }
const UNWELL = new Map(
  ['postgres', 'redis-cart', 'users'].map((name) => [name, [{ cluster: '', namespace: 'shop', name }]]),
)

function said(text: string, more: Partial<DependentAlert> = {}): DependentAlert {
  return { text: wordsOf(text, {}), labels: {}, node: null, ...more }
}

const NAMES: readonly (readonly [text: string, names: readonly string[]])[] = [
  ['cart answers 70 % with 5xx: dial tcp: connect to postgres.shop.svc:5432: connection refused', ['postgres']],
  ['dial tcp: lookup redis-cart on 10.96.0.10:53: no such host', ['redis-cart']],
  ['could not connect to postgres-0.postgres.shop.svc.cluster.local', ['postgres']],
  ['FATAL: postgres://cart:x@postgres-0.postgres.shop.svc.cluster.local:5432/db timed out', ['postgres']],
  ['POST https://api.cards.example/v1/charges: 503 Service Unavailable', ['api.cards.example']],
  ['dial tcp 10.0.4.7:6379: i/o timeout', ['10.0.4.7']],
  ['too many connections to postgres', ['postgres']],
  ['70 % of users see errors in the basket', []],
  ['redis-cart has 12 evictions in a second', ['redis-cart']],
  ['high latency, see https://wiki.example.com/runbooks/postgres', []],
  ['Readiness probe failed: Get "http://10.244.1.17:8080/ready": connect: connection refused', []],
  ['java.net.ConnectException: Connection refused', []],
  ['main.go:4711: connection refused', []],
  ['http://localhost:8080: connection refused', []],
  ['api-01 cannot connect to mysql:3306', ['mysql']],
  ['dial tcp mysql:3306: i/o timeout', ['mysql']],
  ['connect ECONNREFUSED mysql:3306', ['mysql']],
  ['connect ECONNREFUSED db:5432', ['db']],
  ['dial tcp es:9200: i/o timeout', ['es']],
  ['could not connect to redis://mq:6379', ['mq']],
  ['upstream unavailable, status:503', []],
  ['timeout at 10:30, db overloaded', []],
  ['the api is down', []],
  ['timeout:5000 reached, pool:120 too many connections', []],
  ['certificate errors resolve within 5 min', []],
  ['http://cart.shop.svc: 503', []],
]
for (const [text, names] of NAMES) {
  test(`"${text}" names ${names.join(' and ') || 'nothing else'}`, () => {
    assert.deepEqual(
      dependenciesOf(OWN, [said(text)], UNWELL).map(({ name }) => name),
      names,
    )
  })
}

test('a failed lookup accuses the DNS server that is not well, and no other one', () => {
  const dns = { cluster: '', namespace: 'kube-system', name: 'coredns' }
  const of = (text: string, unwell: typeof dns) =>
    dependenciesOf(OWN, [said(text)], new Map([['coredns', [unwell]]])).map(({ name }) => name)
  for (const text of ['lookup db.shop.svc on 10.96.0.10:53: no such host', 'getaddrinfo EAI_AGAIN db.shop.svc']) {
    assert.equal(of(text, dns)[0], 'coredns')
    assert.ok(!of(text, { ...dns, cluster: 'other' }).includes('coredns'))
  }
  assert.ok(!of('dial tcp db.shop.svc:5432: i/o timeout', dns).includes('coredns'))
})

test('incidents whose lookups fail follow from the incident of the DNS server, not from the name', () => {
  const dns = { cluster: '', namespace: 'kube-system', name: 'coredns' }
  const times = { createdAt: MINUTE, startedAt: MINUTE, change: null }
  const failed = said('lookup postgres.shop.svc on 10.96.0.10:53: no such host')
  const callers = ['a', 'b', 'c'].map((id) => ({ id, ...times, service: { ...OWN, name: id }, alerts: [failed] }))
  const server = { id: 'dns', ...times, service: dns, alerts: [] }
  const causes = (all: readonly OpenIncident[], unwell = new Map([['coredns', [dns]]])) =>
    incidentGroupsOf(all, unwell).map(({ cause, members }) => [cause, members.length])
  assert.deepEqual(causes([server, ...callers]), [['coredns', 4]])
  assert.deepEqual(causes(callers, new Map()), [['postgres', 3]])
})

test('a short host in a label or a text makes a group', () => {
  for (const alert of [said('', { labels: { destination: 'db' } }), said('connect ECONNREFUSED pg:5432')]) {
    const incidents = ['a', 'b', 'c'].map((id): OpenIncident => {
      const times = { createdAt: MINUTE, startedAt: MINUTE }
      return { id, ...times, service: { ...OWN, name: id }, alerts: [alert], change: null }
    })
    assert.equal(incidentGroupsOf(incidents, new Map()).length, 1)
  }
})

test('an alert depends on the service that its labels call, and on the registry of its image', () => {
  const labels = { destination_service: 'postgres.shop.svc.cluster.local' }
  const pull = 'Back-off pulling image "registry.example/shop/cart:1"'
  const found = dependenciesOf(OWN, [said('', { labels }), said(pull), said('', { node: 'worker-3' })], UNWELL)
  assert.deepEqual(
    found.map(({ name }) => name),
    ['postgres', 'node worker-3', 'the registry registry.example'],
  )
  const missing = 'Failed to pull image "registry.example/shop/cart:1": manifest unknown'
  assert.deepEqual(dependenciesOf(OWN, [said(missing)], UNWELL), [])
})

for (const [labels, names] of [
  [{ destination: 'mysql' }, ['mysql']],
  [{ upstream: 'mysql:3306' }, ['mysql']],
  [{ destination_service_name: 'PassthroughCluster' }, []],
  [{ destination_service: 'unknown' }, []],
  [{ server: 'web-01' }, []],
] as const) {
  test(`${JSON.stringify(labels)} names ${names.join() || 'nothing'}`, () => {
    const found = dependenciesOf(OWN, [said('', { labels })], UNWELL)
    assert.deepEqual(
      found.map(({ name }) => name),
      names,
    )
  })
}

let ids = 0
function incident(name: string, text: string, minute = 0, more: Partial<OpenIncident> = {}): OpenIncident {
  ids += 1
  const at = minute * MINUTE
  const service = { cluster: '', namespace: 'shop', name }
  return { id: `${name} ${ids}`, createdAt: at, startedAt: at, service, alerts: [said(text)], change: null, ...more }
}

function groups(...incidents: readonly OpenIncident[]) {
  const places = Map.groupBy(
    incidents.map(({ service }) => service),
    ({ name }) => name,
  )
  return incidentGroupsOf(incidents, places).map(({ leader, cause, members }) => {
    return [leader.split(' ')[0], cause, members.length]
  })
}

const REFUSED = 'dial tcp: connect to postgres.shop.svc:5432: connection refused'
const victims = (count: number, text = REFUSED) => {
  return Array.from({ length: count }, (_, index) => incident(`caller-${index}`, text, index))
}

test('the database leads the group of its callers, whoever was first', () => {
  assert.deepEqual(groups(...victims(2), incident('postgres', 'crash loop', 3)), [['postgres', 'postgres', 3]])
  assert.deepEqual(groups(...victims(3)), [['caller-0', 'postgres', 3]])
})

test('callers are a group although nothing is known of what they call, and of one namespace only', () => {
  const named = (namespace: string) => (one: OpenIncident) => ({ ...one, service: { ...one.service, namespace } })
  const callers = victims(3, 'cannot connect to mysql:3306')
  assert.deepEqual(groups(...callers), [['caller-0', 'mysql', 3]])
  assert.deepEqual(groups(...callers.slice(0, 2), ...callers.slice(2).map(named('blog'))), [])
})

test('two incidents are no group, and neither are three without anything in common', () => {
  assert.deepEqual(groups(...victims(2)), [])
  assert.deepEqual(groups(...['a', 'b', 'c'].map((name) => incident(name, `${name} answers with 5xx`))), [])
})

test('an incident that began long before the database failed has another cause', () => {
  const early = incident('early', REFUSED, -30)
  assert.deepEqual(groups(early, ...victims(2), incident('postgres', 'crash loop')), [['postgres', 'postgres', 3]])
})

test('a host outside the cluster, a registry and a change can be the cause', () => {
  const outside = 'POST https://api.cards.example/v1/charges: 503'
  assert.deepEqual(groups(...victims(3, outside)), [['caller-0', 'api.cards.example', 3]])
  const pull = 'Back-off pulling image "registry.example/shop/x:1"'
  assert.deepEqual(groups(...victims(3, pull)), [['caller-0', 'the registry registry.example', 3]])
  const address = 'Failed to pull image "registry.example/shop/x:1": dial tcp 10.0.0.9:443: connection refused'
  assert.deepEqual(groups(...victims(3, address)), [['caller-0', 'the registry registry.example', 3]])
  const proxy =
    'Failed to pull image "registry.example/x:1": proxyconnect tcp: dial tcp proxy.acme.example:3128: refused'
  assert.ok(dependenciesOf(OWN, [said(proxy)], UNWELL).some(({ name }) => name === 'proxy.acme.example'))
  const refused = 'Failed to pull image "registry.example/shop/x:1": failed to authorize: 401 Unauthorized'
  assert.deepEqual(groups(...victims(3, refused)), [['caller-0', 'the credentials for registry.example', 3]])
  assert.deepEqual(groups(...victims(3, 'dial tcp 10.0.0.9:443: connection refused')), [['caller-0', '10.0.0.9', 3]])
  const changed = victims(3, '').map((one) => ({ ...one, change: 'shop/mono#12' }))
  assert.deepEqual(groups(...changed), [['caller-0', 'shop/mono#12', 3]])
})

test('incidents on one node are a group if they open within five minutes of each other', () => {
  const onNode = (minute: number) => incident(`pod-${minute}`, '', minute, { alerts: [said('', { node: 'worker-3' })] })
  assert.deepEqual(groups(...[0, 1, 2, 4].map(onNode)), [['pod-0', 'node worker-3', 4]])
  assert.deepEqual(groups(...[0, 10, 20, 30].map(onNode)), [])
})

test('a victim that is itself a cause joins its callers to the group of its own cause', () => {
  const postgres = incident('postgres', 'dial tcp: connect to storage.shop.svc:9000: timeout')
  const others = [incident('mail', 'http://storage.shop.svc:9000: 503'), incident('storage', 'disk failed')]
  assert.deepEqual(groups(...victims(3), postgres, ...others), [['storage', 'storage', 6]])
})

test('services of equal names in two clusters have two causes', () => {
  const cluster = (name: string) => victims(2).map((one) => ({ ...one, service: { ...one.service, cluster: name } }))
  assert.deepEqual(groups(...cluster('east'), ...cluster('west')), [])
})
