/** Clients that try to stop a server: it keeps answering others, and nothing of them remains when they are gone. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ROUTES } from '../../src/app.ts'
import { PAGES } from '../../src/web/routes.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { createGenerator, descriptorsOf, figure, judging, memoryOf, resetHighest } from './generator.ts'
import { MAX_STALL, watchHealth } from './health.ts'
import { makeDatabase, startServer } from './server.ts'
import { sized } from './size.ts'

const METRICS = '/api/webhooks/metrics'
const MEBIBYTE = 1_048_576
const MAX_MEMORY = 300

const routes = [...ROUTES, ...PAGES].map(({ method, path }) => ({
  method,
  path: path.replace(/:\w+/g, '01900000-0000-7000-8000-000000000000').replace('*', 'x'),
}))

async function served(t: TestContext, flags: readonly string[] = []) {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const server = await startServer(t, file, [], flags)
  // From source, the first page builds the style sheet and the script, which the executable contains.
  await fetch(`${server.url}/sign-in`)
  const generator = createGenerator({ url: server.url, token }, 4)
  t.after(generator.close)
  return { ...server, ...generator, token, port: Number(new URL(server.url).port) }
}

/** Fails if /healthz was silent for too long while `work` ran, or if the server took too much memory. */
async function undisturbed(
  t: TestContext,
  server: { readonly url: string; readonly pid: number },
  row: number,
  what: string,
  work: () => Promise<unknown>,
): Promise<void> {
  resetHighest(server.pid)
  const [judge, stop] = [judging(t, row, server.pid), await watchHealth(t, server)]
  await work()
  const [{ silent, words }, { highest }] = [await stop(), memoryOf(server.pid)]
  figure(t, row, `${what}: ${words}, ${highest} MB`)
  assert.ok(highest <= MAX_MEMORY, `${what}: ${highest} MB`)
  judge(silent <= MAX_STALL, `${what}: ${words}`)
}

