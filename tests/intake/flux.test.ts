/** The events of Flux, which arrive as alerts. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { READERS } from '../../src/intake/index.ts'

const RECEIVED = Date.UTC(2026, 4, 4, 10)
const startsAt = '2026-05-04T09:59:30Z'
const flux = (reason: string, severity: string, more: object = {}) => {
  const of = { kind: 'HelmRelease', name: 'cart', namespace: 'shop', reason, severity }
  const labels = { alertname: `FluxHelmRelease${reason}`, ...of }
  return { status: 'firing', labels, annotations: { message: 'of cart' }, startsAt, ...more }
}

for (const source of ['metrics', 'dashboard'] as const) {
  const read = (...alerts: object[]) => READERS[source]({ version: '4', alerts }, RECEIVED)

  test(`through the ${source} webhook, an info event is normal and an error is a warning`, () => {
    const { accepted } = read(flux('InstallSucceeded', 'info'), flux('HealthCheckFailed', 'error'))
    const seen = accepted.map(
      ({ draft }) => draft.source === 'cluster' && [draft.type, draft.reason, draft.object.name],
    )
    assert.deepEqual(seen, [
      ['Normal', 'InstallSucceeded', 'cart'],
      ['Warning', 'HealthCheckFailed', 'cart'],
    ])
  })

  test(`through the ${source} webhook, the end of an event is nothing, and other alerts keep their index`, () => {
    const over = flux('InstallSucceeded', 'info', { status: 'resolved', endsAt: '2026-05-04T10:00:00Z' })
    const { accepted, rejected } = read(over, { labels: { alertname: 'CartDown' }, startsAt })
    assert.deepEqual([accepted.map(({ index }) => index), rejected], [[1], []])
  })
}

for (const labels of [
  { alertname: 'FluxCapacitorDown', severity: 'error' },
  { alertname: 'FluxKustomizationStuck', kind: 'Kustomization', name: 'cart' },
  { alertname: 'PodFluxPodFailed', kind: 'Pod', name: 'cart', reason: 'Failed' },
]) {
  test(`${labels.alertname} is an alert`, () => {
    const [found] = READERS.metrics({ alerts: [{ labels, startsAt }] }, RECEIVED).accepted
    assert.equal(found?.draft.source, 'metrics')
  })
}
