/** /assets: serves the style sheet, the script and the favicons from memory. */
import { IncmonError } from '../domain/error.ts'
import { answerAsset } from '../http/middleware/asset.ts'
import { problemOf } from '../http/middleware/problem.ts'
import type { PageRoute } from './page.ts'

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
      return answerAsset(c, file, { 'cache-control': c.req.path.includes(file.tag) ? YEAR : DAY })
    },
  },
]
