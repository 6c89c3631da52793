/** Reads an `alertmanager.yml` and plans the channels that do the same in incmon. */
import { isMap, LineCounter, parseDocument } from 'yaml'
import type { ChannelKind } from '../../domain/notification/format.ts'
import type { Rule } from '../../domain/notification/rule.ts'
import { recordOf, recordsOf } from './fields.ts'
import { channelsOf } from './receivers.ts'
import { routesOf } from './routes.ts'

/** A channel to create. `url` or `to` is set. */
export type PlannedChannel = {
  readonly name: string
  readonly kind: ChannelKind
  readonly url?: string
  readonly to?: string
  readonly rules: readonly Rule[]
}

/** What is not imported, and why. `line` is the line in the file. */
type Note = { readonly line: number; readonly text: string }

/** Adds a note about the value at a path of the file. */
export type AddNote = (path: Path, text: string) => void
export type Path = readonly (string | number)[]

export type Plan = { readonly channels: readonly PlannedChannel[]; readonly notes: readonly Note[] }

/** @throws SyntaxError if the text is not the configuration of an Alertmanager */
export function planImport(text: string): Plan {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const [fault] = document.errors
  if (fault) throw new SyntaxError(fault.message.split('\n')[0])
  const config = recordOf(document.toJS({ maxAliasCount: 100 }))
  if (!isMap(document.contents) || !('route' in config) || !('receivers' in config))
    throw new SyntaxError('expected the configuration of an Alertmanager, with "route" and "receivers"')
  const notes: Note[] = []
  const note: AddNote = (path, why) => {
    const node = document.getIn(path, true) as { readonly range?: readonly number[] } | undefined
    notes.push({ line: lines.linePos(node?.range?.[0] ?? 0).line, text: why })
  }
  noteTopLevel(config, note)
  const rules = routesOf(config, note)
  const channels = recordsOf(config.receivers).flatMap((receiver, index) =>
    channelsOf(receiver, recordOf(config.global), ['receivers', index], note).flatMap((channel) => {
      const own = rules.get(String(receiver.name))
      if (own) return { ...channel, rules: own }
      note(['receivers', index], `the receiver ${receiver.name} was not imported: no route leads to it`)
      return []
    }),
  )
  return { channels, notes: notes.sort((a, b) => a.line - b.line) }
}

const ELSEWHERE: Readonly<Record<string, string>> = {
  inhibit_rules: 'incmon mutes alerts that another alert explains by itself',
  templates: 'incmon writes its own messages',
  tracing: 'incmon sends no traces',
}

function noteTopLevel(config: Readonly<Record<string, unknown>>, note: AddNote): void {
  for (const [name, why] of Object.entries(ELSEWHERE)) {
    if (name in config) note([name], `${name} was not imported: ${why}`)
  }
  for (const name of Object.keys(recordOf(config.global))) {
    if (name.startsWith('smtp_'))
      note(['global', name], `${name} was not imported: set smtp-url in the configuration of incmon`)
    else if (!IMPORTED.has(name)) note(['global', name], `${name} was not imported`)
  }
}

/** The global fields that are used, or that have no effect in incmon. */
const IMPORTED = new Set(['slack_api_url', 'resolve_timeout'])
