/** The names of sources. Each source has two names: the program's name and the webhook's name. */
import { SOURCES, type Source } from '../domain/event/event.ts'
import { suggestion } from '../domain/suggestion.ts'
import { UsageError } from './failure.ts'

const SENDERS: ReadonlyMap<string, Source> = new Map([
  ['kubernetes', 'cluster'],
  ['alertmanager', 'metrics'],
  ['prometheus', 'metrics'],
  ['grafana', 'dashboard'],
  ['gitlab', 'ci'],
])

/** All accepted names, program names first. */
export const SOURCE_NAMES: readonly string[] = [...SENDERS.keys(), ...SOURCES]

/** Parses the name of a sender or webhook, such as `alertmanager` or `metrics`. @throws UsageError */
export function parseSource(text: string): Source {
  const name = text.trim().toLowerCase()
  const source = SOURCES.find((one) => one === name) ?? SENDERS.get(name)
  if (source !== undefined) return source
  throw new UsageError(`unknown sender ${text}: ${suggestion(name, SOURCE_NAMES)}`)
}
