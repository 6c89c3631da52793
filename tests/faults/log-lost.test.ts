/** Another program deletes files of a running server: no event acknowledged after that is missing after a restart. */
import assert from 'node:assert/strict'
import {
  chownSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import SQLite from 'better-sqlite3'
import { readiness } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { figure } from './generator.ts'
import { acknowledged, deliver, fromClients } from './load.ts'
import { missing } from './promise.ts'
import { makeDatabase, startServer } from './server.ts'

const BEFORE = 200
const NOBODY = 65_534

suite('files taken away', { concurrency: 2 }, () => {
  for (const [what, lose] of [
    ['deleted', (log: string) => rmSync(log)],
    ['moved away', (log: string) => renameSync(log, `${log}.away`)],
    ['truncated', (log: string) => truncateSync(log, 0)],
    ['cut in half', (log: string) => truncateSync(log, Math.floor(statSync(log).size / 2))],
  ] as const) {
    test(`a log that is ${what} under load ends the server, and everything acknowledged is present after a restart`, async (t) => {
      const { file, token } = makeDatabase(temporaryDirectory(t))
      const server = await startServer(t, file)
      const stored: string[] = []
      let refused = 0
      await fromClients(16, 2 * BEFORE, async (number) => {
        if (number === BEFORE) lose(`${file}-wal`)
        const answer = await deliver({ url: server.url, token }, number).catch(() => null)
        if (answer) stored.push(...acknowledged(answer))
        if (answer?.status !== 200) refused += 1
      })
      assert.equal(await server.ended, 1)
      assert.match(
        server.said(),
        /"level":"fatal".*-wal was (deleted|truncated) by another program while incmon was running; all stored data was saved/,
      )
      const again = await startServer(t, file)
      assert.equal(await readiness(again.url), 200)
      figure(t, 8, `log ${what}: ${stored.length} acknowledged, ${missing(file, stored).length} lost`)
      assert.deepEqual([missing(file, stored), refused > 0, stored.length >= BEFORE - 16], [[], true, true])
    })
  }

  for (const [what, lose] of [
    ['deleted', (file: string) => rmSync(file)],
    ['deleted with its log', (file: string) => ['', '-wal', '-shm'].map((end) => rmSync(file + end))],
    ['moved', (file: string) => renameSync(file, `${file}.away`)],
    ['replaced', (file: string) => [writeFileSync(`${file}.x`, 'other'), renameSync(`${file}.x`, file)]],
    [
      'replaced by a link to it',
      (file: string) => [renameSync(file, `${file}.real`), symlinkSync(`${file}.real`, file)],
    ],
    ['moved with its directory', (file: string) => renameSync(dirname(file), `${dirname(file)}-away`)],
    ['deleted with its directory', (file: string) => rmSync(dirname(file), { recursive: true })],
  ] as const) {
    test(`a database that is ${what} under load ends the server, and everything acknowledged is in the copy`, async (t) => {
      const directory = join(temporaryDirectory(t), 'data')
      mkdirSync(directory)
      const { file, token } = makeDatabase(directory)
      const server = await startServer(t, file)
      const stored: string[] = []
      await fromClients(16, 2 * BEFORE, async (number) => {
        if (number === BEFORE) lose(file)
        const answer = await deliver({ url: server.url, token }, number).catch(() => null)
        if (answer) stored.push(...acknowledged(answer))
      })
      assert.equal(await server.ended, 1)
      const [, copy = ''] =
        /all stored data was saved to (\S+)\. To continue with this data, run /.exec(server.said()) ?? []
      figure(t, 41, `database ${what}: ${stored.length} acknowledged, ${missing(copy, stored).length} lost`)
      assert.deepEqual([missing(copy, stored), stored.length >= BEFORE - 16], [[], true])
      rmSync(copy)
    })
  }

  test('a database that is deleted from a directory of another user is copied once, to the parent directory', {
    skip: process.getuid?.() !== 0,
  }, async (t) => {
    const parent = temporaryDirectory(t)
    const directory = join(parent, 'data')
    mkdirSync(directory)
    const { file, token } = makeDatabase(directory)
    for (const path of [parent, directory, file]) chownSync(path, NOBODY, NOBODY)
    const server = await startServer(t, file, ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'])
    const stored = acknowledged(await deliver({ url: server.url, token }, 0))
    chownSync(directory, 0, 0)
    rmSync(file)
    assert.equal(await server.ended, 1)
    const copies = readdirSync(parent).filter((name) => name.startsWith('data-incmon.db.rescued-'))
    assert.deepEqual([copies.length, missing(join(parent, copies[0] ?? ''), stored)], [1, []])
  })

  test('a server does not start with an empty database in place of one that was deleted', async (t) => {
    const { file, token } = makeDatabase(temporaryDirectory(t))
    const server = await startServer(t, file)
    const stored = acknowledged(await deliver({ url: server.url, token }, 0))
    rmSync(file)
    assert.equal(await server.ended, 1)
    const [, copy = ''] = /run \\?"mv (\S+) /.exec(server.said()) ?? []
    await assert.rejects(
      startServer(t, file),
      /incmon\.db is missing, and \S+ contains its data, saved on .+: run "mv /,
    )
    renameSync(copy, file)
    await startServer(t, file)
    assert.deepEqual(missing(file, stored), [])
  })

  test('a file that is copied over the database is noticed within a second, and the log is kept', async (t) => {
    const [own, other] = [makeDatabase(temporaryDirectory(t)), makeDatabase(temporaryDirectory(t))]
    const server = await startServer(t, own.file)
    for (let number = 0; number < 20; number += 1) await deliver({ url: server.url, token: own.token }, number)
    // A change in the same quarter of a second as the first frame of a log counts as SQLite's own.
    await pause(600)
    copyFileSync(other.file, own.file)
    const began = performance.now()
    assert.equal(await server.ended, 1)
    const took = Math.round(performance.now() - began)
    figure(t, 41, `overwritten: noticed after ${took} ms`)
    assert.ok(took <= 1_500)
    assert.match(server.said(), /has overwritten data; the log .+ was saved to \S+-wal\.rescued-.+newest backup/)
    assert.deepEqual(readFileSync(own.file), readFileSync(other.file))
  })

  test('checkpoints of other processes under load neither stop the server nor lose anything', async (t) => {
    const { file, token } = makeDatabase(temporaryDirectory(t))
    const server = await startServer(t, file)
    const modes = ['TRUNCATE', 'PASSIVE', 'RESTART', 'FULL'] as const
    const stored: string[] = []
    await fromClients(4, 2 * BEFORE, async (number) => {
      if (number % 25 === 24) {
        const other = new SQLite(file, { timeout: 3_000 })
        other.pragma(`wal_checkpoint(${modes[Math.floor(number / 25) % modes.length]})`)
        other.close()
        await pause(50)
      }
      stored.push(...acknowledged(await deliver({ url: server.url, token }, number)))
    })
    await pause(600)
    assert.equal(server.said().includes('overwritten'), false)
    await server.kill()
    await startServer(t, file)
    assert.deepEqual([stored.length, missing(file, stored)], [2 * BEFORE, []])
  })

  test('a database whose time changes is not taken for another one', async (t) => {
    const { file, token } = makeDatabase(temporaryDirectory(t))
    const server = await startServer(t, file)
    await deliver({ url: server.url, token }, 0)
    for (let time = 1; time <= 4; time += 1) {
      utimesSync(file, time, time)
      await pause(300)
    }
    assert.equal((await deliver({ url: server.url, token }, 1)).status, 200)
  })

  test('an idle server also notices a lost log, before the next request', async (t) => {
    const { file, token } = makeDatabase(temporaryDirectory(t))
    const server = await startServer(t, file)
    const stored = acknowledged(await deliver({ url: server.url, token }, 0))
    rmSync(`${file}-wal`)
    assert.equal(await server.ended, 1)
    await startServer(t, file)
    assert.deepEqual(missing(file, stored), [])
  })

  test('opened through a link, with another file in place of its log, everything is in the target after kill -9', async (t) => {
    const [data, other] = [temporaryDirectory(t), temporaryDirectory(t)]
    const { file, token } = makeDatabase(data)
    const link = join(other, 'incmon.db')
    symlinkSync(file, link)
    writeFileSync(`${link}-wal`, '')
    const server = await startServer(t, link)
    const stored: string[] = []
    await fromClients(4, 40, async (number) =>
      stored.push(...acknowledged(await deliver({ url: server.url, token }, number))),
    )
    await server.kill()
    assert.deepEqual([stored.length, missing(file, stored)], [40, []])
  })

  test('a second server is refused under any name of the file, and the first one keeps responding', async (t) => {
    const [data, other] = [temporaryDirectory(t), temporaryDirectory(t)]
    const { file, token } = makeDatabase(data)
    const server = await startServer(t, file)
    const [link, hard] = [join(other, 'link.db'), join(other, 'hard.db')]
    symlinkSync(file, link)
    const began = performance.now()
    for (const name of [file, link]) await assert.rejects(startServer(t, name), /is in use by an incmon server/)
    linkSync(file, hard)
    await assert.rejects(startServer(t, hard), /has 2 hard links/)
    rmSync(hard)
    figure(t, 10, `3 servers refused to start in ${Math.round(performance.now() - began)} ms`)
    const answers = await Promise.all([0, 1, 2, 3].map((number) => deliver({ url: server.url, token }, number)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    )
  })
})
