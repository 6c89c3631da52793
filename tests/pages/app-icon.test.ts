/** The web app manifest and its icons, which a phone needs to keep incmon on its home screen. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, inflateSync } from 'node:zlib'
import { appIcon } from '../../src/assets.ts'
import { makeWorld } from '../helpers/app.ts'

test('every icon of the manifest exists, with the size and the type that it names', async (t) => {
  const { app } = makeWorld(t)
  const manifest = JSON.parse(await (await app.request('http://localhost/assets/app.webmanifest')).text())
  const sizes: string[] = []
  for (const { src, type, sizes: size, purpose } of manifest.icons) {
    const answer = await app.request(`http://localhost/assets/${src}`)
    assert.deepEqual([answer.status, answer.headers.get('content-type'), purpose], [200, type, 'any maskable'])
    const body = Buffer.from(await answer.arrayBuffer())
    if (type === 'image/png') sizes.push(`${body.readUInt32BE(16)}x${body.readUInt32BE(20)}`)
    assert.ok(type !== 'image/png' || sizes.includes(size))
  }
  assert.deepEqual(sizes, ['192x192', '512x512'])
})

test('an icon of another size does not exist', async (t) => {
  const { app } = makeWorld(t)
  for (const size of [0, 191, 4096]) {
    assert.equal((await app.request(`http://localhost/assets/app-${size}.png`)).status, 404)
  }
})

test('an icon is a valid PNG, whose line stays within the circle that phones keep', () => {
  const image = Buffer.from(appIcon(192))
  const chunks: Buffer[] = []
  for (let at = 8; at < image.length; at += image.readUInt32BE(at) + 12) {
    const end = at + 8 + image.readUInt32BE(at)
    assert.equal(crc32(image.subarray(at + 4, end)), image.readUInt32BE(end))
    if (image.subarray(at + 4, at + 8).toString() === 'IDAT') chunks.push(image.subarray(at + 8, end))
  }
  const pixels = inflateSync(Buffer.concat(chunks))
  assert.equal(pixels.length, 192 * 193)
  const drawn = [...pixels.keys()].filter((at) => at % 193 > 0 && (pixels[at] ?? 0) > 0)
  assert.ok(drawn.length > 100)
  for (const at of drawn) assert.ok(Math.hypot((at % 193) - 96.5, Math.floor(at / 193) - 95.5) < 192 * 0.4)
})
