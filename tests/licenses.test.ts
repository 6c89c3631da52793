/** Licenses: every third-party component is distributed with its license text. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { buildSync } from 'esbuild'
import { listLicenses } from '../src/assets.ts'
import { EXECUTABLE, ROOT, skipExecutable } from './helpers/executable.ts'

/** The permissive licenses, by SPDX identifier. */
const PERMISSIVE = [
  'MIT',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  '0BSD',
  'MIT-0',
  'Unlicense',
  'blessing',
]

/** In a checkout, listing them builds the program. */
const licenses = listLicenses()

test('every bundled package, Node and SQLite are listed with their versions', () => {
  const { metafile } = buildSync({
    entryPoints: [`${ROOT}src/main.ts`],
    ...{ bundle: true, write: false, metafile: true, platform: 'node', outdir: ROOT, logLevel: 'error' },
  })
  const bundled = Object.keys(metafile.inputs).flatMap((file) => file.split('node_modules/').slice(1))
  const names = bundled.map((path) => path.split('/', path.startsWith('@') ? 2 : 1).join('/'))
  const missing = [...names, 'Node.js', 'SQLite', 'gitleaks rules'].filter(
    (name) => !licenses.some((one) => one.name === name),
  )
  assert.ok(names.includes('hono') && names.includes('sonic-boom'))
  assert.deepEqual(missing, [])
  for (const { name, version } of licenses) assert.match(version, /^\d+\.\d+\.\d+/, name)
})

test('each has the text of a license that allows redistribution', () => {
  for (const { name, license, text } of licenses) {
    assert.ok(PERMISSIVE.includes(license), `${name}: ${license}`)
    assert.match(text, /copyright|blessing/i, name)
    assert.ok(text.length > 200, name)
  }
})

test("Node's text lists the libraries that Node contains", () => {
  const { text = '' } = licenses.find(({ name }) => name === 'Node.js') ?? {}
  for (const part of ['V8', 'OpenSSL', 'ICU', 'libuv', 'zlib']) assert.ok(text.includes(part), part)
})

test('the executable prints the same licenses as the checkout', { skip: skipExecutable }, () => {
  const { stdout } = spawnSync(EXECUTABLE, ['licenses', '--json'], { encoding: 'utf8' })
  assert.deepEqual(JSON.parse(stdout), licenses)
})
