/**
 * Retention for any history: referenced, recent and unfinished records stay, all others are deleted, and kept incidents
 * do not change.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { changeOrganization } from '../../src/actions/organizations.ts'
import { createApp } from '../../src/app.ts'
import { readHere } from '../../src/store/read.ts'
import { addNote, changeIncident, createIncident } from '../helpers/acts.ts'
import { DAY, type Made, MINUTE, makeToken, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { inCi } from '../helpers/in-ci.ts'
import { expectedOf, inventory, namesOf, pruneFully, pruneInSteps } from '../helpers/retention.ts'
import { alert, alertmanager, build, crashLoop, kubernetesEvent, pipeline } from '../helpers/senders.ts'
import { makeServerContext } from '../helpers/server-context.ts'

const APPS = ['cart', 'pay'] as const
type Act = (typeof ACTS)[number]
const ACTS = [
  ...(['crash', 'crash', 'down', 'over', 'deploy', 'scale', 'routine', 'image', 'starts', 'rejected'] as const),
  ...(['late', 'year ahead', 'open', 'resolve', 'reopen', 'earlier', 'note', 'prune', 'crash of incmon'] as const),
]
type Scene = { readonly act: Act; readonly after: number; readonly app: (typeof APPS)[number]; readonly id: number }
const scene: fc.Arbitrary<Scene> = fc.record({
  act: fc.constantFrom(...ACTS),
  after: fc.oneof(fc.integer({ min: 1, max: 60 * MINUTE }), fc.integer({ min: DAY, max: 40 * DAY })),
  app: fc.constantFrom(...APPS),
  id: fc.nat(5),
})
const history = fc.record({
  scenes: fc.array(scene, { minLength: 5, maxLength: 40 }),
  rest: fc.integer({ min: 0, max: 500 * DAY }),
  events: fc.constantFrom(1, 7, 30),
  alerts: fc.constantFrom(30, 90, 400),
  rows: fc.integer({ min: 1, max: 60 }),
})

/** Plays one scene for an organization. Its id determines the number of steps of interrupted pruning runs. */
async function play(flow: Flow, as: Made, { act, app, id }: Scene, rows: number): Promise<void> {
  const { deps, clock } = flow
  const now = clock.now
  const pod = `${app}-5d4f8c7b9-x2kq${id}`
  const down = alert('Down', { deployment: app }, { startsAt: now - MINUTE, fingerprint: `${app}${id}` })
  const send = (source: 'cluster' | 'metrics' | 'ci', body: unknown, at = now) => flow.send(source, body, { at, as })
  const incident = flow.incidents(as).at(-(id + 1))
  const change = (to: Parameters<typeof changeIncident>[3]) =>
    incident && changeIncident(deps, as.key, incident.id, to, 'Ann')
  const acts: Readonly<Record<Act, () => unknown>> = {
    crash: async () => {
      for (const minute of [0, 1, 4])
        await send('cluster', crashLoop(pod, { count: minute + 1 }), now + minute * MINUTE)
    },
    down: () => send('metrics', alertmanager([down])),
    over: () => send('metrics', alertmanager([{ ...down, status: 'resolved', endsAt: new Date(now).toISOString() }])),
    // GitLab reports a pipeline again only within the same day. Later ones have different ids.
    deploy: () => {
      const jobs = [build('deploy', 'failed')]
      return send('ci', pipeline('failed', `shop/${app}`, { id: Math.floor(now / DAY) * 10 + id, at: now, jobs }))
    },
    scale: () =>
      send(
        'cluster',
        kubernetesEvent('ScalingReplicaSet', app, {
          kind: 'Deployment',
          message: `Scaled up replica set ${app}-${id}c7b9 to 3`,
        }),
      ),
    routine: () => send('cluster', kubernetesEvent('Scheduled', pod)),
    image: () => send('cluster', kubernetesEvent('Pulling', pod, { message: `Pulling image "shop/${app}/web:${id}"` })),
    starts: async () => {
      for (const minute of [0, 1, 2])
        await send('cluster', kubernetesEvent('Starting', 'worker-1', { kind: 'Node' }), now + minute * MINUTE)
    },
    rejected: () => send('metrics', alertmanager([down, { labels: 1 }])),
    late: () => send('cluster', crashLoop(pod, { at: now - id * 20 * DAY })),
    'year ahead': async () => {
      await send('cluster', crashLoop(pod), now + 365 * DAY)
      clock.now = now - 60 * MINUTE
    },
    open: async () => {
      const serviceId = flow.service(app, as)?.id
      if (serviceId) await createIncident(deps, as.key, { title: 'Ours', serviceId, severity: 'error' }, 'Ann')
    },
    resolve: () => change({ status: 'resolved' }),
    reopen: () => change({ status: 'investigating' }),
    earlier: () => change({ startedAt: Math.min(incident?.started_at ?? now, now - id * 3 * DAY) }),
    note: () => incident && addNote(deps, as.key, incident.id, 'a note', 'Ann'),
    prune: () => pruneFully(deps, as, { rows }),
    'crash of incmon': () => {
      const pass = pruneInSteps(deps, as, { rows })
      for (let step = 0; step < id * 4; step += 1) pass.next()
      flow.restart()
    },
  }
  await acts[act]()
}

