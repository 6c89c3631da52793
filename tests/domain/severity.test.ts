/** Severity: the values of all senders are mapped to one scale. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { AlertDraft } from '../../src/domain/event/event.ts'
import { parseSeverity, rank, SEVERITIES, severityOf, worst } from '../../src/domain/severity.ts'

const WORDS = {
  critical: 'critical crit fatal emergency emerg disaster page urgent blocker severe p0 p1 s0 s1 sev0 sev1',
  error: 'error err high major alert p2 s2 sev2',
  warning: 'warning warn medium average minor moderate ticket p3 s3 sev3',
  info: 'info informational information notice low debug trace p4 p5 s4 sev4',
  none: 'none ok normal cleared',
} as const

const alert = (labels: Record<string, string>, nature: AlertDraft['nature'] = 'alert'): AlertDraft => ({
  source: 'metrics',
  at: 0,
  payload: '{}',
  status: 'firing',
  labels: Object.assign(Object.create(null), labels),
  annotations: {},
  startsAt: 0,
  endsAt: null,
  fingerprint: 'cbf29ce484222325',
  links: {},
  name: 'HighLatency',
  nature,
})

describe('a value', () => {
  for (const [severity, words] of Object.entries(WORDS)) {
    for (const word of words.split(' ')) {
      test(`${word} is ${severity}`, () => assert.equal(parseSeverity(word), severity))
    }
  }

  test('case and whitespace are ignored', () => {
    assert.deepEqual([' CRITICAL\n', 'Sev 1', '\tp2'].map(parseSeverity), ['critical', 'critical', 'error'])
  })

  test('separators and other words do not matter', () => {
    for (const word of ['P1 - Critical', 'sev-1', 'SEV_0', 'critical-infra', 'FATAL!', 'Very High', 'very-high', 'S 1'])
      assert.equal(parseSeverity(word), 'critical', word)
    assert.deepEqual(['P2/high', 'P1 (Critical)', 'db:low', 'P3.'].map(parseSeverity), [
      'error',
      'critical',
      'info',
      'warning',
    ])
    assert.deepEqual(['SEV-2', 'Priority_P3', 'db-low', 'None!'].map(parseSeverity), [
      'error',
      'warning',
      'info',
      'none',
    ])
  })

  test('of several known words the worst counts', () => {
    assert.deepEqual(['warning-critical', 'P3 - High', 'info_notice', 'ok - page'].map(parseSeverity), [
      'critical',
      'error',
      'info',
      'critical',
    ])
  })

  test('a negated word is unknown', () => {
    for (const word of ['non-critical', 'not critical', 'no_page', 'un-critical', 'Non Critical - P1', 'not-info'])
      assert.equal(parseSeverity(word), 'warning', word)
    assert.equal(parseSeverity('p2 - not critical'), 'error')
  })

  test('an unknown, blank or missing value is a warning', () => {
    const inside = ['uncritical', 'AlertMedium', 'pageteam', 'superhigh', 'p11', '1', '5', 'Критично']
    for (const word of [
      ...inside,
      'purple',
      'p9',
      'sev9',
      '',
      '  ',
      '__proto__',
      'constructor',
      'a-'.repeat(9_999),
      undefined,
    ]) {
      assert.equal(parseSeverity(word), 'warning', String(word))
    }
  })

  test('any text gives a severity or none', () => {
    const known = [...SEVERITIES, 'none']
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (word) => known.includes(parseSeverity(word))),
      { numRuns: 1000 },
    )
  })
})

describe('the order', () => {
  test('runs from info 0 to critical 3', () => {
    assert.deepEqual(SEVERITIES.map(rank), [3, 2, 1, 0])
  })

  test('the worse of two is one of them, in any order', () => {
    const severity = fc.constantFrom(...SEVERITIES)
    fc.assert(
      fc.property(severity, severity, (a, b) => {
        assert.equal(worst(a, b), worst(b, a))
        assert.equal(rank(worst(a, b)), Math.max(rank(a), rank(b)))
      }),
      { numRuns: 1000 },
    )
  })
})

describe('an alert', () => {
  test('uses the severity label and keeps its text', () => {
    const expected = { severity: 'critical', raw: 'Page', rule: 'label severity' }
    assert.deepEqual(severityOf(alert({ severity: 'Page', priority: 'p5' })), expected)
  })

  test('without it uses sloth_severity, priority, then level', () => {
    const sloth = severityOf(alert({ sloth_severity: 'page', priority: 'P4' }))
    assert.deepEqual([sloth.severity, sloth.rule], ['critical', 'label sloth_severity'])
    assert.equal(severityOf(alert({ priority: 'P1', level: 'info' })).rule, 'label priority')
    assert.equal(severityOf(alert({ Severity: 'Critical', priority: 'P3' })).rule, 'label Severity')
    assert.equal(severityOf(alert({ Severity: 'critical', severity: 'info' })).severity, 'info')
    assert.equal(severityOf(alert({ level: 'info' })).severity, 'info')
  })

  test('without it uses what people call it, after all other labels', () => {
    for (const label of ['severity_level', 'alert_severity', 'urgency', 'criticality', 'Urgency'])
      assert.deepEqual(severityOf(alert({ [label]: 'P1' })).rule, `label ${label}`)
    assert.equal(severityOf(alert({ urgency: 'high' })).severity, 'error')
    assert.equal(severityOf(alert({ level: 'info', criticality: 'critical' })).severity, 'info')
    assert.equal(severityOf(alert({ severity: 'warning', urgency: 'high' })).severity, 'warning')
  })

  test("without it uses the labels of Grafana's SLOs and of Opsgenie, and no label of another kind", () => {
    assert.equal(severityOf(alert({ grafana_slo_severity: 'critical' })).severity, 'critical')
    assert.equal(severityOf(alert({ og_priority: 'P1' })).severity, 'critical')
    assert.equal(severityOf(alert({ severity: 'warning', grafana_slo_severity: 'critical' })).severity, 'warning')
    for (const label of ['grafana_slo_window', 'node_priority', 'alert_sensitivity', 'priority_class'])
      assert.equal(severityOf(alert({ [label]: 'critical' })).rule, 'no severity label', label)
  })

  test('ignores a blank label', () => {
    assert.equal(severityOf(alert({ severity: ' ', priority: 'high' })).severity, 'error')
  })

  test('ignores a placeholder', () => {
    for (const severity of ['[no value]', '<no value>', '{{ $labels.severity }}'])
      assert.equal(severityOf(alert({ severity, level: 'high' })).severity, 'error', severity)
  })

  test('without any label uses the annotation', () => {
    const annotated = (labels: Record<string, string>) =>
      severityOf({ ...alert(labels), annotations: { severity: 'sev-1' } })
    assert.deepEqual(annotated({}), { severity: 'critical', raw: 'sev-1', rule: 'annotation severity' })
    assert.equal(annotated({ level: 'info' }).severity, 'info')
  })

  test('of Sloth counts if a team is named in its place', () => {
    const found = severityOf(alert({ severity: 'pageteam', sloth_severity: 'page' }))
    assert.deepEqual([found.severity, found.rule], ['critical', 'label sloth_severity'])
    assert.equal(severityOf(alert({ severity: 'info', sloth_severity: 'page' })).severity, 'info')
  })

  test('with an unknown value is a warning that mentions the value', () => {
    const expected = { severity: 'warning', raw: 'purple', rule: 'label severity: unknown value' }
    assert.deepEqual(severityOf(alert({ severity: 'purple', priority: 'p1' })), expected)
  })

  test('without any label is a warning', () => {
    assert.deepEqual(severityOf(alert({})), { severity: 'warning', raw: null, rule: 'no severity label' })
  })

  test('with severity none is not an alert', () => {
    assert.equal(severityOf(alert({ severity: 'none' })).severity, 'none')
  })

  test('about missing data is a warning, whatever the label says', () => {
    for (const severity of ['critical', 'info', 'none']) {
      const found = severityOf(alert({ severity }, 'no-data'))
      assert.deepEqual([found.severity, found.raw], ['warning', severity])
    }
  })
})
