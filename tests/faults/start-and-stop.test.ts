/** Starting with an unusable database, and stopping under load. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import SQLite from 'better-sqlite3'
import { temporaryDirectory } from '../helpers/store.ts'
import { figure } from './generator.ts'
import { acknowledged, deliver } from './load.ts'
import { missing } from './promise.ts'
import { makeDatabase, PROGRAM_LINE, startServer } from './server.ts'

const NOBODY = 65_534
/** The number of event streams that are open when the server is stopped. */
const STREAMS = 100
const isRoot = process.getuid?.() === 0

/** Starts a server that refuses to start. Returns its exit code, its output and its duration. */
async function refused(file: string, uid?: number) {
  const [command = '', ...args] = [...PROGRAM_LINE, 'serve', '--port', '0', '--database', file]
  const began = performance.now()
  const child = spawn(command, args, { env: { PATH: process.env.PATH ?? '' }, ...(uid ? { uid, gid: uid } : {}) })
  let words = ''
  child.stderr.on('data', (chunk) => {
    words += chunk
  })
  const [code] = await once(child, 'close')
  return { code, words, ms: Math.round(performance.now() - began) }
}

function change(file: string, sql: string): void {
  const sqlite = new SQLite(file)
  sqlite.exec(sql)
  sqlite.close()
}

type Case = {
  readonly what: string
  /** The path to open, if it differs from where the database was created. */
  readonly at?: (file: string) => string
  readonly spoil?: (file: string) => void
  readonly line: RegExp
  readonly uid?: number
}

const CASES: readonly Case[] = [
  { what: 'a missing directory', at: (file) => join(file, '..', 'gone', 'incmon.db'), line: /check that .+ exists/ },
  {
    what: 'a newer schema version',
    spoil: (file) => change(file, 'PRAGMA user_version = 99'),
    line: /use a newer version of incmon/,
  },
  {
    what: 'a damaged header',
    spoil: (file) => writeFileSync(file, readFileSync(file).fill(0x5a, 0, 16)),
    line: /is not a database, or is damaged/,
  },
  {
    what: 'a file that belongs to another program',
    spoil: (file) => change(file, 'PRAGMA application_id = 1'),
    line: /belongs to another program/,
  },
  {
    what: 'a directory owned by another user',
    spoil: (file) => chmodSync(join(file, '..'), 0o755),
    line: /check its owner and mode/,
    uid: NOBODY,
  },
  {
    what: 'a file owned by another user',
    spoil: (file) => chmodSync(join(file, '..'), 0o777),
    line: /check its owner and mode/,
    uid: NOBODY,
  },
]

suite('start', { concurrency: 2 }, () => {
  for (const { what, at = (file: string) => file, spoil = () => {}, line, uid } of CASES) {
    test(`${what} is refused in one line with the remedy, and no byte changes`, {
      skip: uid !== undefined && !isRoot,
    }, async (t) => {
      const { file } = makeDatabase(temporaryDirectory(t))
      spoil(file)
      const spoilt = at(file)
      const before = existsSync(spoilt) ? readFileSync(spoilt) : null
      const { code, words, ms } = await refused(spoilt, uid)
      assert.match(words, line)
      assert.deepEqual([code, words.trim().split('\n').length, /\n\s+at /.test(words)], [1, 1, false])
      if (before) assert.ok(readFileSync(spoilt).equals(before))
      figure(t, 9, `${what}: ${ms} ms`)
    })
  }

  test('a disk that is mounted read-only is refused with the remedy', async (t) => {
    const disk = temporaryDirectory(t)
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'incmon-test', disk]).status !== 0)
      return t.skip('only root')
    try {
      const { file } = makeDatabase(disk)
      spawnSync('mount', ['-o', 'remount,ro', disk])
      assert.match((await refused(file)).words, /is on a read-only file system; remount it read-write/)
    } finally {
      spawnSync('umount', ['--lazy', disk])
    }
  })

  test('a server starts even if the temporary directory does not allow programs', async (t) => {
    const disk = temporaryDirectory(t)
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,noexec', 'incmon-test', disk]).status !== 0)
      return t.skip('only root')
    try {
      const { file } = makeDatabase(temporaryDirectory(t))
      const server = await startServer(t, file, ['env', `TMPDIR=${disk}`])
      assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
      await server.kill()
    } finally {
      spawnSync('umount', ['--lazy', disk])
    }
  })
})

suite('stop', () => {
  test('SIGTERM under load answers all accepted requests, exits with 0 and leaves one file behind', async (t) => {
    const { file, token } = makeDatabase(temporaryDirectory(t))
    const server = await startServer(t, file)
    const headers = { Authorization: `Bearer ${token}` }
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, () => fetch(`${server.url}/api/stream`, { headers })),
    )
    assert.ok(streams.every(({ status }) => status === 200))
    const [stored, statuses] = [[] as string[], new Map<string, number>()]
    let stopped = false
    const client = async (first: number) => {
      for (let number = first; !stopped; number += 16) {
        const answer = await deliver({ url: server.url, token }, number).catch((error) => error)
        const outcome = answer instanceof Error ? codeOf(answer) : String(answer.status)
        statuses.set(outcome, (statuses.get(outcome) ?? 0) + 1)
        if (!(answer instanceof Error)) stored.push(...acknowledged(answer))
        if (answer instanceof Error) return
      }
    }
    const clients = Array.from({ length: 16 }, (_, first) => client(first))
    while (stored.length < 300) await new Promise((resolve) => setTimeout(resolve, 10))
    const began = performance.now()
    server.signal('SIGTERM')
    const code = await server.ended
    stopped = true
    await Promise.all([...clients, ...streams.map((stream) => stream.text().catch(() => ''))])
    const ms = Math.round(performance.now() - began)
    const log = existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0
    const lost = missing(file, stored)
    figure(
      t,
      6,
      `exit ${code} after ${ms} ms with ${STREAMS} open streams, ${stored.length} acknowledged, ${lost.length} lost, log ${log} bytes`,
    )
    assert.deepEqual([code, lost, log, ms <= 10_000], [0, [], 0, true])
    for (const outcome of statuses.keys()) assert.match(outcome, /^(200|503|ECONNREFUSED|UND_ERR_SOCKET|ECONNRESET)$/)
  })
})

function codeOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.message
}
