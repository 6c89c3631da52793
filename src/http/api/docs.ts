/** /docs: the API reference as a web page, generated from the OpenAPI document. */
import type { Context } from 'hono'
import { builtDocument } from '../../assets.ts'
import { IncmonError } from '../../domain/error.ts'
import { once } from '../../domain/memoize.ts'
import { createAsset, hashOf, type WebAsset } from '../../server/web.ts'
import { docsPage } from '../docs/docs.tsx'
import type { OpenApiDocument } from '../docs/openapi-document.ts'
import { STYLE } from '../docs/style.ts'
import { MEANINGS } from '../middleware/problem.ts'
import { answerAsset } from '../middleware/reply.ts'
import type { Route } from '../route.ts'
import { UNCHANGED } from './openapi/openapi.ts'

/** A placeholder for the server's URL in the cached page. The rest of the page is the same for everyone. */
const ADDRESS = 'https://incmon.invalid'
/**
 * The number of URLs for which the page is kept, and how long, in milliseconds. If people use more URLs, the page shows
 * the server's own URL. Otherwise, clients that invent host names could make the server build the page all the time.
 */
const MAX_URLS = 16
const KEEP_URLS = 60_000
/** Allows only the page's inline style. */
const POLICY = `default-src 'none'; style-src 'sha256-${hashOf(STYLE)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
/** Matches a host that is safe in HTML and in a double-quoted shell string. */
const PLAIN_HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i

/** Returns the page with a placeholder for the server's URL. */
export function docsText(document: OpenApiDocument): string {
  return docsPage({ document, url: ADDRESS, meanings: MEANINGS })
}

export function docsRoute(document: () => OpenApiDocument): Route {
  const text = once(() => builtDocument('docs.html') ?? docsText(document()))
  const pages = new Map<string, WebAsset>()
  let clearedAt = 0
  const pageFor = (url: string) => {
    const page = pages.get(url) ?? createAsset(text().replaceAll(ADDRESS, url), 'text/html; charset=UTF-8')
    pages.set(url, page)
    return page
  }
  return {
    method: 'GET',
    path: '/docs',
    summary: 'Show this API reference',
    answers: {
      200: { description: 'The page', body: null, text: 'text/html' },
      ...UNCHANGED,
      400: { description: MEANINGS[400], body: 'problem' },
    },
    handle: (c, { server }) => {
      const url = serverUrl(c)
      if (pages.size >= MAX_URLS && server.elapsed() - clearedAt > KEEP_URLS) {
        pages.clear()
        clearedAt = server.elapsed()
      }
      const isMore = pages.size >= MAX_URLS && !pages.has(url)
      const page = pageFor(isMore ? (server.listening()?.publicUrl ?? ADDRESS) : url)
      // The browser revalidates the page every time, because a new version of incmon can change it.
      return answerAsset(c, page, { 'cache-control': 'no-cache', 'content-security-policy': POLICY })
    },
  }
}

/** Returns the server's URL without a trailing slash. @throws IncmonError `invalid` if the Host header is invalid */
function serverUrl(c: Context): string {
  const { protocol, host } = new URL(c.req.url)
  if (PLAIN_HOST.test(host)) return `${protocol}//${host}`
  throw new IncmonError(
    'invalid',
    'the Host header is not a host and port; send the host name that you use to reach incmon',
  )
}
