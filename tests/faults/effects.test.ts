/**
 * Effects happen once, no matter how often a request is sent, how many clients send it, or when the server is killed.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openStore } from '../../src/store/sqlite/open.ts'
import { alert, alertmanager, pipeline } from '../helpers/senders.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { figure } from './generator.ts'
import { deliver, fromClients, request, type Target } from './load.ts'
import { addOrganization, makeDatabase, startServer } from './server.ts'

type Table = 'alerts' | 'events' | 'incidents'

function counts(file: string, ...tables: Table[]): number[] {
  const db = openStore(file)
  try {
    return tables.map((table) =>
      Number(db.all(db.sql.selectFrom(table).select((eb) => eb.fn.countAll().as('n')))[0]?.n),
    )
  } finally {
    db.close()
  }
}

suite('effects', { concurrency: 2 }, () => {
  test('the same alert sent 100 times by 20 clients is one alert and at most one incident', async (t) => {
    const { file, token } = makeDatabase(temporaryDirectory(t))
    const { url } = await startServer(t, file)
    const body = alertmanager([alert('Down', { deployment: 'shop', severity: 'critical' })])
    const statuses: number[] = []
    await fromClients(20, 100, async () =>
      statuses.push((await request({ url, token }, 'POST', '/api/webhooks/metrics', body)).status),
    )
    const [alerts = 0, incidents = 0] = counts(file, 'alerts', 'incidents')
    figure(t, 11, `${alerts} alert and ${incidents} incident from 100 requests`)
    assert.deepEqual([alerts, incidents <= 1, statuses.filter((status) => status === 200).length], [1, true, 100])
  })

  test('a pipeline sent 50 times with one key is one event with one id', async (t) => {
    const { file, token } = makeDatabase(temporaryDirectory(t))
    const { url } = await startServer(t, file)
    const ids = new Set<string>()
    await fromClients(10, 50, async () => {
      const key = { 'Idempotency-Key': 'one' }
      ids.add(
        (await request({ url, token }, 'POST', '/api/webhooks/ci', pipeline('failed', 'shop/cart'), key)).body.eventId,
      )
    })
    figure(t, 11, `${ids.size} id from 50 requests`)
    assert.deepEqual([ids.size, counts(file, 'events')], [1, [1]])
  })

  test('50 clients that resolve an incident at once, and 20 kill -9, create one postmortem for Team and Pro, and none for Free', async (t) => {
    const { file, token } = makeDatabase(temporaryDirectory(t))
    const db = openStore(file)
    const tokens = [token, addOrganization(db, 'Basil', 'Team'), addOrganization(db, 'Charlie', 'Free')]
    db.close()
    let server = await startServer(t, file)
    const incidents = await Promise.all(tokens.map((own) => openIncident({ url: server.url, token: own })))
    const resolveAll = () =>
      incidents.map(({ id, token }) =>
        request({ url: server.url, token }, 'PATCH', `/api/incidents/${id}`, { status: 'resolved' }).catch(() => null),
      )
    for (let kills = 0; kills < 20; kills += 1) {
      const resolving = [...resolveAll(), ...resolveAll()]
      await (kills % 2 === 0 ? server.kill() : Promise.race(resolving))
      await server.kill()
      await Promise.all(resolving)
      server = await startServer(t, file)
    }
    const statuses: (number | undefined)[] = []
    await fromClients(50, 50, async () => {
      for (const answer of await Promise.all(resolveAll())) statuses.push(answer?.status)
    })
    const counts = postmortems(file)
    figure(t, 13, `${counts} postmortems for Pro, Team and Free after 50 requests each and 20 kills`)
    assert.deepEqual([counts, statuses.every((status) => status === 200)], ['1, 1 and 0', true])
  })
})

/** Opens an incident manually for a new service. */
async function openIncident(target: Target): Promise<Target & { readonly id: string }> {
  await deliver(target, 1)
  const [{ id: serviceId }] = (await request(target, 'GET', '/api/services')).body
  const { body } = await request(target, 'POST', '/api/incidents', { title: 'X', serviceId, severity: 'error' })
  return { ...target, id: body.id }
}

/** Returns the number of postmortems per organization, in order of creation. */
function postmortems(file: string): string {
  const db = openStore(file)
  try {
    const query = db.sql.selectFrom('postmortems').innerJoin('incidents', 'incidents.id', 'incident_id')
    const of = db.all(query.select('organization_id')).map((row) => row.organization_id)
    const organizations = db.all(db.sql.selectFrom('organizations').select('id').orderBy('id'))
    const [pro, team, free] = organizations.map(({ id }) => of.filter((one) => one === id).length)
    return `${pro}, ${team} and ${free}`
  } finally {
    db.close()
  }
}
