/** The postmortem page, for reading, editing and printing. */
import type { FC } from 'hono/jsx'
import type { Postmortem } from '../../../domain/postmortem/postmortem.ts'
import { countOf } from '../../../domain/postmortem/words.ts'
import { formatDuration, formatExactClock, formatFullTime, formatWhen } from '../../../domain/shown-time.ts'
import { Lanes, LanesTable } from '../drawing/lane-picture.tsx'
import { Action } from '../kit/form.tsx'
import { Badge, Icon } from '../kit/mark.tsx'
import { Crumbs } from '../kit/section.tsx'
import { EditableText, type Numbers, Sentences } from './parts.tsx'
import { Actions, Change, Evidence, Figure, SECTIONS, Section, slug, TimelineSection } from './sections.tsx'
import type { PartName, PostmortemView } from './view.ts'

const WIDTHS = { wide: 520, narrow: 280 }

export const PostmortemPage: FC<{ view: PostmortemView }> = ({ view }) => {
  const { incident, document } = view
  const numbers: Numbers = new Map(document.evidence.records.map(({ ref }, index) => [ref, index + 1]))
  const left = unwritten(document)
  return (
    <>
      <Crumbs path={[['Incidents', '/incidents'], [incident.number, incident.href], ['Postmortem']]} />
      <Bar view={view} left={left} />
      <div class="document">
        <nav class="contents no-print" aria-label="Sections">
          {SECTIONS.map((name) => (
            <a href={`#${slug(name)}`}>
              {name}
              {left.some(({ section }) => section === name) ? <span class="quiet"> to write</span> : null}
            </a>
          ))}
        </nav>
        <article>
          <Head view={view} />
          <Body view={view} numbers={numbers} />
        </article>
      </div>
    </>
  )
}

const Bar: FC<{ view: PostmortemView; left: readonly Part[] }> = ({ view, left }) => {
  const { incident, document, reader, csrf, canWrite } = view
  const { state, revision, generatedAt } = document.header
  const address = `${incident.href}/postmortem`
  return (
    <div class="card postmortem-bar no-print">
      {state === 'draft' ? <Badge level="warning" text="Draft" /> : <Badge level="healthy" text="Final" />}
      <span class="second">
        Revision {revision}, written from the record {formatWhen(Date.parse(generatedAt), reader)}.{' '}
        {left.length === 0 ? (
          'All parts have been written.'
        ) : (
          <>
            {left.length} of 6 parts are not written yet:{' '}
            {left.map(({ name, words }, index) => (
              <>
                {index === 0 ? '' : ', '}
                <a href={`#part-${name}`}>{words}</a>
              </>
            ))}
            .
          </>
        )}{' '}
        <ActionsLeft actions={document.actions} />
      </span>
      <span class="row postmortem-actions">
        <a class="button small" href={`${address}.md`}>
          <Icon name="file" /> Markdown
        </a>
        {canWrite ? (
          <Action
            action={address}
            csrf={csrf}
            fields={{ state: state === 'draft' ? 'final' : 'draft' }}
            look={state === 'draft' ? 'small primary' : 'small'}
          >
            {state === 'draft' ? 'Mark as final' : 'Make it a draft again'}
          </Action>
        ) : null}
      </span>
    </div>
  )
}

type Part = {
  readonly name: PartName
  /** The heading of the section, or the name of the part if its section has several. */
  readonly words: string
  readonly section: (typeof SECTIONS)[number]
  readonly text: string | null
}

/** Returns the sections that nobody has written yet, in page order. */
function unwritten({ summary, impact, rootCause, lessons }: Postmortem): readonly Part[] {
  const parts: readonly Part[] = [
    { name: 'summary', words: 'Summary', section: 'Summary', text: summary.addition },
    { name: 'customers', words: 'Impact', section: 'Impact', text: impact.customers },
    { name: 'rootCause', words: 'Root cause', section: 'Root cause', text: rootCause.text },
    { name: 'wentWell', words: 'What went well', section: 'Lessons', text: lessons.wentWell },
    { name: 'wentBadly', words: 'What went badly', section: 'Lessons', text: lessons.wentBadly },
    { name: 'lucky', words: 'Where we were lucky', section: 'Lessons', text: lessons.lucky },
  ]
  return parts.filter(({ text }) => text === null)
}

