/** What a hostile API server sends neither fills the memory nor keeps this process busy, nor from stopping. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { BUDGETS } from '../../src/domain/budgets.ts'
import { readSeen } from '../../src/domain/kubernetes/parse.ts'
import type { Seen } from '../../src/domain/watch/object.ts'
import type { Access } from '../../src/kubernetes/access.ts'
import { ApiError, type Client, createClient, parsed } from '../../src/kubernetes/client.ts'
import { watchCluster } from '../../src/kubernetes/cluster.ts'
import { pauseOf, runStream, streamsOf } from '../../src/kubernetes/stream.ts'
import { eventually } from '../helpers/server.ts'

/** Starts a server that answers each request with `send`, and a client for it. */
async function client(t: TestContext, send: (socket: Socket) => void, idle?: number) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => send(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const tls = { ca: null, cert: null, key: null }
  const access: Access = { name: 'a', server: `http://127.0.0.1:${port}`, tls, isUnverified: false, token: () => null }
  const made = createClient(access, Date.now, idle)
  t.after(() => made.close())
  return made
}

/** Sends text again and again until the client closes the connection. */
const endless = (head: string, text: string) => (socket: Socket) => {
  socket.write(head)
  const more = () => {
    if (!socket.destroyed && socket.write(text)) setImmediate(more)
  }
  socket.on('drain', more)
  more()
}

const OK = 'HTTP/1.1 200 OK\r\n\r\n'
const BLOCK = ' '.repeat(65_536)
const reads: Readonly<Record<string, (of: Client) => Promise<unknown>>> = {
  get: ({ get }) => get('/version'),
  items: ({ items }) => items('/api/v1/pods', () => {}),
  lines: ({ lines }) => lines('/api/v1/pods', { onOpen: () => {}, onLine: () => {} }),
}

for (const [name, read] of Object.entries(reads)) {
  test(`interim responses and a response without end are given up: ${name}`, async (t) => {
    const interim = await client(t, endless('', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1_000)))
    await assert.rejects(read(interim), new ApiError(0, 'the API server sent more than 20 interim responses'))
    const long = await client(t, endless(OK, BLOCK))
    await assert.rejects(read(long), /^Error: the API server sent .* of more than 3145728 characters$/)
    const failing = await client(t, endless('HTTP/1.1 500 Internal Server Error\r\n\r\n', BLOCK))
    await assert.rejects(read(failing), (error) => error instanceof ApiError && error.status === 500)
  })
}

for (const [name, read] of Object.entries(reads)) {
  for (const [sent, part] of [
    ['a line that never ends', ' '],
    ['empty lines only', '\n'],
  ] as const) {
    test(`a connection on which nothing is completed is given up: ${name}, ${sent}`, async (t) => {
      const slow = await client(
        t,
        (socket) => {
          socket.write(OK)
          const timer = setInterval(() => socket.write(part), 20)
          socket.on('close', () => clearInterval(timer))
        },
        300,
      )
      await assert.rejects(read(slow), new ApiError(0, 'the API server sent nothing whole for 0 s'))
    })
  }
}

test('a slow list is read to its end, as long as its objects are completed', async (t) => {
  const slow = await client(
    t,
    (socket) => {
      socket.write(`${OK}{"items":[`)
      let left = 30
      const timer = setInterval(() => {
        left -= 1
        if (left > 0) return socket.write('{},')
        clearInterval(timer)
        return socket.end('{}]}')
      }, 50)
    },
    1_000,
  )
  let items = 0
  await slow.items('/api/v1/pods', () => {
    items += 1
  })
  assert.equal(items, 30)
})

test('other requests are served between the objects of a list', async (t) => {
  const item = JSON.stringify({ metadata: { uid: 'u' }, text: 'x'.repeat(60_000) })
  const { items } = await client(t, (socket) => socket.end(`${OK}{"items":[${Array(60).fill(item)}]}`))
  let [turn, isOver] = [0, false]
  const next = () => {
    turn += 1
    if (!isOver) setImmediate(next)
  }
  next()
  const turns: number[] = []
  await items('/api/v1/pods', () => {
    // As long as large objects take. Meanwhile, the next ones arrive.
    for (const until = performance.now() + 3; performance.now() < until; );
    turns.push(turn)
  })
  isOver = true
  assert.equal(turns.length, 60)
  // How many arrive together depends on the load of the machine. All of them in one turn would take 180 ms.
  assert.ok(new Set(turns).size > 20, `in ${new Set(turns).size} turns`)
})

