/**
 * Every alert of kube-prometheus with the labels from its rule belongs to its workload or node, never to the exporter.
 */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { attribute } from '../../src/domain/service/service.ts'
import { alertDraft, labelsOf, logicalLabels, rows } from './service-cases.ts'

const table = rows('kube-alerts.tsv') as [string, string, string, string, string][]

/** Labels from scraping kube-state-metrics, which are present if the rule does not aggregate. */
const SCRAPE = 'endpoint=https-main instance=10.2.0.7:8443 job=kube-state-metrics service=kube-state-metrics'

/** Alerts in the kubernetes-apps group that are about a workload come from kube-state-metrics. */
const OBJECTS = /^(deployment|statefulset|daemonset|job_name|horizontalpodautoscaler|poddisruptionbudget)=/

function draft(alertname: string, severity: string, labels: string) {
  return alertDraft(labelsOf(`alertname=${alertname} severity=${severity} prometheus=monitoring/k8s ${labels}`))
}

describe('kube-prometheus', () => {
  it('has at least 154 alerts in the table', () => assert.ok(table.length >= 154))

  for (const [alertname, severity, labels, namespace, name] of table)
    it(`${alertname} (${severity}) of ${labels || 'nothing'} is about ${name}`, () => {
      const { rule, creates, ...service } = attribute(draft(alertname, severity, labels), [])
      assert.deepEqual(service, { namespace, name })
      assert.equal('by' in rule && rule.by === 'none', name === 'unattributed')
      assert.equal(creates, 'alert')
    })
})

describe('kube-state-metrics that restarts', () => {
  const ofObjects = table.filter(([, , labels]) => labels.split(' ').some((label) => OBJECTS.test(label)))
  for (const [alertname, severity, labels, , name] of ofObjects)
    it(`leaves ${alertname} about ${name} unchanged`, () => {
      const before = draft(alertname, severity, labels)
      const after = draft(alertname, severity, `${labels} ${SCRAPE} pod=kube-state-metrics-b894d84cc-d6htw`)
      assert.equal(attribute(after, []).name, name)
      assert.deepEqual(logicalLabels(after, attribute(after, [])), withoutScrape(before))
    })
})

/** Returns the draft's logical labels, which might already contain the exporter's job or address. */
function withoutScrape(before: ReturnType<typeof draft>) {
  const { job: _job, instance: _instance, ...labels } = logicalLabels(before, attribute(before, []))
  return labels
}
