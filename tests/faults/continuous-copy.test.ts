/** The machine is lost under load: Litestream's copy contains everything except the changes of about the last second. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse, stringify } from 'yaml'
import { eventually, readiness } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { figure, judging } from './generator.ts'
import { acknowledged, deliver, fromClients } from './load.ts'
import { missing } from './promise.ts'
import { makeDatabase, PROGRAM_LINE, startServer } from './server.ts'
import { sized } from './size.ts'

const LITESTREAM = `node_modules/@flydotio/litestream-linux-${process.arch}/litestream`
const skip = existsSync(LITESTREAM) ? false : 'this platform has no Litestream: npm ci'
/** In milliseconds. Litestream copies once a second. */
const MAX_LOSS = 3_000
const MAX_LOG = 64 * 1_048_576

/** Copies a database into a directory, configured as the documentation says. */
function copying(t: TestContext, file: string) {
  const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(readFileSync('docs/continuous-copy.md', 'utf8')) ?? []
  const [database] = parse(example).dbs
  const replicas = [{ ...database.replicas[0], path: join(temporaryDirectory(t), 'copy') }]
  const config = `${file}.litestream.yml`
  writeFileSync(config, stringify({ dbs: [{ ...database, path: file, replicas }] }))
  const copier = spawn(LITESTREAM, ['replicate', '-config', config], { stdio: 'ignore' })
  const ended = once(copier, 'close')
  const kill = async () => {
    copier.kill('SIGKILL')
    await ended
  }
  t.after(kill)
  const restore = (to: string) => {
    for (const end of ['', '-wal', '-shm']) rmSync(to + end, { force: true })
    return spawnSync(LITESTREAM, ['restore', '-config', config, '-o', to, file], { encoding: 'utf8' })
  }
  return { kill, restore, isCopying: () => existsSync(join(replicas[0].path, 'generations')) }
}

/** Sends deliveries until `count` are acknowledged. Returns the time of each acknowledgement, and the largest log. */
async function load(target: { readonly url: string; readonly token: string }, file: string, count: number, first = 0) {
  const [times, sizes] = [new Map<string, number>(), [0]]
  const send = async (number: number) => {
    for (const id of acknowledged(await deliver(target, number))) times.set(id, performance.now())
    sizes.push(statSync(`${file}-wal`).size)
  }
  await fromClients(16, count, send, first)
  return { times, log: Math.max(...sizes) }
}

test('after the machine is lost under load, the copy lacks at most the last seconds, and continues', {
  skip,
}, async (t) => {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const [server, copy] = [await startServer(t, file), copying(t, file)]
  const restored = join(temporaryDirectory(t), 'incmon.db')
  await eventually(async () => copy.isCopying(), Boolean)
  const judge = judging(t, 56, server.pid)
  const { times, log } = await load({ url: server.url, token }, file, sized(8_000, 600, 600))
  await Promise.all([server.kill(), copy.kill()])
  const killed = performance.now()

  const began = performance.now()
  assert.equal(copy.restore(restored).status, 0)
  const restoring = Math.round(performance.now() - began)
  const lost = missing(restored, times.keys())
  const last = await startServer(t, restored)
  assert.equal(await readiness(last.url), 200)
  const ready = Math.round(performance.now() - began)
  const loss = Math.round(killed - Math.min(killed, ...lost.map((id) => times.get(id) ?? 0)))
  const words = `${times.size} acknowledged, ${lost.length} of the last ${loss} ms lost, log at most ${Math.ceil(log / 1e6)} MB`
  figure(t, 56, `machine lost: ${words}, restored in ${restoring} ms, ready after ${ready} ms`)
  assert.ok(log <= MAX_LOG, words)
  judge(loss <= MAX_LOSS, words, loss - MAX_LOSS)
})

test('after kill -9 of the server alone, the copy lacks nothing, and "incmon doctor" recognizes it', {
  skip,
}, async (t) => {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const [server, copy] = [await startServer(t, file), copying(t, file)]
  const restored = join(temporaryDirectory(t), 'incmon.db')
  await eventually(async () => copy.isCopying(), Boolean)
  const { times } = await load({ url: server.url, token }, file, sized(2_000, 200, 200))
  await server.kill()
  const again = await startServer(t, file)
  const more = await load({ url: again.url, token }, file, 50, 10_000)
  const all = [...times.keys(), ...more.times.keys()]
  const lost = await eventually(
    async () => (copy.restore(restored).status === 0 ? missing(restored, all) : all),
    (left) => left.length === 0,
  )
  figure(t, 56, `server killed: ${all.length} acknowledged, ${lost.length} lost`)
  const [command = '', ...line] = PROGRAM_LINE
  const { stdout } = spawnSync(command, [...line, 'doctor', '--database', restored], { encoding: 'utf8' })
  assert.match(stdout, /schema version \d+, as expected/)
  assert.match(stdout, /Litestream has copied this database/)
})
