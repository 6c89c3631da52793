/** The alerts about a claim, which the kubelets of the nodes report that mount it. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { type AlertMore, alert, alertmanager } from '../helpers/senders.ts'

const full = (claim: string, node: string, more: AlertMore = {}) =>
  alert(
    'KubePersistentVolumeFillingUp',
    { job: 'kubelet', metrics_path: '/metrics', instance: `${node}:10250`, node, persistentvolumeclaim: claim },
    { startsAt: NOON, ...more },
  )

/** Delivers each group of alerts one minute after the other; returns the number of all and of the firing alerts. */
async function play(t: Parameters<typeof makeFlow>[0], groups: readonly (readonly ReturnType<typeof alert>[])[]) {
  const flow = makeFlow(t)
  for (const [minute, group] of groups.entries()) {
    const at = NOON + minute * MINUTE
    await flow.sweepUntil(at, MINUTE / 2)
    await flow.send('metrics', alertmanager(group), { at })
  }
  const all = flow.alerts()
  return { all: all.length, firing: all.filter(({ status }) => status === 'firing').length }
}
const ended = (minute: number): AlertMore => ({ endsAt: NOON + minute * MINUTE })

describe('one alert is about', () => {
  test('a claim that three nodes mount', async (t) =>
    assert.deepEqual(await play(t, [[full('nfs', 'a'), full('nfs', 'b')], [full('nfs', 'c')]]), { all: 1, firing: 1 }))
  test('a claim that one of three nodes still reports', async (t) => {
    const told = [
      [full('nfs', 'a'), full('nfs', 'b'), full('nfs', 'c')],
      [full('nfs', 'a', ended(1)), full('nfs', 'b', ended(1)), full('nfs', 'c')],
    ]
    assert.deepEqual(await play(t, told), { all: 1, firing: 1 })
  })
  test('a claim that all of its nodes report as well again', async (t) => {
    const told = [
      [full('nfs', 'a'), full('nfs', 'b')],
      [full('nfs', 'a', ended(1)), full('nfs', 'b', ended(1))],
    ]
    assert.deepEqual(await play(t, told), { all: 1, firing: 0 })
  })
  test('a claim that follows its pod to another node', async (t) => {
    const moved = full('data-db-0', 'b', { startsAt: NOON + 2 * MINUTE })
    assert.deepEqual(await play(t, [[full('data-db-0', 'a')], [full('data-db-0', 'a', ended(1))], [moved]]), {
      all: 1,
      firing: 1,
    })
  })
})

describe('two alerts are about', () => {
  test('two claims of one StatefulSet', async (t) =>
    assert.deepEqual(await play(t, [[full('data-db-0', 'a'), full('data-db-1', 'a')]]), { all: 2, firing: 2 }))
  test('two kubelets', async (t) => {
    const tooMany = (node: string) => alert('KubeletTooManyPods', { job: 'kubelet', node, instance: `${node}:10250` })
    assert.deepEqual(await play(t, [[tooMany('a'), tooMany('b')]]), { all: 2, firing: 2 })
  })
})
