/** Follows CONTRIBUTING in a copy of src, and sends payloads of the new sender through the body parser of its webhook. */
import assert from 'node:assert/strict'
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { AlertDraft } from '../../src/domain/event/event.ts'
import type * as Bodies from '../../src/http/api/webhooks/bodies.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { pageAt, ROOT } from './pages.ts'

const { text } = pageAt('CONTRIBUTING.md')
const matchOf = (pattern: RegExp) => pattern.exec(text)?.[1] ?? assert.fail(`CONTRIBUTING has no ${pattern}`)
const RECEIVED = Date.UTC(2026, 4, 4, 10)
let bodies: typeof Bodies

before(async (t) => {
  const copy = temporaryDirectory(t as Parameters<typeof temporaryDirectory>[0])
  cpSync(`${ROOT}src`, join(copy, 'src'), { recursive: true })
  for (const name of ['node_modules', 'package.json', 'tsconfig.json']) symlinkSync(ROOT + name, join(copy, name))
  writeFileSync(join(copy, 'src/intake/acme.ts'), matchOf(/```ts\n([\s\S]+?)\n {3}```/))
  const webhook = join(copy, 'src/intake/metrics.ts')
  const detection = matchOf(/`(if \(isAcme.+?)`/)
  const changed = readFileSync(webhook, 'utf8').replace(/^ {2}return /m, (found) => `  ${detection}\n${found}`)
  writeFileSync(webhook, `import { isAcme, readAcme } from './acme.ts'\n${changed}`)
  bodies = await import(pathToFileURL(join(copy, 'src/http/api/webhooks/bodies.ts')).href)
})

async function send(body: object) {
  return (await bodies.read('metrics', Buffer.from(JSON.stringify(body)), RECEIVED)).intake
}

const namesOf = ({ accepted }: Awaited<ReturnType<typeof send>>) =>
  new Set(accepted.map(({ draft }) => (draft as AlertDraft).name))

/** A body with a top-level list of alerts as well, which is what Alertmanager's format has. */
const ofAcme = (count: number, note = '') => ({
  acmeVersion: 1,
  monitors: Array.from({ length: count }, (_, i) => ({ monitor: `shop-${i}`, state: 'down', note })),
  alerts: [{ labels: { alertname: 'Z' } }],
})

for (const count of [1, 2_000]) {
  test(`the reader of a new sender reads ${count} items of a body that also has alerts`, async () => {
    const found = await send(ofAcme(count, 'x'.repeat(100)))
    assert.deepEqual([found.accepted.length, [...namesOf(found)]], [count, ['MonitorDown']])
    assert.equal(found.group?.receiver, 'acme')
  })
}

test('the reader of a new sender rejects only the invalid item, with its own error', async () => {
  const { accepted, rejected } = await send({
    acmeVersion: 1,
    monitors: [{ state: 'down', password: 'x' }, { monitor: 'a' }],
  })
  assert.deepEqual(
    accepted.map(({ index }) => index),
    [1],
  )
  assert.equal(rejected[0]?.error, 'monitor: expected the name of the monitor')
  assert.deepEqual(rejected[0]?.payload, { state: 'down', password: '[redacted]' })
})

test('Alertmanager is read as before', async () => {
  assert.deepEqual([...namesOf(await send({ alerts: [{ labels: { alertname: 'Z' } }] }))], ['Z'])
})
