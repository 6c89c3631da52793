/** /docs: the API reference as a web page, generated from the OpenAPI document. */
import type { Context } from 'hono'
import { IncmonError } from '../../domain/error.ts'
import { once } from '../../domain/memoize.ts'
import { docsPage } from '../../web/docs/docs.tsx'
import type { OpenApiDocument } from '../../web/docs/openapi-document.ts'
import { STYLE } from '../../web/docs/style.ts'
import { headerOf } from '../middleware/header.ts'
import { MEANINGS } from '../middleware/problem.ts'
import { text } from '../middleware/reply.ts'
import type { Route } from '../route.ts'

/** A placeholder for the server's URL in the cached page. The rest of the page is the same for everyone. */
const ADDRESS = 'https://incmon.invalid'
/** Matches a host that is safe in HTML and in a double-quoted shell string. */
const PLAIN_HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i

export function docsRoute(document: () => OpenApiDocument): Route {
  const parts = once(async () => {
    const page = docsPage({ document: document(), url: ADDRESS, meanings: MEANINGS })
    // Allows only the page's inline style.
    const sources = `style-src 'sha256-${await digest(STYLE)}'`
    const policy = `default-src 'none'; ${sources}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
    return { page, policy }
  })
  return {
    method: 'GET',
    path: '/docs',
    summary: 'Show this API reference',
    answers: {
      200: { description: 'The page', body: null, text: 'text/html' },
      304: { description: 'The page is unchanged: it still has the ETag in If-None-Match', body: null },
      400: { description: MEANINGS[400], body: 'problem' },
    },
    handle: async (c) => {
      const url = serverUrl(c)
      const { page, policy } = await parts()
      // The browser revalidates the page every time, because a new version of incmon can change it.
      const own = page.replaceAll(ADDRESS, url)
      const keeping = { 'cache-control': 'no-cache', etag: `"${await digest(own)}"` }
      if (isKnown(keeping.etag, headerOf(c, 'if-none-match'))) return { status: 304, headers: keeping, body: null }
      return text(own, 'text/html; charset=UTF-8', { ...keeping, 'content-security-policy': policy })
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

async function digest(text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return Buffer.from(hash).toString('base64')
}

/** Returns whether the client already has this version of the page (RFC 9110, section 13.1.2). */
function isKnown(tag: string, ifNoneMatch = ''): boolean {
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((one) => one.trim().replace('W/', '') === tag)
}
