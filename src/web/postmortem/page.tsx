/** The postmortem page, for reading, editing and printing. */
import type { FC } from 'hono/jsx'
import { DECAY } from '../../domain/health/health.ts'
import type { Postmortem } from '../../domain/postmortem/document.ts'
import { formatDuration, formatFullTime, formatWhen } from '../../domain/shown-time.ts'
import { countOf } from '../../domain/text.ts'
import { GraphSection } from '../drawing/graph-section.tsx'
import { Lanes, LanesTable } from '../drawing/lane-picture.tsx'
import { Action } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Badge, Icon } from '../kit/mark.tsx'
import { Crumbs } from '../kit/section.tsx'
import { EditableText, type Numbers, PARTS, type PartName, type PostmortemView, Sentences, textsOf } from './parts.tsx'
import {
  Actions,
  Change,
  Evidence,
  endTime,
  Figure,
  KeyFacts,
  SECTIONS,
  Section,
  slug,
  TimelineSection,
} from './sections.tsx'

const WIDTHS = { wide: 520, narrow: 240 }

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

const Bar: FC<{ view: PostmortemView; left: ReturnType<typeof unwritten> }> = ({ view, left }) => {
  const reader = getFrame()
  const { state, revision, generatedAt } = view.document.header
  const address = `${view.incident.href}/postmortem`
  return (
    <div class="card row postmortem-bar no-print">
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
        <ActionsLeft actions={view.document.actions} />
      </span>
      <span class="row end">
        <a class="button small" href={`${address}.md`}>
          <Icon name="file" /> Markdown
        </a>
        {reader.canWrite ? (
          <Action
            action={address}
            fields={{ state: state === 'draft' ? 'final' : 'draft' }}
            look={state === 'draft' && left.length === 0 ? 'small primary' : 'small'}
          >
            {state === 'draft' ? 'Mark as final' : 'Make it a draft again'}
          </Action>
        ) : null}
      </span>
    </div>
  )
}

/**
 * Returns the parts that nobody has written yet, in page order. `words`: the name of the section. For a part of the
 * lessons, `words` is the name of the part.
 */
function unwritten(document: Postmortem) {
  const texts = textsOf(document)
  const left = (Object.keys(PARTS) as PartName[]).filter((name) => texts[name] === null)
  return left.map((name) => {
    const [section, label] = PARTS[name]
    return { name, section, words: section === 'Lessons' ? label : section }
  })
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

const Head: FC<{ view: PostmortemView }> = ({ view: { document, incident } }) => {
  const reader = getFrame()
  const { title, severity, services } = document.header
  const { from, to } = document.impact
  const end = to === null ? incident.resolvedAt : Date.parse(to)
  return (
    <header>
      <h1 class="document-title">{title}</h1>
      <p class="facts">
        <Badge level={severity} text={severity} />
        <span class="break">{services.join(', ')}</span>
        <span>
          {formatFullTime(Date.parse(from), reader.zone)}
          {end === null ? '' : `${to === null ? '; resolved at' : ' to'} ${endTime(Date.parse(from), end, reader)}`}
        </span>
      </p>
    </header>
  )
}

/** Explains why the score is still low at the end of the picture even though the problem is over. */
const ScoreNote: FC<{ view: PostmortemView }> = ({ view: { document, picture } }) => {
  const last = picture.score?.findLast(({ at }) => at <= picture.span.to)?.score ?? 100
  return last === 100 || document.impact.to === null ? null : (
    <p class="second">The penalty of an alert fades over {formatDuration(DECAY)} after the alert has ended.</p>
  )
}

const Body: FC<{ view: PostmortemView; numbers: Numbers }> = ({ view, numbers }) => {
  const { document } = view
  const { summary, impact, detection, contributing, rootCause, resolution, metrics, recurrence } = document
  const parts = { view, numbers }
  return (
    <>
      <Section name="Summary">
        <Sentences sentences={summary.sentences.slice(0, 1)} numbers={numbers} />
        <KeyFacts facts={summary.facts ?? []} numbers={numbers} />
        {view.picture.bars.length === 0 ? null : (
          <div class="card picture document-picture">
            <Lanes picture={view.picture} scores widths={WIDTHS} />
            <ScoreNote view={view} />
            <LanesTable picture={view.picture} />
          </div>
        )}
        <GraphSection found={view.graph} startsAt={view.incident.startedAt} />
        <Sentences sentences={summary.sentences.slice(1)} numbers={numbers} />
        <EditableText name="summary" view={view} />
      </Section>
      <Section name="Impact">
        <Sentences sentences={impact.sentences} numbers={numbers} />
        <EditableText name="customers" view={view} />
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
        <EditableText name="rootCause" view={view} />
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
        <EditableText name="wentWell" view={view} />
        <EditableText name="wentBadly" view={view} />
        <EditableText name="lucky" view={view} />
      </Section>
      <Actions {...parts} />
      <Section name="Recurrence">
        <Sentences sentences={recurrence.sentences} numbers={numbers} />
      </Section>
      <Evidence {...parts} />
    </>
  )
}

type NoneProps = {
  readonly incident: { readonly number: string; readonly href: string; readonly resolved: boolean }
  /** Whether the organization's plan includes postmortems. */
  readonly hasPlan: boolean
}

/** The title of the page that explains why there is no postmortem, and what to do. */
export const NO_POSTMORTEM = 'There is no postmortem'

export const NoPostmortemPage: FC<NoneProps> = ({ incident, hasPlan }) => (
  <>
    <Crumbs path={[['Incidents', '/incidents'], [incident.number, incident.href], ['Postmortem']]} />
    <div class="title">
      <h1>{NO_POSTMORTEM}.</h1>
    </div>
    <div class="card body">
      <p>
        {hasPlan
          ? whyNone(incident)
          : 'The plan of this organization does not include postmortems. The Team and Pro plans do.'}
      </p>
      <p class="row">
        <a class="button primary" href={incident.href}>
          {incident.resolved || !hasPlan ? `Open incident ${incident.number}` : `Resolve incident ${incident.number}…`}
        </a>
      </p>
    </div>
  </>
)

function whyNone({ resolved }: NoneProps['incident']): string {
  return resolved
    ? 'No postmortem was created when this incident was resolved. Reopen the incident and resolve it again to create one.'
    : 'The postmortem is created when the incident is resolved. When the problem is over, choose “Resolve…” on the incident page.'
}