const head = (method: string, path: string, token: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`

suite('hostile clients', { concurrency: 1 }, () => {
  test('sockets that never read, on every route, neither stop the server nor fill its memory', async (t) => {
    const server = await served(t)
    const gets = routes.filter(({ method }) => method === 'GET')
    await undisturbed(t, server, 42, `${gets.length} routes`, async () => {
      for (const { path } of gets) {
        const sockets = Array.from({ length: sized(20, 4) }, () =>
          connect(server.port, '127.0.0.1').on('error', () => {}),
        )
        for (const socket of sockets) socket.pause().write(head('GET', path, server.token).repeat(1_300), 'latin1')
        await pause(sized(50, 20))
        for (const socket of sockets) socket.destroy()
      }
    })
  })

  test('bodies of chunks of one byte, on every route, with and without a token, delay nobody', async (t) => {
    const server = await served(t)
    const body = '1\r\n[\r\n'.repeat(60_000)
    const type = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n'
    await undisturbed(t, server, 57, `${routes.length} routes`, async () => {
      for (const { method, path } of routes)
        for (const token of [server.token, '']) {
          const sockets = Array.from({ length: sized(20, 4) }, () =>
            connect(server.port, '127.0.0.1').on('error', () => {}),
          )
          for (const socket of sockets) socket.resume().end(`${head(method, path, token, type)}${body}`)
          await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.on('close', resolve))))
        }
    })
  })

  test('pipelined reads of every page on many connections delay nobody', async (t) => {
    const server = await served(t)
    const gets = routes.filter(({ method, path }) => method === 'GET' && path !== '/api/stream')
    const clients = sized(100, 40)
    await undisturbed(t, server, 58, `${clients} connections`, async () => {
      const sockets = Array.from({ length: clients }, () => connect(server.port, '127.0.0.1').on('error', () => {}))
      for (let from = 0; from < gets.length; from += 8) {
        const sent = gets.slice(from, from + 8).map(({ method, path }) => head(method, path, server.token))
        for (const socket of sockets) socket.resume().write(sent.join(''))
        await pause(500)
      }
      for (const socket of sockets) socket.destroy()
    })
  })

  test('the largest form of nothing but separators, on every route with a form, delays nobody', async (t) => {
    const server = await served(t)
    const posts = routes.filter(({ method, path }) => method === 'POST' && !path.startsWith('/api'))
    await undisturbed(t, server, 43, `${posts.length} routes`, async () => {
      for (const text of ['a&', '=&', '%&', '+a=+&'])
        for (const { path } of posts) {
          const body = text.repeat(MEBIBYTE / text.length - 1)
          const socket = connect(server.port, '127.0.0.1').on('error', () => {})
          socket.resume().setTimeout(500, () => socket.destroy())
          const type = 'Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n'
          socket.end(`${head('POST', path, server.token, `${type}Content-Length: ${body.length}\r\n`)}${body}`)
          // Unlike `once`, this does not fail if the server refuses the form and closes while the client is still sending.
          await new Promise((resolve) => socket.on('close', resolve))
        }
    })
  })

  test('HEAD, OPTIONS and aborted requests, on every route, leave nothing behind', async (t) => {
    const { url, port, pid, token } = await served(t)
    const rounds = sized(40, 10)
    const visit = async () => {
      for (const { method, path } of routes) {
        for (const other of ['HEAD', 'OPTIONS']) {
          const asked = request(url + path, { method: other, headers: { Authorization: `Bearer ${token}` } })
          asked.on('response', (response) => response.resume()).on('error', () => {})
          asked.end()
          await once(asked, 'close')
        }
        const socket = connect(port, '127.0.0.1').on('error', () => {})
        socket.write(head(method, path, token, 'Content-Length: 100\r\n'), 'latin1', () => socket.resetAndDestroy())
        await once(socket, 'close')
      }
    }
    await visit()
    const [before, sockets] = [
      memoryOf(pid).now,
      () => descriptorsOf(pid).filter((one) => one.startsWith('socket')).length,
    ]
    const open = sockets()
    for (let round = 0; round < rounds; round += 1) await visit()
    const left = await eventually(
      async () => sockets() - open,
      (more) => more <= 2,
    )
    const more = memoryOf(pid).now - before
    const streams = await (await fetch(`${url}/metrics`, { headers: { Authorization: `Bearer ${token}` } })).text()
    figure(t, 47, `${routes.length * 3 * rounds} requests: ${left} sockets and ${more} MB more`)
    assert.ok(more <= 60, `${more} MB more`)
    assert.match(streams, /process_open_fds/)
  })

  for (const [what, bodyOf] of [
    ['services', (index: number) => alert('Slow', { service: `s${index}`, severity: 'warning' })],
    ['pods', (index: number) => alert('Slow', { pod: `cart-${index}-5d4f8c7b9-x2kqp`, severity: 'warning' })],
    ['namespaces', (index: number) => alert('Slow', { namespace: `n${index}`, service: 'cart', severity: 'critical' })],
    ['clusters', (index: number) => alert('Slow', { cluster: `c${index}`, service: 'cart', severity: 'critical' })],
  ] as const) {
    test(`one request about 1,000 new ${what} delays nobody`, async (t) => {
      const server = await served(t)
      const body = JSON.stringify(alertmanager(Array.from({ length: 1_000 }, (_, index) => bodyOf(index))))
      await server.post(METRICS, JSON.stringify(alertmanager([alert('Warm', { service: 'warm' })])))
      await undisturbed(t, server, 48, `1,000 new ${what}`, async () => {
        assert.equal((await server.post(METRICS, body))?.status, 200)
      })
    })
  }

  test('pipelines of a service with hundreds of firing alerts delay nobody', async (t) => {
    const server = await served(t)
    const alerts = Array.from({ length: 500 }, (_, index) =>
      alert(`A${index}`, { service: 'cart', severity: 'warning' }),
    )
    await server.post(METRICS, JSON.stringify(alertmanager(alerts)))
    await undisturbed(t, server, 49, `${sized(300, 60)} pipelines`, async () => {
      for (let id = 1; id <= sized(300, 60); id += 1) {
        const body = { object_kind: 'pipeline', object_attributes: { id, ref: 'main', status: 'failed' } }
        const project = { path_with_namespace: 'shop/cart', default_branch: 'main' }
        await server.post('/api/webhooks/ci', JSON.stringify({ ...body, project, builds: [] }))
      }
    })
  })

  test("whoever reads all live alerts through Alertmanager's API again and again delays nobody", async (t) => {
    const server = await served(t)
    const count = sized(20_000, 3_000)
    for (let from = 0; from < count; from += 500) {
      const alerts = Array.from({ length: 500 }, (_, index) =>
        alert('Slow', { service: `s${index % 50}`, instance: `${from + index}`, severity: 'warning' }),
      )
      await server.post(METRICS, JSON.stringify(alertmanager(alerts)))
    }
    const headers = { Authorization: `Bearer ${server.token}` }
    await undisturbed(t, server, 55, `${count} alerts, read 12 times`, async () => {
      for (let round = 0; round < 6; round += 1)
        for (const path of ['alerts', 'alerts/groups']) {
          const response = await fetch(`${server.url}/alertmanager/api/v2/${path}`, { headers })
          assert.ok((await response.bytes()).length > count * 100)
        }
    })
  })

  test('an organization that offers alerts without end gets 503, and another one notices nothing', async (t) => {
    const server = await served(t, ['--limits', 'live-alerts=2000'])
    const offered = sized(40, 10) * 500
    const statuses = new Set<number | undefined>()
    await undisturbed(t, server, 44, `${offered} alerts offered`, async () => {
      for (let from = 0; from < offered; from += 500) {
        const alerts = Array.from({ length: 500 }, (_, index) =>
          alert('Flood', { service: `s${index % 20}`, instance: `${from + index}`, severity: 'warning' }),
        )
        statuses.add((await server.post(METRICS, JSON.stringify(alertmanager(alerts))))?.status)
      }
    })
    assert.deepEqual([...statuses], [200, 503])
    const event = JSON.stringify(kubernetesEvent('BackOff', 'cart-5d4f8c7b9-x2kqp'))
    assert.equal((await server.post('/api/webhooks/cluster', event))?.status, 200)
  })
})
