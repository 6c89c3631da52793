/** A node whose kubelet or kube-proxy starts again and again is suspected; one that starts now and then is not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rankSuspects } from '../../src/domain/suspect/suspect.ts'
import { alert, assigned, event, facts } from './suspect-facts.ts'

type Start = { readonly minute: number; readonly text?: string; readonly object?: string }

const down = alert('web', 'HighErrorRate', 0, { severity: 'critical', inIncident: true })
const start = ({ minute, text = 'Starting kubelet.', object = 'Node/worker-1' }: Start) => ({
  ...event('n1', 'Starting', minute, { text, object, kind: 'info' }),
  service: null,
})
const suspectsOf = (starts: readonly Start[]) => rankSuspects(facts({ alerts: [down], events: starts.map(start) }))
const refsOf = (starts: readonly Start[]) => suspectsOf(starts).map(({ ref }) => ref)
const every = (minutes: number, more: Omit<Start, 'minute'> = {}) =>
  [0, 1, 2].map((index) => ({ minute: -minutes * index, ...more }))

for (const [title, starts, isSuspected] of [
  ['a kubelet that started three times within an hour', every(15), true],
  ['a kube-proxy, whose events have no message', every(2, { text: '' }), true],
  ['a kubelet that started twice', every(15).slice(1), false],
  ['a kubelet that started three times in two hours', every(45), false],
  [
    'a kubelet and a kube-proxy, each started twice',
    [...every(15).slice(1), ...every(15, { text: '' }).slice(1)],
    false,
  ],
  ['a start that was reported three times', [0, 0, 0].map((minute) => ({ minute })), false],
  [
    'two nodes that started in turn',
    ['worker-1', 'worker-2', 'worker-1'].map((name, index) => ({ minute: -index, object: `Node/${name}` })),
    false,
  ],
  ['a pod whose program reports its own starts', every(2, { object: 'Pod/web-5d4f8c7b9-x2x4z' }), false],
] as const) {
  test(`${title}: ${isSuspected ? 'the node is suspected' : 'nothing but the service is suspected'}`, () =>
    assert.deepEqual(
      refsOf(starts).filter((ref) => ref !== 'shop/web'),
      isSuspected ? ['node/worker-1'] : [],
    ))
}

test('the reason says that the node of the pods keeps starting, with the message if there is one', () => {
  const saidOf = (text: string) => {
    const starts = every(2, { text }).map(start)
    const ranked = rankSuspects(facts({ alerts: [down], events: starts, assigned: [assigned('web-1', 'worker-1')] }))
    assert.deepEqual(
      ranked.map(({ ref }) => ref),
      ['shop/web', 'node/worker-1'],
    )
    return ranked[1]?.reasons[0]?.text.replace(/; last reported.*/, '')
  }
  assert.equal(saidOf('Starting kubelet.'), 'Starting: Starting kubelet. (it keeps starting; seen repeatedly')
  assert.equal(saidOf(''), 'Starting: (it keeps starting; seen repeatedly')
})
