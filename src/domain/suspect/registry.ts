/** Finds failed pulls that are caused by the registry: several services cannot reach the same one. */
import { imageOfMessage, registryOf } from '../service/image.ts'
import type { SymptomEvent } from './symptom.ts'

/** Errors of the network or of the registry itself. A missing tag or wrong credentials are the service's own fault. */
const UNREACHABLE =
  /dial tcp|i\/o timeout|no such host|connection (?:refused|reset)|TLS handshake|\bEOF\b|deadline exceeded|Client\.Timeout|server misbehaving|network is unreachable|x509|toomanyrequests|too many requests|\b(?:429|50[0-4])\b/i
/** From this many services on, the registry is the suspect. */
const LEAST = 3
const FAILURE = { code: 'failure', value: 0.9, text: 'the registry cannot be reached' } as const

/** Replaces the failed pulls from a registry that several services cannot reach with one symptom of the registry. */
export function ofRegistries(sightings: readonly SymptomEvent[]): SymptomEvent[] {
  const failed = sightings.filter(({ condition, text }) => condition === 'ImagePullBackOff' && UNREACHABLE.test(text))
  const byHost = Map.groupBy(failed, ({ text }) => {
    const image = imageOfMessage(text)
    return image === null ? null : registryOf(image)
  })
  return [...byHost].reduce<SymptomEvent[]>(
    (before, [host, own]) => {
      const components = new Set(own.map(({ component }) => component))
      if (host === null || components.size < LEAST) return before
      const isPull = ({ condition, component }: SymptomEvent) =>
        condition === 'ImagePullBackOff' && components.has(component)
      return [...before.filter((one) => !isPull(one)), combined(host, before.filter(isPull), own)]
    },
    [...sightings],
  )
}

function combined(host: string, pulls: readonly SymptomEvent[], failed: readonly SymptomEvent[]): SymptomEvent {
  const inOrder = failed.toSorted((a, b) => a.startsAt - b.startsAt || (a.component < b.component ? -1 : 1))
  const [first = inOrder[0]] = inOrder
  if (!first) throw new Error('a registry needs a failed pull')
  const all = pulls.length > 0 ? pulls : failed
  return {
    ...first,
    component: `registry/${host}`,
    condition: 'registry',
    gist: `registry ${host}`,
    witnesses: [...new Set(inOrder.map(({ component }) => component))].sort(),
    lastAt: Math.max(...all.map(({ lastAt }) => lastAt)),
    spans: all.flatMap(({ spans }) => spans),
    factors: [FAILURE, ...first.factors.slice(1, 2)],
    node: null,
    isFiring: all.some(({ isFiring }) => isFiring),
    evidence: inOrder.flatMap(({ evidence }) => evidence),
    seen: all.reduce((sum, { seen }) => sum + seen, 0),
    seenBefore: all.reduce((sum, { seenBefore }) => sum + seenBefore, 0),
  }
}
