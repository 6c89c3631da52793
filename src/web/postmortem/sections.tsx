/** The sections of a postmortem that contain lists or tables: timeline, changes, metrics, actions, evidence. */
import type { FC } from 'hono/jsx'
import { actorOf, detailsText } from '../../domain/incident/timeline-rows.ts'
import type { Contribution, KeyFact, Metric } from '../../domain/postmortem/document.ts'
import { formatDate, formatExactClock, formatFullTime, type Reader } from '../../domain/shown-time.ts'
import { formatSeconds } from '../../domain/text.ts'
import { entryText } from '../incident/timeline.tsx'
import { getFrame } from '../kit/frame.ts'
import { Icon, safeUrl, Words } from '../kit/mark.tsx'
import { Table } from '../kit/section.tsx'
import { EvidenceLinks, type Numbers, type PostmortemView, Sentences } from './parts.tsx'

/** The names of the sections, in order. */
export const SECTIONS = [
  ...['Summary', 'Impact', 'Detection', 'Timeline', 'Contributing factors', 'Root cause', 'Recovery'],
  ...['Figures', 'Lessons', 'Action items', 'Recurrence', 'Evidence'],
] as const
/** The maximum number of timeline rows on the page. The Markdown export contains all rows. */
const MAX_ROWS = 200

export const Section: FC<{ name: (typeof SECTIONS)[number]; children?: unknown }> = ({ name, children }) => (
  <section aria-labelledby={slug(name)} class="document-section">
    <h2 id={slug(name)}>{name}</h2>
    {children}
  </section>
)

/** Returns the URL fragment of a section, for example `root-cause`. */
export function slug(name: string): string {
  return name.toLowerCase().replace(' ', '-')
}

export const TimelineSection: FC<{ view: PostmortemView; numbers: Numbers }> = ({ view: { document }, numbers }) => (
  <Section name="Timeline">
    <table class="document-timeline">
      <tbody>
        {document.timeline.slice(0, MAX_ROWS).map((row, index, all) => (
          <tr>
            <td class="nowrap quiet">{timelineTime(row.at, all[index - 1]?.at, getFrame())}</td>
            <td class="break">
              <Words text={entryText(row)} />
              {detailsText(row, (at) => formatExactClock(at, getFrame().zone))}
            </td>
            <td class="nowrap second">
              <bdi class={row.actor === null ? 'quiet' : 'actor'}>{actorOf(row)}</bdi>
            </td>
            <td class="shrink">
              <EvidenceLinks refs={[row.ref]} numbers={numbers} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </Section>
)

/**
 * Formats the time of a row. The first row of each day includes the date (`14 Mar 23:58:01`). The other rows show only
 * the time (`23:58:04`). `before`: the time of the previous row.
 */
function timelineTime(at: string, before: string | undefined, reader: Reader): string {
  const day = formatDate(Date.parse(at), reader)
  const time = formatExactClock(Date.parse(at), reader.zone)
  return before !== undefined && formatDate(Date.parse(before), reader) === day ? time : `${day} ${time}`
}

/** Formats the end of a period, with its date if it is not on the day of the start. */
export function endTime(from: number, to: number, reader: Reader): string {
  const isSameDay = formatDate(from, reader) === formatDate(to, reader)
  return isSameDay ? formatExactClock(to, reader.zone) : formatFullTime(to, reader.zone)
}

export const Change: FC<{ change: Contribution; numbers: Numbers }> = ({ change, numbers }) => (
  <div>
    <Sentences sentences={[change.sentence]} numbers={numbers} />
    <ul class="facts cause-reasons">
      {change.reasons.map(({ text }) => (
        <li>
          <Icon name="check" />
          <Words in="span" class="break" text={text} />
        </li>
      ))}
    </ul>
  </div>
)

export const Figure: FC<{ name: string; metric: Metric }> = ({ name, metric }) => (
  <div>
    <p class="second">{name}</p>
    {metric.seconds === null ? <p>{metric.sentence.text}</p> : <p class="figure">{formatSeconds(metric.seconds)}</p>}
    <Words in="p" class="second break" text={metric.definition} />
  </div>
)

export const KeyFacts: FC<{ facts: readonly KeyFact[]; numbers: Numbers }> = ({ facts, numbers }) =>
  facts.length === 0 ? null : (
    <dl class="card pairs key-facts">
      {facts.map(({ label, text, refs }) => (
        <>
          <dt>{label}</dt>
          <dd>
            <Words in="b" text={text} />
            <EvidenceLinks refs={refs} numbers={numbers} />
          </dd>
        </>
      ))}
    </dl>
  )

export const Actions: FC<{ view: PostmortemView; numbers: Numbers }> = ({ view: { document }, numbers }) => (
  <Section name="Action items">
    {document.actions.length === 0 ? (
      <p class="quiet">No action items were suggested.</p>
    ) : (
      <Table names={['What', 'Owner', 'Due', 'State']}>
        {document.actions.map(({ text, because, owner, due, state }) => (
          <tr>
            <td class="break">
              <Words text={text} /> {because ? <span class="quiet">{because.text}</span> : null}
              {because ? <EvidenceLinks refs={because.refs} numbers={numbers} /> : null}
            </td>
            <td data-label="Owner">{owner ?? 'nobody'}</td>
            <td data-label="Due" class="nowrap">
              {due ?? '–'}
            </td>
            <td data-label="State" class="nowrap">
              <span class="chip">{state}</span>
            </td>
          </tr>
        ))}
      </Table>
    )}
  </Section>
)

export const Evidence: FC<{ view: PostmortemView; numbers: Numbers }> = ({ view: { document }, numbers }) => (
  <Section name="Evidence">
    <ol class="evidence">
      {document.evidence.records.map(({ ref, text, links }) => (
        <li id={`e${numbers.get(ref)}`}>
          <span class="quiet">E{numbers.get(ref)}</span>
          <span class="break">
            <Words text={text ?? ref} /> <Record reference={ref} />
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

/** Links to the record's page, if the record has a page. */
const Record: FC<{ reference: string }> = ({ reference }) => {
  const [noun = '', id = ''] = reference.split('/')
  if (noun !== 'alert' && noun !== 'incident') return null
  return <a href={`/${noun}s/${encodeURIComponent(id)}`}>{noun}</a>
}
