/** Container images: what an event says was pulled, and which CI projects may have built it. */

import type { Draft } from '../event/event.ts'

/** As the kubelet writes it: `Pulling image "…"`, `Failed to pull image "…"`, `Container image "…" already present`. */
const IMAGE = /\bimage \\?"([^"\s\\]{1,512})\\?"/i

/** A registry path has at most a handful of segments; more are no image. */
const MOST_SEGMENTS = 12

/**
 * The image an event speaks of: `path` without registry host, tag or digest, `tag` null where none is written.
 * Null for other sources and messages. Reference grammar: github.com/distribution/reference.
 */
export function imageOf(draft: Draft): { path: string; tag: string | null } | null {
  if (draft.source !== 'cluster') return null
  const reference = IMAGE.exec(draft.message)?.[1]?.split('@', 1)[0]
  if (!reference) return null
  const colon = reference.lastIndexOf(':')
  const tagged = colon > reference.lastIndexOf('/')
  const path = withoutHost(tagged ? reference.slice(0, colon) : reference)
  return path === '' ? null : { path, tag: (tagged && reference.slice(colon + 1)) || null }
}

/**
 * The CI projects under which an image path is indexed, lower case, longest first: all runs of two or more segments that
 * end with the path or up to two segments before it, since GitLab allows an image name of two segments behind the
 * project's path, and a mirror may put its own name in front.
 */
export function imageProjects(imagePath: string): string[] {
  const segments = imagePath.toLowerCase().split('/').filter(Boolean)
  if (segments.length > MOST_SEGMENTS) return []
  const runs = new Set<string>()
  for (let end = segments.length; end >= Math.max(2, segments.length - 2); end -= 1)
    for (let start = 0; start <= end - 2; start += 1) runs.add(segments.slice(start, end).join('/'))
  return [...runs].sort((a, b) => b.split('/').length - a.split('/').length)
}

function withoutHost(path: string): string {
  const slash = path.indexOf('/')
  const first = path.slice(0, Math.max(0, slash))
  return first === 'localhost' || first.includes('.') || first.includes(':') ? path.slice(slash + 1) : path
}
