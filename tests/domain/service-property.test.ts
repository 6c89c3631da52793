/**
 * Attribution of arbitrary input: it always returns, generated names lead back to their workload, and exporters are
 * ignored.
 */

import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { possibleWorkloads } from '../../src/domain/service/pod-name.ts'
import { aliasesToFind, attribute, matchesName, namesToFind, nodeOf } from '../../src/domain/service/service.ts'
import { alertDraft, clusterDraft, job, logicalLabels, pipelineDraft } from './service-cases.ts'

const RUNS = { numRuns: 1000 }
const namespace = 'shop'

const NAMES = [
  'deployment',
  'pod',
  'job',
  'job_name',
  'service',
  'instance',
  'node',
  'namespace',
  'exported_pod',
  'target',
]
const VALUES = [
  'kube-state-metrics',
  'kubelet',
  'blackbox',
  'node-exporter',
  'web-7d9f5b6c8-xk2lp',
  'https://',
  ':1',
  '-',
  '/',
]
const KINDS = ['Pod', 'ReplicaSet', 'Job', 'PersistentVolumeClaim', 'Deployment', 'Node', 'Ingress', '']
const someName = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: 'grapheme' }), fc.constant('__proto__'))
const someValue = fc.oneof(fc.constantFrom(...VALUES), fc.string({ unit: 'binary', maxLength: 300 }))
const someLabels = fc
  .array(fc.tuple(someName, someValue), { maxLength: 12 })
  .map((pairs) => pairs.reduce((labels, [name, value]) => put(labels, name, value), Object.create(null)))

/** Generates `count` of the characters that Kubernetes uses. */
const from = (letters: string, min: number, max = min) =>
  fc.string({ unit: fc.constantFrom(...letters), minLength: min, maxLength: max })
const RANDOM = 'bcdfghjklmnpqrstvwxz2456789'
const random = from(RANDOM, 5).filter((it) => !['https', 'mssql', 'pgsql'].includes(it))
const hash = from('456789bcdf', 6, 10)
const workload = fc.stringMatching(/^[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,8}){0,3}$/)
const minutes = fc.integer({ min: 20_000_000, max: 39_999_999 }).map(String)

function put(labels: Record<string, string>, name: string, value: string) {
  labels[name] = value
  return labels
}

function podName(name: string): string {
  return name.length > 63 ? `${name.slice(0, 58)}${name.slice(-5)}` : name
}

function ownerOf(name: string, known: readonly string[], kind = 'Pod'): string {
  const draft = clusterDraft({ kind, namespace, name })
  const asked = namesToFind(draft)
  const found = known.map((it) => ({ namespace, name: it })).filter((it) => asked.some((ask) => matchesName(ask, it)))
  return attribute(draft, found).name
}

it('every alert has a service, whatever its labels', () => {
  fc.assert(
    fc.property(someLabels, (labels) => {
      const draft = alertDraft(labels)
      const attribution = attribute(draft, namesToFind(draft))
      assert.notEqual(attribution.name, '')
      assert.ok(attribution.name.length <= 253)
      logicalLabels(draft, attribution)
      aliasesToFind(draft)
      nodeOf(draft)
    }),
    RUNS,
  )
})

it('every object has a service, whatever its name', () => {
  const objects = fc.record({
    kind: fc.constantFrom(...KINDS),
    name: someValue,
    namespace: someValue,
    labels: someLabels,
  })
  fc.assert(
    fc.property(objects, (object) => {
      const draft = clusterDraft(object)
      assert.notEqual(attribute(draft, []).name, '')
      assert.notEqual(attribute(draft, namesToFind(draft)).name, '')
    }),
    RUNS,
  )
})

it('every project has a service, whatever its path and environment', () => {
  fc.assert(
    fc.property(someValue, someValue, someValue, (path, ref, name) => {
      const jobs = [job({ environment: { name, action: null } })]
      const draft = pipelineDraft({ project: { path, name: '', defaultBranch: null }, ref, jobs })
      const known = namesToFind(draft).map((it) => ({ namespace: path, name: it.name }))
      assert.notEqual(attribute(draft, known).name, '')
      assert.notEqual(attribute(draft, [], known).name, '')
    }),
    RUNS,
  )
})

