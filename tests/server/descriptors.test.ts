/** Connections and the open file limit: a server never accepts more than it can open. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { descriptorLimit, fittingConnections } from '../../src/server/connection/connections.ts'
import { MAIN } from '../helpers/cli.ts'
import { temporaryDirectory } from '../helpers/store.ts'

for (const [what, wanted, limit, fitting] of [
  ['a high limit', 1024, 20_000, 1024],
  ['just enough', 1024, 1152, 1024],
  ['one too few', 1024, 1151, 1023],
  ['a usual limit of 1024', 1024, 1024, 896],
  ['a very low limit', 1024, 40, 10],
  ['hardly any', 1024, 3, 1],
  ['a system that does not tell', 1024, null, 1024],
] as const) {
  test(`with ${what} ${fitting} of ${wanted} connections fit`, () => {
    assert.equal(fittingConnections(wanted, limit), fitting)
  })
}

test('the limit of this process is known on Linux', { skip: process.platform !== 'linux' }, () => {
  assert.ok((descriptorLimit() ?? 0) > 0)
})

test('a server with ulimit -n 256 logs it at startup and lowers max-connections', async (t) => {
  const cwd = temporaryDirectory(t)
  const script = `ulimit -n 256; exec '${process.execPath}' '${MAIN}' serve --port 0`
  const child = spawn('/bin/sh', ['-c', script], { cwd, env: { PATH: process.env.PATH ?? '' } })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  for await (const chunk of child.stderr) {
    said += chunk
    if (said.includes('is lowered to')) break
  }
  assert.match(
    said,
    /"max-connections":1024,"openFiles":256,"message":"max-connections is lowered to 128, .+ raise the limit/,
  )
  child.kill('SIGTERM')
  await once(child, 'close')
})