/** Returns the API responses for an organization's incidents, by id. */
async function answersOf(flow: Flow, as: Made): Promise<Map<string, unknown>> {
  const app = createApp(flow.deps, readHere(flow.deps.db), makeServerContext())
  const headers = { Authorization: `Bearer ${makeToken(flow.deps.db, as, ['read'])}` }
  const ids = flow.incidents(as).map(({ id }) => id)
  const paths = ['', '/postmortem', '/suspects']
  const answer = async (id: string) =>
    Promise.all(paths.map(async (path) => (await app.request(`/api/incidents/${id}${path}`, { headers })).json()))
  return new Map(await Promise.all(ids.map(async (id) => [id, await answer(id)] as const)))
}

/** Returns broken references and damage; empty if the file is sound. */
function faultsOf({ deps: { db } }: Flow): unknown[] {
  return [db.pragma('foreign_key_check'), db.pragma('integrity_check')].filter((it) => it !== undefined && it !== 'ok')
}

function unusedPayloads({ deps: { db } }: Flow): unknown[] {
  return db.all(
    db.sql
      .selectFrom('payloads')
      .select('event_id')
      .where('event_id', 'not in', (eb) => eb.selectFrom('events').select('id')),
  )
}

/** An alert is not said to be part of an incident that is deleted. */
function unnamed(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer).replaceAll(/ – part of “[^”]*”(?: \(incident \d+\))?/g, ' – not part of this incident'),
  )
}

test('pruning deletes all expired records that are not referenced, in steps of any size, after any crash', async () => {
  let kept = 0
  let gone = 0
  await fc.assert(
    fc.asyncProperty(history, async ({ scenes, rest, events, alerts, rows }) => {
      const cleaners: (() => void)[] = []
      const flow = makeFlow({ after: (work) => void cleaners.push(work as () => void) })
      try {
        for (const as of [flow.acme, flow.basil]) {
          flow.clock.now = NOON
          await changeOrganization(flow.deps, as.key, {
            settings: { 'retention-events-days': events, 'retention-alerts-days': alerts },
          })
          for (const one of scenes) {
            await flow.sweepUntil(flow.clock.now + one.after, Math.max(5 * MINUTE, Math.round(one.after / 20)))
            await play(flow, as, one, rows)
          }
          await flow.sweepUntil(flow.clock.now + 3 * DAY, DAY / 8)
          await flow.sweepUntil(flow.clock.now + rest, 10 * DAY)
          const before = inventory(flow, as)
          const answers = await answersOf(flow, as)
          pruneFully(flow.deps, as, { rows })
          const expected = expectedOf(before, flow.clock.now, { events, alerts })
          const left = namesOf(inventory(flow, as))
          assert.deepEqual(left, expected)
          const after = await answersOf(flow, as)
          for (const [id, answer] of after) assert.deepEqual(unnamed(answer), unnamed(answers.get(id)))
          kept += expected.events.length
          gone += before.events.length - expected.events.length
        }
        assert.deepEqual([faultsOf(flow), unusedPayloads(flow)], [[], []])
      } finally {
        for (const clean of cleaners) clean()
      }
    }),
    { numRuns: inCi(25, 6), endOnFailure: true },
  )
  assert.ok(kept > 10 && gone > 10, `${kept} kept and ${gone} gone prove nothing`)
})
