/** Who is accused: the host in an error message, the registry that nobody reaches, the rollout whose pods leak. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { removesEndpoints } from '../../src/domain/event/rollout.ts'
import { rankSuspects, type SuspectFacts } from '../../src/domain/suspect/suspect.ts'
import { alert, at, deploy, event, facts, SERVICES } from './suspect-facts.ts'

const refs = (given: SuspectFacts) => rankSuspects(given).map(({ ref }) => ref)
const ofAlert = (summary: string) => refs(facts({ alerts: [alert('web', 'HighErrorRate', 0, { summary })] }))

describe('a message accuses', () => {
  for (const [text, found] of [
    ['dial tcp: lookup pay on 10.96.0.10:53: no such host', 'shop/pay'],
    ['Get "http://pay/charge": context deadline exceeded', 'shop/pay'],
    ['POST https://pay.shop.svc.cluster.local:8443/v1 failed: 503', 'shop/pay'],
    ['Error: connect ECONNREFUSED pay:8080', 'shop/pay'],
    ['getaddrinfo EAI_AGAIN ledger.bank', 'bank/ledger'],
    ['could not translate host name "pay-headless" to address: Name or service not known', 'shop/pay'],
    ["HTTPConnectionPool(host='pay', port=80): Max retries exceeded", 'shop/pay'],
    ['connection to server at "pay-0.pay.shop.svc.cluster.local" (10.1.2.3), port 5432 failed', 'shop/pay'],
    ['could not connect to server pay.shop.svc.cluster.local:5432: connection refused', 'shop/pay'],
    ['cannot connect to broker pay:9092', 'shop/pay'],
    ['java.net.UnknownHostException: pay', 'shop/pay'],
    ['redis://:@cart:6379: connection reset by peer', 'shop/cart'],
    ['no endpoints available for service "pay"', 'shop/pay'],
    ['AnnotatedConnectException: Connection refused: pay/10.43.7.12:6379', 'shop/pay'],
    ['Unable to resolve pay.shop.svc.cluster.local/<unresolved>:6379', 'shop/pay'],
    ['HttpRequestException: Connection refused (pay:8080)', 'shop/pay'],
    ['connection refused (pay-0.pay.shop.svc.cluster.local:6379)', 'shop/pay'],
    ['pay.shop.svc:8080 does not answer', 'shop/pay'],
    ['Connection to node 1 (pay-1.pay-brokers.shop.svc/10.42.0.9:9092) could not be established', 'shop/pay'],
  ] as const)
    test(text, () => assert.equal(ofAlert(text)[0], found))

  test('also in the event of a pod', () => {
    const text = 'Readiness probe failed: dial tcp: lookup pay on 10.96.0.10:53: no such host'
    assert.equal(refs(facts({ events: [event('web', 'Unhealthy', 0, { text, count: 9 })] }))[0], 'shop/pay')
  })
})

describe('a message does not accuse', () => {
  for (const text of [
    'Get "http://10.244.1.17:8080/ready": connection refused',
    'dial tcp: lookup api.stripe.com: no such host',
    'lookup ledger: no such host',
    'could not connect to server: Connection refused',
    'http://web:8080/ answers 503',
    'pay and cart are slow',
    'http://pay/ and http://cart/ fail',
    'https://pay.example.com/ is down',
    'waits for pay.shop.svc',
    'panic (main.go:42) in pay.go:120',
    'connection refused: 10.43.7.12/10.43.7.12:6379',
  ])
    test(text, () => assert.deepEqual(ofAlert(text), ['shop/web']))
})

describe('a name that cannot be looked up', () => {
  const dns = { id: 'dns', cluster: '', namespace: 'kube-system', name: 'coredns' }
  const UNANSWERED = 'dial tcp: lookup pay on 10.96.0.10:53: read udp 10.1.2.3:4000->10.96.0.10:53: i/o timeout'
  const MISSING = 'dial tcp: lookup pay on 10.96.0.10:53: no such host'
  const first = (summary: string, isIll: boolean, services = [...SERVICES, dns]) => {
    const own = alert('web', 'HighErrorRate', 0, { summary })
    const ill = isIll ? [alert('dns', 'CrashLoopBackOff', -2, { severity: 'critical' })] : []
    return refs(facts({ alerts: [own, ...ill], services }))[0]
  }

  for (const text of [UNANSWERED, MISSING, 'getaddrinfo EAI_AGAIN pay', 'Temporary failure in name resolution: pay'])
    test(`accuses the DNS server that has a problem: ${text}`, () =>
      assert.equal(first(text, true), 'kube-system/coredns'))
  for (const text of [
    UNANSWERED,
    'getaddrinfo EAI_AGAIN pay',
    "host='pay': [Errno -3] Temporary failure in name resolution",
    'lookup pay on 10.96.0.10:53: server misbehaving',
  ])
    test(`accuses nobody while the DNS server has no known problem: ${text}`, () =>
      assert.equal(first(text, false), 'shop/web'))
  test('accuses the missing service while the DNS server has no known problem', () =>
    assert.equal(first(MISSING, false), 'shop/pay'))
  test('does not accuse the DNS server of another cluster', () => {
    const here = SERVICES.map((service) => ({ ...service, cluster: 'here' }))
    assert.doesNotMatch(first(MISSING, true, [...here, { ...dns, cluster: 'other' }]) ?? '', /coredns/)
  })
})

describe('a registry', () => {
  const pull = (service: string, why: string, host = 'registry.example.com') =>
    event(service, 'Failed', 0, { text: `Failed to pull image "${host}/shop/${service}:1": ${why}`, count: 3 })
  const unreachable = 'Get "https://registry.example.com/v2/": dial tcp 10.0.0.9:443: i/o timeout'
  const first = (why: string, of: readonly string[]) => refs(facts({ events: of.map((one) => pull(one, why)) }))[0]

  test('is the suspect if three services cannot reach it', () => {
    assert.equal(first(unreachable, ['web', 'cart', 'pay']), 'registry/registry.example.com')
    assert.equal(first('toomanyrequests: rate limit', ['web', 'cart', 'pay']), 'registry/registry.example.com')
  })
  test('connects the services that pull from it by more than time', () => {
    const [suspect] = rankSuspects(facts({ events: ['web', 'cart', 'pay'].map((one) => pull(one, unreachable)) }))
    assert.equal(
      suspect?.reasons.some(({ code }) => code === 'only_time'),
      false,
    )
  })
  test('is not suspected by two services, or for a missing tag', () => {
    assert.doesNotMatch(first(unreachable, ['web', 'cart']) ?? '', /registry/)
    assert.doesNotMatch(first('manifest unknown', ['web', 'cart', 'pay']) ?? '', /registry/)
  })
})

describe('the first time that pods of the newest template run out of memory', () => {
  const rollout = (minutes: number, hash = '5d4f8c7b9') => ({
    ...{ kind: 'rollout' as const, ref: `shop/web@${hash}`, service: 'web', hash, eventId: `rollout ${hash}` },
    ...{ startsAt: at(minutes), endsAt: at(minutes + 10) },
  })
  const oom = (minutes: number, more = {}) => event('web', 'OOMKilled', minutes, { count: 2, ...more })
  const score = (given: Partial<SuspectFacts>) =>
    rankSuspects(facts(given)).find(({ kind }) => kind === 'rollout')?.score ?? 0

  test('suspects its rollout hours later', () => {
    assert.ok(score({ changes: [rollout(-60 * 9)], events: [oom(0)] }) >= 0.2)
  })
  test('suspects nothing for pods of another template, or for a habit', () => {
    assert.equal(score({ changes: [rollout(-60 * 9, '6c8b9d4f7')], events: [oom(0)] }), 0)
    const seen = { at: at(0), firstSeenAt: at(-100), count: 90 }
    assert.ok(score({ changes: [rollout(-60 * 9)], events: [oom(0, seen)] }) < 0.2)
  })
  test('suspects no old rollout for a crash', () => {
    const text = 'Back-off restarting failed container'
    assert.equal(score({ changes: [rollout(-60 * 9)], events: [event('web', 'BackOff', 0, { text, count: 9 })] }), 0)
  })
  test('does not hide a deploy just before it', () => {
    const changes = [rollout(-60 * 9), deploy('web', -3)]
    assert.ok(refs(facts({ changes, events: [oom(0)] })).includes('shop/web#1'))
  })
})

test('a Service that loses its selector or its endpoints has changed', () => {
  for (const text of [
    'Service shop/cart: selector removed',
    'Removed all endpoints',
    'selector app=cart changed to app=crt',
  ])
    assert.ok(removesEndpoints(text), text)
  for (const text of [
    'Failed to update endpoint shop/cart: please apply your changes',
    'Endpoints shop/cart created',
    '',
  ])
    assert.ok(!removesEndpoints(text), text)
})
