/** /assets: serves the style sheet, the script and the favicons from memory. */
import { IncmonError } from '../domain/error.ts'
import { headerOf } from '../http/middleware/header.ts'
import { problemOf } from '../http/middleware/problem.ts'
import type { PageRoute } from './visit/page.ts'

/** The URLs of the style sheet and the script change with their content, so browsers can cache them for a year. */
const YEAR = 'public, max-age=31536000, immutable'
const DAY = 'public, max-age=86400'

export const assetRoutes: readonly PageRoute[] = [
  {
    method: 'GET',
    path: '/assets/:file',
    handle: async (c, { server }) => {
      const file = server.web.assets().find(c.req.path)
      if (!file) return problemOf(new IncmonError('not-found', 'no such file; load the page again'))
      const etag = `"${file.tag}"`
      const isNamed = c.req.path.includes(file.tag)
      const headers = {
        'cache-control': isNamed ? YEAR : DAY,
        etag,
        vary: 'accept-encoding',
        'content-type': file.type,
      }
      const known = (headerOf(c, 'if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
      if (known.includes(etag)) return { status: 304, headers, body: null }
      const zipped = /\bgzip\b/.test(headerOf(c, 'accept-encoding') ?? '')
      return zipped
        ? { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: file.gzip }
        : { status: 200, headers, body: file.body }
    },
  },
]
