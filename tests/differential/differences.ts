/** Where incmon differs from Alertmanager 0.25 on purpose, and why. */

import type { Call } from './call.ts'
import type { Answered } from './compare.ts'

type Difference = {
  readonly why: string
  readonly explains: (theirs: Answered, ours: Answered, call: Call) => boolean
}

export const DIFFERENCES: readonly Difference[] = [
  {
    why: 'The body cannot be read. Only the reason is in other words: Go’s there, and for a person here',
    explains: (theirs, ours) =>
      theirs.status === 400 && ours.status === 400 && isCoded(theirs) && prefixOf(theirs) === prefixOf(ours),
  },
  {
    why: 'A regular expression is invalid. Only the reason is in other words',
    explains: (theirs, ours) =>
      theirs.status === 400 && ours.status === 400 && has(theirs, /error parsing regexp/) && has(ours, /RE2/),
  },
  {
    why: 'One alert of the request has a wrong type. Alertmanager rejects the whole request, incmon only this alert',
    explains: (theirs, ours, { path }) =>
      path === '/alerts' && isCoded(theirs) && ours.status === 400 && has(ours, /expected (object|a string)/),
  },
  {
    why: 'Alertmanager 0.25 panics and closes the connection',
    explains: (theirs, ours) => theirs.status === 0 && ours.status === 400,
  },
  {
    why: 'Alertmanager ignores everything after the first JSON value of a body',
    explains: (theirs, ours, { body }) => theirs.status === 200 && isCoded(ours) && body === '[]x',
  },
  {
    why: 'Names in UTF-8 are allowed since 0.28, in labels, annotations, matchers and filters',
    explains: (theirs, ours) =>
      theirs.status === 400 && ours.status === 200 && has(theirs, /invalid (label )?name|bad matcher format/),
  },
  {
    why: 'An alert with an invalid time or URL is stored without it: the alert matters more',
    explains: (theirs, ours, { path }) =>
      path === '/alerts' && ours.status === 200 && has(theirs, /parsing time|At of type string|generatorURL/),
  },
  {
    why: 'An empty time is not a time. Alertmanager reads it as the year 1970',
    explains: (_, ours, { body = '' }) => /"(starts|ends)At":""/.test(body) && isCoded(ours),
  },
  {
    why: 'To delete an unknown silence is 404, as in 0.34',
    explains: (theirs, ours, { method }) => method === 'DELETE' && theirs.status === 500 && ours.status === 404,
  },
  {
    why: 'Receivers have labels since 0.34',
    explains: (_, ours, { path }) => path === '/receivers' && has(ours, /^\[\{"labels":\{\},"name":"incmon"\}\]$/),
  },
  {
    why: 'The methods of a path are in another order. Alertmanager’s order is random',
    explains: (theirs, ours) => theirs.status === 405 && lettersOf(theirs) === lettersOf(ours),
  },
  {
    why: 'A slash at the end of a path is ignored',
    explains: (theirs, ours, { path }) => path === '/silence/' && theirs.status === 404 && ours.status === 404,
  },
  {
    why: 'Control characters are replaced, and only links with http or https are kept',
    explains: (theirs, ours, { path }) =>
      path.endsWith('filter=alertname%3DNul') && has(theirs, /\\u0000.*|ftp:/) && has(ours, /\ufffd/),
  },
  {
    why: 'A silence always has a comment and an author: the name of the token',
    explains: (theirs, ours) => has(theirs, /"comment":""/) && has(ours, /"comment":"\(no comment\)"/),
  },
]

function isCoded({ body }: Answered): boolean {
  return typeof body === 'object' && body !== null && 'code' in body && 'message' in body
}

function prefixOf({ body }: Answered): string {
  return /^\{"code":400,"message":"parsing \w+ body from \\"\\" failed, because /.exec(JSON.stringify(body))?.[0] ?? ''
}

function lettersOf({ body }: Answered): string {
  return [...JSON.stringify(body)].sort().join('')
}

function has({ body }: Answered, pattern: RegExp): boolean {
  return pattern.test(JSON.stringify(body))
}
