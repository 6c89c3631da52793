/** Shows an incident's timeline and the form for a note. */
import type { FC } from 'hono/jsx'
import { rowDetails } from '../../domain/incident/timeline-rows.ts'
import { formatMoment, type Reader } from '../../domain/shown-time.ts'
import { capitalized } from '../../domain/text.ts'
import { control, Form, Submit } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Icon, safeUrl, Words } from '../kit/mark.tsx'
import { Section } from '../kit/section.tsx'
import type { IconName } from '../kit/symbols.ts'
import { Time } from '../kit/time.tsx'
import { type IncidentView, type TimelineView, typedInto } from './view.ts'

const ICONS: Readonly<Record<string, IconName>> = {
  ...{ pipeline: 'branch', rollout: 'layers', change: 'layers', alert: 'pulse', ended: 'check' },
  ...{ event: 'box', message: 'bell', note: 'message', status: 'person', opened: 'incident', reopened: 'incident' },
}

type Props = Pick<IncidentView, 'timeline' | 'newestFirst' | 'turnHref' | 'incident' | 'typed'>

export const Timeline: FC<Props> = ({ timeline, newestFirst, turnHref, incident, typed }) => {
  const { canWrite } = getFrame()
  const { values, faults } = typedInto('note', typed)
  const order = newestFirst ? [...timeline].reverse() : timeline
  return (
    <Section
      id="timeline"
      title="Timeline"
      second={`${newestFirst ? 'newest first' : 'oldest first'}${timeline.some(({ actor }) => actor !== null) ? '' : incident.resolvedAt === null ? '; nobody has acted yet' : '; nobody acted'}`}
      end={[turnHref, newestFirst ? 'Oldest first' : 'Newest first']}
    >
      <div class="card timeline">
        {canWrite ? (
          <Form action={`${incident.href}/notes`} class="note-form" faults={faults}>
            <input
              type="text"
              {...control('note', faults, false)}
              name="text"
              value={values.text}
              class="grow"
              aria-label="Note"
              placeholder="What did you see or do?"
              maxlength={10_000}
              required
            />
            <Submit>Add note</Submit>
          </Form>
        ) : null}
        {order.length === 0 ? (
          <p class="empty">Nothing is recorded yet.</p>
        ) : (
          <ol class="entries">
            {order.map((entry) => (
              <Entry entry={entry} />
            ))}
          </ol>
        )}
      </div>
    </Section>
  )
}

const Entry: FC<{ entry: TimelineView }> = ({ entry }) => {
  const reader = getFrame()
  const { at, kind, actor, href } = entry
  const details = rowDetails(entry, (at) => formatMoment(at, reader))
  const change = kind === 'pipeline' || kind === 'rollout' || kind === 'change'
  return (
    <li class={`entry entry-${kind === 'note' ? 'note' : change ? 'change' : 'plain'}`}>
      <Time at={at} style="moment" />
      <span class={change ? 'entry-icon change' : 'entry-icon'}>
        <Icon name={ICONS[kind] ?? 'clock'} />
      </span>
      <p class="break">
        {kind === 'note' ? (
          <Linked text={entry.text} />
        ) : href === null ? (
          <Words text={withTimes(entryText(entry), reader)} />
        ) : (
          <a class="ink" href={href}>
            <Words text={withTimes(entryText(entry), reader)} />
          </a>
        )}
        {details === '' ? null : <span class="quiet">{details}</span>}
        {actor === null ? null : (
          <span class="actor">
            {' · by '}
            <bdi>{actor}</bdi>
          </span>
        )}
      </p>
    </li>
  )
}

/** Writes the times in the text of incmon as the rest of the page does. */
export function withTimes(text: string, reader: Reader): string {
  return text.replace(/(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC/g, (_, day, time) =>
    formatMoment(Date.parse(`${day}T${time}Z`), reader),
  )
}

/** A note in which each URL is a link. */
const Linked: FC<{ text: string }> = ({ text }) => (
  <>
    {text.split(/(https?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]}])/).map((part, index) => {
      const url = index % 2 === 1 ? safeUrl(part) : null
      return url === null ? (
        part
      ) : (
        <a href={url} rel="noreferrer noopener">
          {part}
        </a>
      )
    })}
  </>
)

/** The kinds whose text starts with a word of incmon. The text of other kinds starts with a name or is a note. */
const OURS = new Set([
  'pipeline',
  'rollout',
  'opened',
  'status',
  'reopened',
  'edited',
  'merged',
  'silence',
  'message',
  'not-told',
  'gap',
])

/** Returns the text of an entry. Only a word of incmon gets a capital first letter. */
export function entryText({ kind, text }: Pick<TimelineView, 'kind' | 'text'>): string {
  return OURS.has(kind) ? capitalized(text) : text
}
