/** Images in events, and the projects that might have built them. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { imageProjects, imagesOf, type LiveImage } from '../../src/domain/service/image.ts'
import { alertDraft, clusterDraft } from './service-cases.ts'

describe('the image of an event', () => {
  const table: [string, LiveImage | null][] = [
    ['Pulling image "registry.example.com/team/web:1.2"', { path: 'team/web', tag: '1.2' }],
    ['Pulling image "localhost:5000/team/web"', { path: 'team/web', tag: null }],
    ['Pulling image "localhost/web:1"', { path: 'web', tag: '1' }],
    ['Successfully pulled image "nginx:1.27" in 1.2s (1.2s including waiting)', { path: 'nginx', tag: '1.27' }],
    ['Failed to pull image "team/web:95d49d1e": rpc error: code = NotFound', { path: 'team/web', tag: '95d49d1e' }],
    ['Container image "ghcr.io/a/b/c:v1" already present on machine', { path: 'a/b/c', tag: 'v1' }],
    ['Back-off pulling image "a/b@sha256:0123abcd"', { path: 'a/b', tag: null }],
    ['Pulling image "r.io/a/b:v1@sha256:0123abcd"', { path: 'a/b', tag: 'v1' }],
    ['Pulling image \\"a/b:1\\"', { path: 'a/b', tag: '1' }],
    ['Pulling image ""', null],
    ['Error: ErrImagePull', null],
  ]
  for (const [message, image] of table)
    it(message, () => assert.deepEqual(imagesOf(clusterDraft({ name: 'x' }, { message }))[0] ?? null, image))

  it('does not exist for an alert', () => assert.deepEqual(imagesOf(alertDraft({ image: 'a/b' })), []))

  it('is indexed under every project that might have built it', () => {
    assert.deepEqual(imageProjects('team/sub/Web/image'), [
      ...['team/sub/web/image', 'sub/web/image', 'team/sub/web', 'web/image', 'sub/web', 'team/sub'],
    ])
    assert.deepEqual(imageProjects('nginx'), [])
  })
})
