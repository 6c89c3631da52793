/**
 * Only one process writes: commands use a running server's socket, or open the database themselves if there is none.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, request } from 'node:http'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite, type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { programVersion } from '../../src/assets.ts'
import { holdLock } from '../../src/store/sqlite/lock.ts'
import { call, incmon, incmonServe, refusal, start } from '../helpers/cli.ts'
import { makeIncident, makeOrganization, makeService } from '../helpers/factory.ts'
import { eventually } from '../helpers/server.ts'
import { newStore, temporaryDirectory } from '../helpers/store.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Creates a directory with Acme's database, closed, which contains an open incident. */
function acme(t: TestContext, cwd = temporaryDirectory(t)) {
  const db = newStore(join(cwd, 'incmon.db'))
  const organization = makeOrganization(db, 'Acme', 'Team')
  const { id } = makeIncident(db, organization, makeService(db, organization, 'cart'))
  db.close()
  return { cwd, file: db.file, socket: `${db.file}.sock`, id }
}

/** Like `acme`, but with the lock held as if by a server, and a different program listening on the socket. */
async function locked(t: TestContext, server: Server) {
  const place = acme(t)
  t.after(holdLock(place.file))
  server.listen(place.socket)
  await once(server, 'listening')
  t.after(() => server.close())
  return place
}

/** Sends a request over the socket. */
async function ask(socketPath: string, path: string, method = 'GET') {
  const sent = request({ socketPath, path, method, headers: { host: 'localhost' } }).end()
  const [answer] = await once(sent, 'response')
  return { status: answer.statusCode, body: JSON.parse(await text(answer)) }
}

suite('socket', { concurrency: 4 }, () => {
  test('the socket is next to the database, only its owner can connect, and the server removes it when it stops', async (t) => {
    const { cwd, socket } = acme(t)
    const { stop } = await incmonServe(t, cwd)
    assert.ok(statSync(socket).isSocket())
    assert.equal(statSync(socket).mode & 0o777, 0o600)
    assert.equal((await ask(socket, '/api/services')).status, 200)
    await stop()
    assert.equal(statSync(socket, { throwIfNoEntry: false }), undefined)
  })

  test('two commands change records at the same time while a server is running', async (t) => {
    const { cwd, socket, id } = acme(t)
    await incmonServe(t, cwd)
    const outcomes = await Promise.all([
      incmon(cwd, ['incident', 'note', id, 'first']),
      incmon(cwd, ['incident', 'resolve', id]),
    ])
    assert.deepEqual(
      outcomes.map(({ code, err }) => [code, err]),
      [
        [0, ''],
        [0, ''],
      ],
    )
    const { body } = await ask(socket, `/api/incidents/${id}`)
    const texts = body.timeline.map((row: { text: string }) => row.text)
    assert.deepEqual([body.status, texts.includes('first'), texts.includes('resolved')], ['resolved', true, true])
  })

  test('the actor of a command is the login name of its user, with a server and without', async (t) => {
    const { cwd, socket, id } = acme(t)
    await call(cwd, ['incident', 'note', id, 'alone'])
    await incmonServe(t, cwd)
    await call(cwd, ['incident', 'note', id, 'beside'])
    const { timeline } = (await ask(socket, `/api/incidents/${id}`)).body
    const actors = timeline.map(({ text, actor }: { text: string; actor: string }) => [text, actor])
    assert.deepEqual(actors, [
      ['alone', userInfo().username],
      ['beside', userInfo().username],
    ])
  })

  test('without a server commands run one after another and leave no socket behind', async (t) => {
    const { cwd, socket, id } = acme(t)
    const notes = ['one', 'two', 'three', 'four']
    // On a busy machine, a command can wait for the others until it gives up, and says so.
    const waited = ({ err }: { err: string }) => !err.includes('another incmon process has locked')
    const outcomes = await Promise.all(
      notes.map((note) => eventually(() => incmon(cwd, ['incident', 'note', id, note]), waited)),
    )
    assert.deepEqual(
      outcomes.map(({ code, err }) => [code, err]),
      notes.map(() => [0, '']),
    )
    const { timeline } = JSON.parse((await call(cwd, ['incident', 'show', id, '--json'])).out)
    assert.deepEqual(timeline.map(({ text }: { text: string }) => text).sort(), [...notes].sort())
    assert.equal(statSync(socket, { throwIfNoEntry: false }), undefined)
  })

  test('after kill -9 commands open the database themselves, and the next server replaces the socket', async (t) => {
    const { cwd, socket } = acme(t)
    const killed = await incmonServe(t, cwd)
    killed.child.kill('SIGKILL')
    await once(killed.child, 'close')
    assert.ok(statSync(socket).isSocket(), 'nothing was left behind')
    assert.equal((await call(cwd, ['org', 'list', '--json'])).code, 0)
    await incmonServe(t, cwd)
    assert.equal((await ask(socket, '/operator/server')).body.program, 'incmon')
  })

  test("a second server on the same file is rejected, and the first one's socket is kept", async (t) => {
    const { cwd, socket } = acme(t)
    await incmonServe(t, cwd)
    const { code, err } = await incmon(cwd, ['serve', '--port', '0'])
    assert.deepEqual(
      [code, err],
      [1, 'incmon: incmon.db is in use by an incmon server: stop that server first, or choose another --database\n'],
    )
    assert.equal((await ask(socket, '/operator/server')).status, 200)
  })

  for (const args of [['restore', 'copy.db', '--force'], ['migrate']]) {
    test(`${args[0]} is rejected while a server is running`, async (t) => {
      const { cwd } = acme(t)
      await incmon(cwd, ['backup', 'copy.db'])
      await incmonServe(t, cwd)
      const { code, err } = await incmon(cwd, args)
      assert.equal(code, 1)
      assert.match(err, /incmon\.db is in use by an incmon server: stop that server first/)
    })
  }

  test('a link to the database leads to the same socket', async (t) => {
    const { cwd, file } = acme(t)
    await incmonServe(t, cwd)
    const link = join(temporaryDirectory(t), 'link.db')
    symlinkSync(file, link)
    const made = await call('/', ['org', 'create', 'Dora', '--database', link])
    const listed = await call(cwd, ['org', 'list', '--json'])
    assert.deepEqual([made.code, JSON.parse(listed.out).length], [0, 2])
  })

  test('npm run and the program itself reach the same server', async (t) => {
    const { cwd, file } = acme(t)
    await incmonServe(t, cwd)
    const args = ['run', '-s', 'incmon', '--', 'org', 'create', 'Dora', '--database', file]
    const child = spawn('npm', args, { cwd: ROOT, stdio: 'ignore' })
    const [code] = await once(child, 'close')
    const { out } = await call(cwd, ['org', 'list', '--json'])
    assert.deepEqual([code, JSON.parse(out).map(({ name }: { name: string }) => name)], [0, ['Acme', 'Dora']])
  })

  test('a suggested command names the given database', async (t) => {
    const { file } = acme(t)
    const { err } = await call('/', ['incident', 'show', 'x', '--database', file])
    assert.equal(
      err,
      `incmon: no incident x: enter its number, or at least 8 characters of its id, as shown by "incmon incident list --database ${file}"\n`,
    )
  })

  test('a client that disconnects during a request does not affect the server', async (t) => {
    const { cwd, socket, id } = acme(t)
    await incmonServe(t, cwd)
    for (const piece of [
      '',
      'GET /api/serv',
      `POST /api/incidents/${id}/notes HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n{`,
    ]) {
      const caller = connect(socket)
      await once(caller, 'connect')
      caller.write(piece)
      caller.destroy()
    }
    assert.equal((await ask(socket, '/healthz')).status, 200)
    assert.equal((await call(cwd, ['incident', 'show', id])).code, 0)
  })

  test('interrupting a prune also stops it in the server', async (t) => {
    const { cwd, socket } = acme(t)
    await incmonServe(t, cwd)
    const { child } = start(cwd, ['prune', '--yes'])
    child.kill('SIGINT')
    await once(child, 'close')
    assert.equal((await ask(socket, '/healthz')).status, 200)
  })
})