it('a volatile label never changes the logical labels', () => {
  const names = ['severity', 'uid', 'endpoint', 'prometheus', 'prometheus_replica', 'replica', 'container_id']
  fc.assert(
    fc.property(someLabels, fc.constantFrom(...names), someValue, (labels, name, value) => {
      const before = alertDraft(labels)
      const after = alertDraft(put(Object.assign(Object.create(null), labels), name, value))
      const [was, is] = [attribute(before, []), attribute(after, [])]
      assert.deepEqual(is, was)
      assert.deepEqual(logicalLabels(after, is), logicalLabels(before, was))
    }),
    RUNS,
  )
})

it('only known services affect the service of an alert', () => {
  fc.assert(
    fc.property(someLabels, (labels) => {
      const draft = alertDraft(labels)
      const values = ['', ...Object.values<string>(labels)]
      const names = values.flatMap((value) => possibleWorkloads('pod', value))
      const services = values.flatMap((it) => names.map((name) => ({ namespace: it, name })))
      const asked = services.filter((service) => namesToFind(draft).some((name) => matchesName(name, service)))
      assert.deepEqual(attribute(draft, asked), attribute(draft, services))
    }),
    RUNS,
  )
})

it('a Deployment is found by its pods and ReplicaSets, known or not', () => {
  fc.assert(
    fc.property(workload, hash, random, (name, podHash, suffix) => {
      assert.equal(ownerOf(`${name}-${podHash}-${suffix}`, []), name)
      assert.equal(ownerOf(`${name}-${podHash}-${suffix}`, [name]), name)
      assert.equal(ownerOf(`${name}-${podHash}`, [], 'ReplicaSet'), name)
      assert.equal(ownerOf(`${name}-${podHash}`, [name], 'ReplicaSet'), name)
    }),
    RUNS,
  )
})

it('a StatefulSet is found by its pods, and by its claims if it is known', () => {
  fc.assert(
    fc.property(workload, fc.nat(9999), fc.stringMatching(/^[a-z]{1,8}$/), (name, ordinal, template) => {
      assert.equal(ownerOf(`${name}-${ordinal}`, []), name)
      assert.equal(ownerOf(`${name}-${ordinal}`, [name]), name)
      assert.equal(ownerOf(`${template}-${name}-${ordinal}`, [name], 'PersistentVolumeClaim'), name)
    }),
    RUNS,
  )
})

it('a CronJob is found by its pods and Jobs, known or not', () => {
  fc.assert(
    fc.property(workload, minutes, random, (name, time, suffix) => {
      assert.equal(ownerOf(`${name}-${time}-${suffix}`, []), name)
      assert.equal(ownerOf(`${name}-${time}-${suffix}`, [name]), name)
      assert.equal(ownerOf(`${name}-${time}`, [], 'Job'), name)
    }),
    RUNS,
  )
})

it('a known DaemonSet is found by its pods', () => {
  fc.assert(
    fc.property(workload, random, (name, suffix) => assert.equal(ownerOf(`${name}-${suffix}`, [name]), name)),
    RUNS,
  )
})

it('a known Deployment or CronJob with a long name is found by its truncated pod names', () => {
  const long = from('abcdefghijklm', 46, 62)
  fc.assert(
    fc.property(long, hash, minutes, random, (name, podHash, time, suffix) => {
      assert.equal(ownerOf(podName(`${name}-${podHash}-${suffix}`), [name]), name)
      assert.equal(ownerOf(podName(`${name.slice(0, 52)}-${time}-${suffix}`), [name.slice(0, 52)]), name.slice(0, 52))
    }),
    RUNS,
  )
})

it('a service with a longer or shorter name never gets a pod', () => {
  fc.assert(
    fc.property(workload, workload, hash, random, (name, other, podHash, suffix) => {
      fc.pre(!/^(?:[bcdfghjklmnpqrstvwxz2456789]{5}|\d+|[456789bcdf]{6,10})(?:-|$)/.test(other))
      assert.equal(ownerOf(`${name}-${other}-${podHash}-${suffix}`, [name]), `${name}-${other}`)
    }),
    RUNS,
  )
})
