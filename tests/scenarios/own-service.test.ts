/** A project that has its own service, because no rule matched: what happens when a rule matches later. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { build, crashLoop, kubernetesEvent, pipeline } from '../helpers/senders.ts'

const POD = 'checkout-6f8d7b9c5-x2kqp'
const IMAGE = 'Successfully pulled image "registry.example.com/team/checkout-backend/app:1.2" in 2s'
const pulled = kubernetesEvent('Pulled', 'zeta-6f8d7b9c5-x2kqp', { message: IMAGE, type: 'Normal' })
const environment = { name: 'blue', action: 'start' }

for (const [what, seen, services] of [
  ['the image of the project is merged with it', pulled, ['shop/zeta']],
  ['the name and the environment is merged with it', crashLoop(POD, { namespace: 'blue' }), ['blue/checkout']],
  ['the name in the group is merged with it', crashLoop(POD, { namespace: 'team' }), ['team/checkout']],
  ['the same name only is another service', crashLoop(POD), ['shop/checkout', 'team/checkout-backend']],
] as const) {
  test(`a workload with ${what}`, async (t) => {
    const flow = makeFlow(t)
    const failed = (id: number) =>
      pipeline('failed', 'team/checkout-backend', { id, jobs: [build('deploy', 'failed', { environment })] })
    await flow.send('ci', failed(1))
    await flow.send('cluster', seen, { at: NOON + MINUTE })
    await flow.send('ci', failed(2), { at: NOON + 2 * MINUTE })
    const found = flow.services().map(({ namespace, name }) => `${namespace}/${name}`)
    assert.deepEqual(found.toSorted(), services)
  })
}