test('a server of another version is reported and gets no further requests', async (t) => {
  const asked: string[] = []
  const old = createHttpServer((incoming, outgoing) => {
    asked.push(incoming.url ?? '')
    outgoing.end(JSON.stringify({ program: 'incmon', version: '9.9.9' }))
  })
  const { cwd, socket } = await locked(t, old)
  const { code, err } = await incmon(cwd, ['org', 'list'])
  const line = `this command has version ${programVersion()}, but the server on ${socket} has version 9.9.9: use the server's version of incmon, or restart the server with version ${programVersion()}`
  assert.deepEqual([code, err, asked], [1, `incmon: ${line}\n`, ['/operator/server']])
})

for (const [what, server] of [
  ['answers something else', createHttpServer((_, outgoing) => outgoing.end('hello'))],
  ['speaks no HTTP', createServer((socket) => socket.end('220 mail.example.com ESMTP\r\n'))],
] as const) {
  test(`a program on the socket that ${what} is reported as another program`, async (t) => {
    const { cwd, socket } = await locked(t, server)
    const { code, err } = await incmon(cwd, ['org', 'list'])
    assert.equal(code, 1)
    assert.ok(err.startsWith(`incmon: another program is listening on ${socket}`), err)
    assert.match(err, /: stop that program, then restart "incmon serve"\n$/)
  })
}

for (const [what, server, line] of [
  ['never answers', createServer(() => {}), /the server on \S+ is not responding: check its log/],
  ['hangs up', createServer((socket) => socket.destroy()), /closed the connection before it responded \(E\w+\)/],
] as const) {
  test(`for a server that ${what} the command fails with a remedy`, async (t) => {
    const { cwd } = await locked(t, server)
    const { code, err } = await incmon(cwd, ['org', 'list'])
    assert.equal(code, 1)
    assert.match(err, line)
  })
}

test('a command waits for a lock without a server, then says so', async (t) => {
  const { cwd, file, socket } = acme(t)
  const release = holdLock(file)
  t.after(release)
  const { code, err } = await incmon(cwd, ['org', 'list'])
  const line = `another incmon process has locked incmon.db, and no server is listening on ${socket}: wait until the other command has finished or the server has started`
  assert.deepEqual([code, err], [1, `incmon: ${line}\n`])
})