test('an error with a long message is cut', async (t) => {
  const body = JSON.stringify({ message: '\\"'.repeat(500_000) })
  const { get } = await client(t, (socket) => socket.end(`HTTP/1.1 403 Forbidden\r\n\r\n${body}`))
  await assert.rejects(get('/version'), (error: ApiError) => error.status === 403 && error.message.length === 300)
})

type Answers = { readonly list?: object; readonly watch: () => unknown; readonly reached?: () => AbortSignal }

/** Runs the stream of nodes for a moment. Returns how often it listed and watched, and its last error. */
async function runBriefly({
  list = { resourceVersion: '1' },
  watch,
  reached = () => new AbortController().signal,
}: Answers) {
  const [stop, seen] = [new AbortController(), { lists: 0, watches: 0, error: null as string | null }]
  const client: Pick<Client, 'items' | 'lines'> = {
    items: async () => {
      seen.lists += 1
      return { metadata: list }
    },
    lines: async (_, { onLine }) => {
      seen.watches += 1
      await onLine(JSON.stringify(watch()))
    },
  }
  const [stream] = streamsOf([])
  assert.ok(stream)
  setTimeout(() => stop.abort(), 200)
  await runStream(stream, null, {
    client: client as Client,
    ...{ take: () => {}, warn: () => {}, forgotten: () => {}, random: () => 0, signal: stop.signal },
    state: ({ error }) => {
      seen.error = error ?? seen.error
    },
    reached,
  })
  return seen
}

test('an API server that answers at once again and again is asked less often', async () => {
  let version = 0
  const watch = () => {
    version += 1
    return { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } }
  }
  assert.deepEqual(await runBriefly({ watch }), { lists: 1, watches: 1, error: null })
  const gone = () => ({ type: 'ERROR', object: { code: 410 } })
  assert.deepEqual(await runBriefly({ watch: gone }), { lists: 2, watches: 2, error: null })
  const { lists, watches, error } = await runBriefly({ list: { continue: 'more' }, watch })
  assert.deepEqual([lists, watches, error], [1, 0, 'the API server continues a list without new objects'])
})

test('lines and versions of any type neither stop the server nor the watch', async () => {
  for (const value of [
    null,
    1,
    'x',
    [],
    {},
    { object: null },
    { type: 'ERROR' },
    { type: 'ERROR', object: { code: {} } },
  ])
    await runBriefly({ watch: () => value })
  const odd = [null, [], { toString: 1 }, '\ud800', true]
  for (const resourceVersion of odd) {
    const list = { resourceVersion, continue: resourceVersion }
    const watch = () => ({ type: 'BOOKMARK', object: { metadata: { resourceVersion } } })
    const { lists } = await runBriefly({ list, watch })
    assert.equal(lists, 1)
  }
})

test('a watch whose lines cannot be read is not repeated because another one works', async (t) => {
  const { lines } = await client(t, (socket) => socket.end(`${OK}{]\n`))
  let opened = 0
  const stop = new AbortController()
  setTimeout(() => stop.abort(), 200)
  const counting: Client['lines'] = (path, on) => {
    opened += 1
    return lines(path, on)
  }
  const [stream] = streamsOf([])
  assert.ok(stream)
  await runStream(stream, '1', {
    client: { lines: counting } as Client,
    ...{ take: () => {}, warn: () => {}, forgotten: () => {}, state: () => {}, random: () => 1, signal: stop.signal },
    reached: () => AbortSignal.timeout(5),
  })
  assert.equal(opened, 1)
})

test('other requests are served between thousands of lines, and empty lines are skipped', async (t) => {
  const { lines } = await client(t, (socket) => socket.end(OK + '\n'.repeat(500_000) + '1\n'.repeat(20_000)))
  const read: string[] = []
  let turns = 0
  const counting = setInterval(() => {
    turns += 1
  }, 0)
  t.after(() => clearInterval(counting))
  await lines('/api/v1/pods', { onOpen: () => {}, onLine: (line) => void read.push(line) })
  assert.equal(read.length, 20_000)
  assert.ok(turns > 10, `${turns}`)
})

test('an API server cannot ask for a pause of years, which a timer would turn into none', () => {
  assert.equal(pauseOf(new ApiError(429, '', 1e14), 1, 0), 300_000)
  assert.equal(pauseOf(new ApiError(429, '', -5), 1, 1), 500)
})

