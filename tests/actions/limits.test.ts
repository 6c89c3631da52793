/** The limits of what users can add: what is refused, what is still possible, and what the error says to do. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { withEngine } from '../../src/actions/deps.ts'
import { signIn } from '../../src/actions/sessions.ts'
import { createToken, revokeToken } from '../../src/actions/tokens.ts'
import { BUDGETS } from '../../src/domain/budgets.ts'
import { DEFAULT_LIMITS } from '../../src/domain/limits.ts'
import { addNote, changeIncident, createIncident } from '../../src/engine/changes/incidents/incident-changes.ts'
import { createSilence } from '../../src/engine/changes/silences/silences.ts'
import { MINUTE } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const FULL = { code: 'conflict' }

async function withIncident(t: TestContext) {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('A', { service: 'cart' })]))
  const { id } = flow.incidents()[0] ?? { id: '' }
  const run = <Out>(decide: (ctx: Parameters<typeof addNote>[0], now: number) => Out) =>
    flow.deps.engine.run(flow.acme.key, decide)
  const notes = (texts: readonly string[]) =>
    run((ctx, now) => {
      for (const text of texts) addNote(ctx, id, text, 'mia', now)
    })
  return { ...flow, id, run, notes }
}

test('an incident with too many notes takes no further ones, and can still be resolved', async (t) => {
  const { run, notes, id, incidents } = await withIncident(t)
  await notes(Array.from({ length: BUDGETS.notes.value }, (_, index) => `${index}`))
  await assert.rejects(notes(['one more']), { ...FULL, message: /maximum of 500 notes and changes; write further/ })
  await assert.rejects(
    run((ctx, now) => changeIncident(ctx, id, { title: 'B' }, 'mia', now)),
    FULL,
  )
  await run((ctx, now) => changeIncident(ctx, id, { status: 'resolved' }, 'mia', now))
  assert.equal(incidents()[0]?.status, 'resolved')
})

test('the text of all notes of an incident is limited, also within one batch', async (t) => {
  const { notes } = await withIncident(t)
  const text = 'x'.repeat(10_000)
  await notes(Array(25).fill(text))
  await assert.rejects(notes(['y']), { ...FULL, message: /maximum of 250,000 characters of notes/ })
  const other = await withIncident(t)
  await assert.rejects(other.notes(Array(26).fill(text)), FULL)
})

test('at the limit of incidents, nobody can open one by hand, but a critical alert still opens one', async (t) => {
  const flow = await withIncident(t)
  const limits = () => ({ ...DEFAULT_LIMITS, incidents: 1 })
  Object.assign(flow.deps, withEngine({ ...flow.deps, limits }))
  const serviceId = flow.service('cart')?.id ?? ''
  const wanted = { title: 'By hand', serviceId, severity: 'warning' } as const
  await assert.rejects(
    flow.run((ctx, now) => createIncident(ctx, wanted, 'mia', now)),
    { ...FULL, message: /^there are already 1 incident, the limit: resolve or merge/ },
  )
  await flow.send('metrics', alertmanager([alert('B', { service: 'mail' })]))
  assert.equal(flow.incidents().length, 2)
})

test('the regular expressions of all silences together are limited, and plain silences are not', async (t) => {
  const { run, send } = await withIncident(t)
  const silence = (value: string, op: '=' | '=~' = '=~') =>
    run((ctx, now) => {
      const wanted = { matchers: [{ name: 'pod', op, value }], startsAt: now, endsAt: now + MINUTE, schedule: null }
      return createSilence(ctx, { ...wanted, comment: 'upgrade' }, 'mia', now)
    })
  for (let count = 0; count < 24; count += 1) await silence('(a?){99}b')
  await assert.rejects(silence('(a?){250}b'), { ...FULL, message: /too large: use = instead of =~, or expire/ })
  await silence('cart-1', '=')
  await send('metrics', alertmanager([alert('C', { service: 'cart', pod: 'cart-1' })]))
})

/** Returns deps that make a different secret for each token and session. */
function makeSecrets(t: TestContext) {
  const flow = makeFlow(t)
  let made = 0
  const newSecret = () => {
    made += 1
    return `${made}`.padStart(43, 'S')
  }
  return { ...flow, deps: { ...flow.deps, newSecret } }
}

test('at the limit of tokens, a new one is refused until another one is revoked', (t) => {
  const { deps, acme, charlie } = makeSecrets(t)
  const make = (of: typeof acme) => createToken(deps, { organizationId: of.key, name: 'a', scopes: ['read'] })
  const [first] = Array.from({ length: BUDGETS.tokens.value }, () => make(acme))
  assert.throws(() => make(acme), { ...FULL, message: /^there are already 500 valid tokens: revoke/ })
  make(charlie)
  revokeToken(deps, acme.key, first?.id ?? '')
  make(acme)
})

test('at the limit of sessions, the oldest one of the organization ends', (t) => {
  const { deps, acme, charlie } = makeSecrets(t)
  const sessionsOf = ({ key }: typeof acme) =>
    deps.db.all(deps.db.sql.selectFrom('sessions').select('id').where('organization_id', '=', key)).map(({ id }) => id)
  const enter = (of: typeof acme) => {
    const { token } = createToken(deps, { organizationId: of.key, name: 'a', scopes: ['read'] })
    return () => signIn(deps, token, { person: '', agent: '', stay: true })
  }
  enter(charlie)()
  const asAcme = enter(acme)
  for (let count = 0; count <= BUDGETS.sessions.value; count += 1) asAcme()
  const [oldest] = sessionsOf(acme)
  assert.deepEqual([sessionsOf(acme).length, sessionsOf(charlie).length, oldest], [BUDGETS.sessions.value, 1, 3])
})

test('beyond the limit of senders, further receivers share one, and their alerts are stored', async (t) => {
  const { send, deps, alerts } = makeFlow(t)
  const most = BUDGETS.senders.value
  const body = (receiver: string, name: string) => alertmanager([alert(name, { severity: 'info' })], { receiver })
  await Promise.all(Array.from({ length: most + 2 }, (_, index) => send('metrics', body(`r${index}`, `A${index}`))))
  const receivers = deps.db.all(deps.db.sql.selectFrom('senders').select(['receiver', 'events']).orderBy('id'))
  assert.equal(alerts().length, most + 2)
  assert.deepEqual([receivers.length, receivers.at(-1)], [most + 1, { receiver: '', events: 2 }])
  await send('metrics', body('r0', 'A0'), { at: deps.now() + MINUTE })
})