/** Renders `1 action item is not done; nobody owns it.` as a link to the list, or nothing if all are done. */
const ActionsLeft: FC<{ actions: Postmortem['actions'] }> = ({ actions }) => {
  const left = actions.filter(({ state }) => state === 'proposed' || state === 'open')
  const orphans = left.filter(({ owner }) => owner === null).length
  if (left.length === 0) return null
  return (
    <>
      <a href={`#${slug('Action items')}`}>{countOf(left.length, 'action item')}</a> {left.length === 1 ? 'is' : 'are'}{' '}
      not done
      {orphans === 0 ? '' : `; nobody owns ${orphans < left.length ? orphans : left.length === 1 ? 'it' : 'them'}`}.
    </>
  )
}

const Head: FC<{ view: PostmortemView }> = ({ view: { document, reader } }) => {
  const { title, severity, services } = document.header
  const { from, to, seconds } = document.impact
  return (
    <header>
      <h1 class="document-title">{title}</h1>
      <p class="facts">
        <Badge level={severity} text={severity} />
        <span class="break">{services.join(', ')}</span>
        <span>
          {formatFullTime(Date.parse(from), reader.zone)}
          {to === null ? '' : ` to ${formatExactClock(Date.parse(to), reader.zone)}`}
          {seconds === null ? '' : ` (${formatDuration(seconds * 1000)})`}
        </span>
      </p>
    </header>
  )
}

const Body: FC<{ view: PostmortemView; numbers: Numbers }> = ({ view, numbers }) => {
  const { document } = view
  const { summary, impact, detection, contributing, rootCause, resolution, metrics, lessons, recurrence } = document
  const parts = { view, numbers }
  return (
    <>
      <Section name="Summary">
        <Sentences sentences={summary.sentences} numbers={numbers} />
        <EditableText
          name="summary"
          label="Addition"
          question="What should everybody know?"
          text={summary.addition}
          view={view}
        />
        <div class="card picture document-picture">
          <Lanes picture={view.picture} widths={WIDTHS} />
          <LanesTable picture={view.picture} />
        </div>
      </Section>
      <Section name="Impact">
        <Sentences sentences={impact.sentences} numbers={numbers} />
        <EditableText
          name="customers"
          label="Customers"
          question="What did customers notice? incmon has no data on this."
          text={impact.customers}
          view={view}
        />
      </Section>
      <Section name="Detection">
        <Sentences sentences={detection.sentences} numbers={numbers} />
      </Section>
      <TimelineSection {...parts} />
      <Section name="Contributing factors">
        {contributing.changes.map((change) => (
          <Change change={change} numbers={numbers} />
        ))}
        <Sentences sentences={contributing.sentences} numbers={numbers} />
      </Section>
      <Section name="Root cause">
        <EditableText
          name="rootCause"
          label="Root cause"
          question="Why did it happen?"
          text={rootCause.text}
          view={view}
        />
        {rootCause.hints.length === 0 ? null : <Sentences sentences={rootCause.hints} numbers={numbers} />}
      </Section>
      <Section name="Recovery">
        <Sentences sentences={resolution.sentences} numbers={numbers} />
      </Section>
      <Section name="Figures">
        <div class="card figures">
          <Figure name="Time to detect (TTD)" metric={metrics.ttd} />
          <Figure name="Time to acknowledge (TTA)" metric={metrics.tta} />
          <Figure name="Time to resolve (TTR)" metric={metrics.ttr} />
        </div>
      </Section>
      <Section name="Lessons">
        <EditableText
          name="wentWell"
          label="What went well"
          question="What went well?"
          text={lessons.wentWell}
          view={view}
        />
        <EditableText
          name="wentBadly"
          label="What went badly"
          question="What went badly?"
          text={lessons.wentBadly}
          view={view}
        />
        <EditableText
          name="lucky"
          label="Where we were lucky"
          question="Where were we lucky?"
          text={lessons.lucky}
          view={view}
        />
      </Section>
      <Actions {...parts} />
      <Section name="Recurrence">
        <Sentences sentences={recurrence.sentences} numbers={numbers} />
      </Section>
      <Evidence {...parts} />
    </>
  )
}
