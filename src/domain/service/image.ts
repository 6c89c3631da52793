/** Parses container images: which image was pulled, and which CI projects may have built it. */

import type { Draft } from '../event/event.ts'

/** Kubelet messages: `Pulling image "…"`, `Failed to pull image "…"`, `Container image "…" already present`. */
const IMAGE = /\bimage \\?"([^"\s\\]{1,512})\\?"/i

/** Returns the image reference in a message of the kubelet, with its registry host, or null. */
export function imageOfMessage(message: string): string | null {
  return IMAGE.exec(message)?.[1] ?? null
}

/** Image paths have only a few segments. */
const MAX_SEGMENTS = 12

/**
 * Returns the images in an event: those that a watched cluster names, else the one in the message. `path` excludes the
 * registry host, the tag and the digest. `tag`: null if absent. Grammar: github.com/distribution/reference.
 */
export function imagesOf(draft: Draft): readonly LiveImage[] {
  if (draft.source !== 'cluster') return []
  return (draft.images ?? [imageOfMessage(draft.message) ?? '']).flatMap((reference) => imageAt(reference) ?? [])
}

function imageAt(whole: string): LiveImage | null {
  const reference = whole.split('@', 1)[0]
  if (!reference) return null
  const colon = reference.lastIndexOf(':')
  const tagged = colon > reference.lastIndexOf('/')
  const path = withoutHost(tagged ? reference.slice(0, colon) : reference)
  return path === '' ? null : { path, tag: (tagged && reference.slice(colon + 1)) || null }
}

/**
 * Returns the CI projects that may have built an image, in lower case, longest first. A project path has at least two
 * segments. GitLab allows up to two more segments after the project path, so the last one or two segments of the image
 * path may not belong to the project path. A mirror may prepend its own name, so the project path can start at any
 * segment.
 */
export function imageProjects(imagePath: string): string[] {
  const segments = imagePath.toLowerCase().split('/').filter(Boolean)
  if (segments.length > MAX_SEGMENTS) return []
  const runs = new Set<string>()
  for (let end = segments.length; end >= Math.max(2, segments.length - 2); end -= 1)
    for (let start = 0; start <= end - 2; start += 1) runs.add(segments.slice(start, end).join('/'))
  return [...runs].sort((a, b) => b.split('/').length - a.split('/').length)
}

/** Returns the registry of an image reference. Without a host, it is Docker Hub. */
export function registryOf(reference: string): string {
  return hostIn(reference) ?? 'docker.io'
}

function withoutHost(path: string): string {
  const host = hostIn(path)
  return host === null ? path : path.slice(host.length + 1)
}

/** The first segment is a host if it cannot be a part of a path. */
function hostIn(reference: string): string | null {
  const first = reference.slice(0, Math.max(0, reference.indexOf('/')))
  return first === 'localhost' || first.includes('.') || first.includes(':') ? first : null
}

/** An image that a service pulled. `tag` is null if the image is untagged. */
export type LiveImage = { readonly path: string; readonly tag: string | null }
