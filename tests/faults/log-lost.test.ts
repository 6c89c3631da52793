/** Another program deletes files of a running server: no event acknowledged after that is missing after a restart. */
import assert from 'node:assert/strict'
import { linkSync, renameSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { readiness } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { figure } from './generator.ts'
import { acknowledged, deliver, fromClients } from './load.ts'
import { missing } from './promise.ts'
import { makeDatabase, startServer } from './server.ts'

const BEFORE = 200

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
