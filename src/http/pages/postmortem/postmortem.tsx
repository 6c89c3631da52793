/** The postmortem: what happened, why, what it cost, and what people make of it. It can be read, edited and printed. */
import type { FC } from 'hono/jsx'
import type { Contribution, Metric } from '../../../domain/postmortem/document.ts'
import { exactClockTime, exactSpan, shownMoment, shownSpan, wholeTime } from '../../../domain/shown-time.ts'
import { Lanes, LanesTable } from '../drawing/lane-picture.tsx'
import { Action } from '../kit/action.tsx'
import { Badge, Icon } from '../kit/mark.tsx'
import { safeUrl } from '../kit/safe-url.ts'
import { Cited, type Numbers, Sentences, Written } from './parts.tsx'
import type { PostmortemView } from './view.ts'

const WIDTHS = { wide: 520, narrow: 280 }
const SECTIONS = [
  ...['Summary', 'Impact', 'Detection', 'Timeline', 'Contributing changes', 'Root cause', 'Recovery'],
  ...['Figures', 'Lessons', 'Actions', 'Recurrence', 'Evidence'],
] as const
/** Rows of a timeline that is longer are left to the Markdown. */
const MOST_ROWS = 200

export const PostmortemPage: FC<{ view: PostmortemView }> = ({ view }) => {
  const { incident, document } = view
  const numbers: Numbers = new Map(document.evidence.records.map(({ ref }, index) => [ref, index + 1]))
  return (
    <>
      <ul class="crumbs no-print">
        <li>
          <a href="/incidents">Incidents</a>
        </li>
        <li>
          <a href={incident.href}>{incident.number}</a>
        </li>
        <li>Postmortem</li>
      </ul>
      <Bar view={view} />
      <div class="document">
        <nav class="contents no-print" aria-label="Sections">
          {SECTIONS.map((name) => (
            <a href={`#${slug(name)}`}>{name}</a>
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

const Bar: FC<{ view: PostmortemView }> = ({ view: { incident, document, reader, csrf, canWrite } }) => {
  const { state, revision, generatedAt } = document.header
  const address = `${incident.href}/postmortem`
  const empty = [document.summary.addition, document.impact.customers, document.rootCause.text]
    .concat(Object.values(document.lessons))
    .filter((text) => text === null).length
  return (
    <div class="card postmortem-bar no-print">
      {state === 'draft' ? <Badge level="warning" text="Draft" /> : <Badge level="healthy" text="Final" />}
      <span class="second">
        Revision {revision}, written from the record on {shownMoment(Date.parse(generatedAt), reader)}.{' '}
        {empty === 0 ? 'Every part for people is written.' : `${empty} of 6 parts for people are empty.`}
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
          {wholeTime(Date.parse(from), reader.zone)}
          {to === null ? '' : ` to ${exactClockTime(Date.parse(to), reader.zone)}`}
          {seconds === null ? '' : ` (${shownSpan(seconds * 1000)})`}
        </span>
      </p>
    </header>
  )
}

const Section: FC<{ name: (typeof SECTIONS)[number]; children?: unknown }> = ({ name, children }) => (
  <section aria-labelledby={slug(name)} class="document-section">
    <h2 id={slug(name)}>{name}</h2>
    {children}
  </section>
)

function slug(name: string): string {
  return name.toLowerCase().replace(' ', '-')
}

const Body: FC<{ view: PostmortemView; numbers: Numbers }> = ({ view, numbers }) => {
  const { document } = view
  const { summary, impact, detection, contributing, rootCause, resolution, metrics, lessons, recurrence } = document
  const parts = { view, numbers }
  return (
    <>
      <Section name="Summary">
        <Sentences sentences={summary.sentences} numbers={numbers} />
        <Written
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
        <Written
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
      <Section name="Contributing changes">
        {contributing.changes.map((change) => (
          <Change change={change} numbers={numbers} />
        ))}
        <Sentences sentences={contributing.sentences} numbers={numbers} />
      </Section>
      <Section name="Root cause">
        <Written name="rootCause" label="Root cause" question="Why did it happen?" text={rootCause.text} view={view} />
        {rootCause.hints.length === 0 ? null : <Sentences sentences={rootCause.hints} numbers={numbers} />}
      </Section>
      <Section name="Recovery">
        <Sentences sentences={resolution.sentences} numbers={numbers} />
      </Section>
      <Section name="Figures">
        <div class="card figures">
          <Figure name="Time to detect" metric={metrics.mttd} />
          <Figure name="Time to acknowledge" metric={metrics.mtta} />
          <Figure name="Time to recover" metric={metrics.mttr} />
        </div>
      </Section>
      <Section name="Lessons">
        <Written
          name="wentWell"
          label="What went well"
          question="What went well?"
          text={lessons.wentWell}
          view={view}
        />
        <Written
          name="wentBadly"
          label="What went badly"
          question="What went badly?"
          text={lessons.wentBadly}
          view={view}
        />
        <Written
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

const TimelineSection: FC<{ view: PostmortemView; numbers: Numbers }> = ({ view: { document, reader }, numbers }) => (
  <Section name="Timeline">
    <table class="document-timeline">
      <tbody>
        {document.timeline.slice(0, MOST_ROWS).map(({ at, until, text, actor, count, ref }) => (
          <tr>
            <td class="nowrap quiet">{exactClockTime(Date.parse(at), reader.zone)}</td>
            <td class="break">
              {text}
              {count > 1 ? ` ×${count}` : ''}
              {Date.parse(until) - Date.parse(at) < 1000
                ? ''
                : `, until ${exactClockTime(Date.parse(until), reader.zone)}`}
              {actor === null ? null : <bdi class="actor"> by {actor}</bdi>}
            </td>
            <td class="shrink">
              <Cited refs={[ref]} numbers={numbers} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </Section>
)

const Change: FC<{ change: Contribution; numbers: Numbers }> = ({ change, numbers }) => (
  <div class="document-change">
    <Sentences sentences={[change.sentence]} numbers={numbers} />
    <ul class="cause-reasons">
      {change.reasons.map(({ text }) => (
        <li>
          <Icon name="check" />
          <span class="break">{text}</span>
        </li>
      ))}
    </ul>
  </div>
)

const Figure: FC<{ name: string; metric: Metric }> = ({ name, metric }) => (
  <div>
    <p class="second">{name}</p>
    <p class="figure">{metric.seconds === null ? 'not known' : exactSpan(metric.seconds * 1000)}</p>
    <p class="second break">{metric.definition.replace(/^time to [a-z]+: /i, '')}</p>
  </div>
)

const Actions: FC<{ view: PostmortemView; numbers: Numbers }> = ({ view: { document }, numbers }) => (
  <Section name="Actions">
    {document.actions.length === 0 ? (
      <p class="quiet">No action items were suggested.</p>
    ) : (
      <table class="cards">
        <thead>
          <tr>
            {['What', 'Owner', 'Due', 'State'].map((name) => (
              <th scope="col">{name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {document.actions.map(({ text, because, owner, due, state }) => (
            <tr>
              <td class="break">
                {text} {because ? <span class="quiet">{because.text}</span> : null}
                {because ? <Cited refs={because.refs} numbers={numbers} /> : null}
              </td>
              <td data-label="Owner">{owner ?? 'nobody'}</td>
              <td data-label="Due" class="nowrap">
                {due ?? '–'}
              </td>
              <td data-label="State">
                <span class="chip">{state}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </Section>
)

const Evidence: FC<{ view: PostmortemView; numbers: Numbers }> = ({ view: { document }, numbers }) => (
  <Section name="Evidence">
    <ol class="evidence">
      {document.evidence.records.map(({ ref, text, links }) => (
        <li id={`e${numbers.get(ref)}`}>
          <span class="quiet">E{numbers.get(ref)}</span>
          <span class="break">
            {text ?? ref} <Record reference={ref} />
            {Object.entries(links).map(([name, address]) => {
              const url = safeUrl(address)
              return url === null ? null : (
                <>
                  {' '}
                  <a href={url} rel="noreferrer">
                    {name}
                  </a>
                </>
              )
            })}
          </span>
        </li>
      ))}
    </ol>
    <Sentences sentences={document.evidence.sentences} numbers={numbers} />
  </Section>
)

/** The page of a record, if it has one. */
const Record: FC<{ reference: string }> = ({ reference }) => {
  const [noun = '', id = ''] = reference.split('/')
  if (noun !== 'alert' && noun !== 'incident') return null
  return <a href={`/${noun}s/${encodeURIComponent(id)}`}>{noun}</a>
}
