/** What a channel is told during quiet hours that only one of its rules has. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Rule } from '../../src/domain/notification/rule.ts'
import { createIncident, createService } from '../helpers/acts.ts'
import { ownChannel } from '../helpers/own-channel.ts'

/** The quiet hours of `cart`, from minute 2 to minute 20. */
const QUIET: Rule = { namespaces: ['cart'], quietHours: { from: '12:02', to: '12:20', timeZone: 'UTC' } }

const OF_WEB: readonly Rule[] = [{ services: ['web'] }]
const NIGHT = ['acknowledged of cart at 20', 'recovered of cart at 20']

const OTHERS: Readonly<Record<string, readonly Rule[]>> = {
  'no other rule': [],
  'a rule for another namespace': [{ namespaces: ['nothing'] }],
  'a rule for another service': OF_WEB,
  'a rule for a matcher': [{ matchers: [{ name: 'team', op: '=', value: 'shop' }] }],
  'the same rule for other events': [{ namespaces: ['cart'], events: ['reminder'] }],
}

for (const [what, others] of Object.entries(OTHERS)) {
  for (const rules of [
    [QUIET, ...others],
    [...others, QUIET],
  ]) {
    const first = rules[0] === QUIET ? 'first' : 'last'
    const run = (name: string, body: (t: TestContext) => Promise<void>) =>
      test(`${name}; ${what}, quiet ${first}`, body)

    run('what begins and ends in quiet hours is not told during them', async (t) => {
      const { addOwn, fires, ends, user, until, sent } = ownChannel(t, rules)
      addOwn()
      await fires(3, 'cart')
      await fires(4, 'cart', 'Full')
      await user(5, { status: 'investigating' })
      await ends(6, 'cart')
      await ends(6, 'cart', 'Full')
      await user(10, { status: 'resolved' })
      await until(19)
      assert.deepEqual(sent, [])
    })

    run('what was told before is told to be over after them', async (t) => {
      const { addOwn, fires, ends, user, until, sent } = ownChannel(t, rules)
      addOwn()
      await fires(1, 'cart')
      await user(3, { status: 'investigating' })
      await ends(5, 'cart')
      await until(26)
      assert.deepEqual(sent, ['opened of cart at 1', ...NIGHT])
    })
  }
}

test('what goes on after quiet hours is told then', async (t) => {
  const { addOwn, fires, user, until, sent } = ownChannel(t, [QUIET, ...OF_WEB])
  addOwn()
  await fires(3, 'cart')
  await user(5, { status: 'investigating' })
  await until(22)
  assert.deepEqual(sent, ['opened of cart at 20', 'acknowledged of cart at 20'])
})

test('the rule without quiet hours tells all of what it matches at once', async (t) => {
  const { addOwn, fires, ends, user, until, sent } = ownChannel(t, [QUIET, { minSeverity: 'critical' }])
  addOwn()
  await fires(3, 'cart')
  await user(4, { status: 'investigating' })
  await ends(5, 'cart')
  await until(22)
  assert.deepEqual(sent, ['opened of cart at 3', 'acknowledged of cart at 4', 'recovered of cart at 6'])
})

test('a warning waits although critical incidents do not, until a user makes it critical', async (t) => {
  const { addOwn, user, until, sent, service, deps, acme } = ownChannel(t, [QUIET, { minSeverity: 'critical' }])
  addOwn()
  await until(3)
  await createService(deps, acme.key, { name: 'cart', namespace: 'cart' })
  await createIncident(
    deps,
    acme.key,
    { title: 'Slow', severity: 'warning', serviceId: service('cart')?.id ?? '' },
    'anna',
  )
  await user(4, { status: 'investigating' })
  await user(5, { severity: 'error' })
  await until(7)
  assert.deepEqual(sent, [])
  await user(8, { severity: 'critical' })
  assert.deepEqual(sent, ['severity of cart at 8'])
})

const AT_NIGHT = { from: '12:02', to: '12:20', timeZone: 'UTC' }

test('what the rules do not match any more when the quiet hours end is not told', async (t) => {
  const { addOwn, fires, user, change, until, sent } = ownChannel(t, [QUIET])
  addOwn()
  await fires(3, 'cart')
  await user(4, { status: 'investigating' })
  await change(5, { rules: [{ namespaces: ['web'], quietHours: AT_NIGHT }] })
  await until(22)
  assert.deepEqual(sent, [])
})

test('nor is its end', async (t) => {
  const { addOwn, fires, ends, change, until, sent } = ownChannel(t, [QUIET])
  addOwn()
  await fires(3, 'cart')
  await change(5, { rules: [{ namespaces: ['web'], quietHours: AT_NIGHT }] })
  await ends(6, 'cart')
  await until(22)
  assert.deepEqual(sent, [])
})

test('rules that match it again before they end do tell it', async (t) => {
  const { addOwn, fires, change, until, sent } = ownChannel(t, [QUIET])
  addOwn()
  await fires(3, 'cart')
  await change(5, { rules: [{ namespaces: ['web'], quietHours: AT_NIGHT }] })
  await change(7, { rules: [QUIET] })
  await until(22)
  assert.deepEqual(sent, ['opened of cart at 20'])
})

test('what a user has made less severe than the rules say in quiet hours is not told', async (t) => {
  const { addOwn, fires, ends, user, until, sent } = ownChannel(t, [{ minSeverity: 'critical', quietHours: AT_NIGHT }])
  addOwn()
  await fires(3, 'cart')
  await user(4, { severity: 'warning' })
  await user(5, { status: 'investigating' })
  await until(22)
  await ends(23, 'cart')
  await until(26)
  assert.deepEqual(sent, [])
})