test('a command continues when another one releases the database', async (t) => {
  const { cwd, file } = acme(t)
  const release = holdLock(file)
  const waiting = incmon(cwd, ['org', 'list', '--json'])
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  release()
  assert.deepEqual([(await waiting).code, (await waiting).err], [0, ''])
})

for (const [what, make, says] of [
  [
    'a file',
    (path: string) => writeFileSync(path, 'mine'),
    /is not a socket, but incmon needs this path for its socket: move the file away/,
  ],
  [
    'a directory',
    (path: string) => mkdirSync(path),
    /is not a socket, but incmon needs this path for its socket: move the file away/,
  ],
  ['a link to nowhere', (path: string) => symlinkSync('/nowhere', path), /is not a socket/],
] as const) {
  test(`serve does not remove ${what} at the socket's path`, async (t) => {
    const { cwd, socket } = acme(t)
    make(socket)
    const { code, err } = await incmon(cwd, ['serve', '--port', '0'])
    assert.equal(code, 1)
    assert.match(err, says)
    assert.ok(statSync(cwd).isDirectory() && readdirSync(cwd).includes('incmon.db.sock'))
  })
}

test('serve does not remove a socket on which another program is listening', async (t) => {
  const { cwd, socket } = acme(t)
  const foreign = createServer((one) => one.end()).listen(socket)
  await once(foreign, 'listening')
  t.after(() => foreign.close())
  const { code, err } = await incmon(cwd, ['serve', '--port', '0'])
  assert.deepEqual(
    [code, err],
    [1, `incmon: another program is listening on ${socket}: stop it, or choose another --database\n`],
  )
  assert.ok(statSync(socket).isSocket())
})

test('a path that is too long for a socket is rejected before anything is created', async (t) => {
  const directory = join(temporaryDirectory(t), 'x'.repeat(100))
  mkdirSync(directory)
  const { code, text } = await refusal(['serve', '--port', '0', '--database', join(directory, 'incmon.db')])
  assert.equal(code, 1)
  assert.match(
    text,
    /incmon\.db\.sock is \d{3} bytes long, but the path of a Unix socket can have at most 107 bytes: move the database to a path of at most 102 bytes$/,
  )
  assert.deepEqual(readdirSync(directory), [])
})

test('the longest possible path works, and one byte more is rejected', async (t) => {
  const base = temporaryDirectory(t)
  const fits = join(base, 'x'.repeat(107 - base.length - '/.sock'.length))
  const { code, text } = await refusal(['serve', '--port', '0', '--database', `${fits}y`])
  assert.deepEqual([code, /is 108 bytes long/.test(text)], [1, true])
  const { err } = await incmon(base, ['serve', '--port', '0', '--database', fits], { until: 'listens on' })
  assert.match(err, /started/)
})

test('a command without a server works with a long path', async (t) => {
  const directory = join(temporaryDirectory(t), 'x'.repeat(100))
  mkdirSync(directory)
  const { cwd } = acme(t, directory)
  assert.equal((await incmon(cwd, ['org', 'list'])).code, 0)
})

test('another user cannot connect, and the message suggests a remedy', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('only root may run a command as another user')
  const { cwd } = acme(t)
  await incmonServe(t, cwd)
  spawnSync('chmod', ['755', cwd])
  const nobody = 65_534
  const { code, err } = await incmon(cwd, ['org', 'list'], { uid: nobody })
  assert.equal(code, 1)
  assert.match(err, /run the command as the user that runs the server|check its owner and mode/)
})

/** Mounts a file system with Acme's database read-only. */
function readOnly(t: TestContext) {
  const mount = mkdtempSync(join(tmpdir(), 'incmon-ro-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', mount]).status === 0
  t.after(() => {
    if (mounted) spawnSync('umount', [mount])
    rmdirSync(mount)
  })
  if (!mounted) return null
  acme(t, mount)
  return spawnSync('mount', ['-o', 'remount,ro', mount]).status === 0 ? mount : null
}

test('a database on a read-only mount can be backed up to another directory', async (t) => {
  const mount = readOnly(t)
  if (!mount) return t.skip('nobody may mount here')
  const to = join(temporaryDirectory(t), 'copy.db')
  const { code, err } = await incmon(mount, ['backup', to])
  assert.deepEqual([code, err], [0, ''])
  assert.equal(JSON.parse((await incmon('/', ['org', 'list', '--json', '--database', to])).out)[0].name, 'Acme')
})

for (const args of [['org', 'list'], ['serve', '--port', '0'], ['migrate']]) {
  test(`on a read-only mount incmon ${args[0]} fails with a remedy`, async (t) => {
    const mount = readOnly(t)
    if (!mount) return t.skip('nobody may mount here')
    const { code, err } = await incmon(mount, args)
    assert.equal(code, 1)
    assert.match(
      err,
      /^incmon: incmon\.db[^\n]*read-only file system; remount it read-write, or use a copy made with "incmon backup FILE"\n$/,
    )
  })
}