test('a watch that is stopped while its list waits to be saved ends', async (t) => {
  const items = Array.from({ length: 900 }, (_, index) => ({ metadata: { uid: `u${index}`, name: `n${index}` } }))
  const body = JSON.stringify({ metadata: { resourceVersion: '1' }, items })
  const made = await client(t, (socket) =>
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
  )
  const begun = Promise.withResolvers<void>()
  const submit = async () => {
    begun.resolve()
    await new Promise((resolve) => setTimeout(resolve, 50))
    return { eventIds: [], rejected: [], isRepeat: false }
  }
  const watch = watchCluster({
    ...{ name: 'a', server: '', organizationId: 1, namespaces: [], client: made, engine: { submit } },
    ...{
      watched: { objects: [], positions: new Map() },
      now: Date.now,
      random: () => 0,
      warn: () => {},
      onListed: () => {},
    },
  })
  await begun.promise
  await watch.close()
})

for (const [why, server, token] of [
  ['a token of two lines', 'http://127.0.0.1:9', 'a\nb'],
  ['a port that does not exist', 'http://127.0.0.1:99999', 'a'],
  ['another protocol', 'ftp://127.0.0.1', 'a'],
] as const)
  test(`what cannot be sent is a failure of the cluster: ${why}`, async (t) => {
    const tls = { ca: null, cert: null, key: null }
    const made = createClient({ name: 'a', server, tls, isUnverified: false, token: () => token }, Date.now)
    t.after(() => made.close())
    await assert.rejects(made.get('/version'), (error) => error instanceof ApiError && error.status === 0)
  })

test('an object that is nested without end is not parsed', async (t) => {
  const { lines } = await client(t, (socket) => socket.end(`${OK}${'['.repeat(3_000_000)}\n`))
  const onLine = (line: string) => void parsed(line, 'sent what is not JSON')
  await assert.rejects(lines('/', { onOpen: () => {}, onLine }), /sent what is not JSON/)
})

test('the containers of a pod are read as far as they are containers, up to a limit', () => {
  const many = Array.from({ length: 20_000 }, () => ({ state: { waiting: { reason: 'CrashLoopBackOff' } } }))
  const containers = (containerStatuses: unknown, name = 'a') => {
    const seen = readSeen('Pod', { metadata: { uid: 'u', name }, status: { containerStatuses } }, 0)
    return seen?.kind === 'Pod' ? seen.facts.containers.length : null
  }
  assert.deepEqual(
    [null, 'x', [null, 1, {}], many].map((one) => containers(one)),
    [0, 0, 1, 100],
  )
  assert.equal(containers([], 'a'.repeat(254)), null)
})

test('a redirect and an error without words are reported with what they are', async (t) => {
  for (const [head, words] of [
    ['302 Found\r\nLocation: https://login.example.com/', /redirects to https:\/\/login.example.com\/; name that URL/],
    ['301 Moved Permanently', /answered with the status 301$/],
    ['502 Bad Gateway', /answered with the status 502$/],
  ] as const) {
    const { get } = await client(t, (socket) => socket.end(`HTTP/1.1 ${head}\r\nContent-Length: 0\r\n\r\n`))
    await assert.rejects(get('/version'), (error) => error instanceof ApiError && words.test(error.message))
  }
})

test('a cluster with too many objects is a failure, and what is known is still followed', async (t) => {
  const objects = Array.from({ length: BUDGETS['cluster-objects'].value }, (_, index) => {
    const place = { namespace: 'shop', name: `n${index}`, createdAt: 0 }
    return { kind: 'Event', uid: `u${index}`, ...place } as unknown as Seen
  })
  const delivered: string[] = []
  const closed = Promise.withResolvers<void>()
  const metadata = (uid: string) => ({ metadata: { uid, name: uid, namespace: 'shop' } })
  const items = ['u1', 'u2', 'new', 'u3'].map((uid) => JSON.stringify(metadata(uid)))
  const api: Pick<Client, 'items' | 'ahead' | 'close'> = {
    items: async (path, onItem) => {
      for (const item of path.includes('/pods') ? items : []) {
        await onItem(item)
        delivered.push(item)
      }
      return { metadata: { resourceVersion: '1' } }
    },
    ...{ ahead: () => 0, close: () => closed.resolve() },
  }
  const lines = () => closed.promise
  const submit = async () => ({ eventIds: [], rejected: [], isRepeat: false })
  const watch = watchCluster({
    ...{ name: 'a', server: '', organizationId: 1, namespaces: [], client: { ...api, lines } as unknown as Client },
    ...{ engine: { submit }, watched: { objects, positions: new Map() }, now: Date.now, random: () => 0 },
    ...{ onListed: () => {}, warn: () => {} },
  })
  t.after(() => watch.close())
  await eventually(
    async () => watch.state().failures,
    (failures) => failures.length > 0,
  )
  assert.deepEqual(
    watch.state().failures.map(({ resource, error, status }) => [resource, error, status]),
    [['pods', 'the cluster has more than 50000 objects; watch only some namespaces', 507]],
  )
  assert.equal(delivered.length, 2)
})
