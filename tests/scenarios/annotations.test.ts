/** Which words of an alert accuse another service: the summary, the description and every other text for people. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Source } from '../../src/domain/event/event.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { suspectsOf } from '../helpers/suspected.ts'

const REFUSED = 'connect ECONNREFUSED pg-rw.db:5432'

/** Orders fails with these annotations, then its database reports a failure; returns the first suspect of orders. */
async function firstSuspect(
  t: Parameters<typeof makeFlow>[0],
  annotations: Readonly<Record<string, string>>,
  source: Source = 'metrics',
  labels: Readonly<Record<string, string>> = {},
) {
  const flow = makeFlow(t)
  const orders = {
    ...alert('OrdersHighErrorRate', { deployment: 'orders', ...labels }, { startsAt: NOON }),
    annotations,
  }
  const database = alert('CNPGClusterHACritical', { namespace: 'db', statefulset: 'pg' }, { startsAt: NOON + MINUTE })
  await flow.send(source, alertmanager([orders]), { at: NOON + 2 * MINUTE })
  await flow.send(source, alertmanager([database], { groupKey: 'pg' }), { at: NOON + 3 * MINUTE })
  return suspectsOf(flow, 'orders')[0]?.ref
}

describe('the database is the first suspect if', () => {
  const stories: readonly (readonly [string, Readonly<Record<string, string>>, Source?])[] = [
    ['the summary names it', { summary: `orders: ${REFUSED}` }],
    ['only the description names it', { description: REFUSED }],
    ['a description beside a summary names it', { summary: 'High error rate', description: `orders: ${REFUSED}` }],
    ['a message beside a summary names it', { summary: 'High error rate', message: REFUSED }],
    [
      'the description has the words of libpq',
      {
        summary: 'High error rate',
        description:
          'connection to server at "pg-rw.db.svc.cluster.local" (10.96.14.2), port 5432 failed: Connection refused',
      },
    ],
    ['Grafana sends it in an annotation with a name of its own', { summary: 'Errors', details: REFUSED }, 'dashboard'],
    [
      'a link to a dashboard stands beside it',
      { summary: 'Errors', description: `${REFUSED}, see http://grafana.monitoring:3000/d/orders` },
    ],
  ]
  for (const [title, annotations, source] of stories)
    test(title, async (t) => assert.equal(await firstSuspect(t, annotations, source), 'db/pg'))
})

describe('the database is the first suspect of the service with its own workload label if', () => {
  for (const [name, value] of [
    ['destination_service', 'pg.db.svc.cluster.local'],
    ['destination_service_name', 'pg'],
    ['upstream', 'pg'],
    ['peer_service', 'pg.db'],
  ] as const)
    test(`the label ${name} says that it calls it`, async (t) =>
      assert.equal(await firstSuspect(t, { summary: 'Errors' }, 'metrics', { [name]: value }), 'db/pg'))
})

describe('the database is not the first suspect if', () => {
  const stories: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['only the address of the runbook names it', { summary: 'Errors', runbook_url: 'http://pg-rw.db/runbooks/orders' }],
    ['only the address of a dashboard names it', { summary: 'Errors', dashboard: 'http://pg-rw.db/d/orders' }],
    ['only a link in the description names it', { summary: 'Errors', description: 'http://pg-rw.db:9090/graph?g0=up' }],
    ['only a link to a trace names it', { summary: 'Errors', description: 'see http://pg-rw.db:16686/trace/7f2c' }],
    ['only the advice names it', { summary: 'Errors', action: 'Connect to pg-rw.db and run VACUUM' }],
    ['nothing names it', { summary: 'Errors', description: 'More than 5 % of requests fail' }],
  ]
  for (const [title, annotations] of stories)
    test(title, async (t) => assert.equal(await firstSuspect(t, annotations), 'shop/orders'))
})
