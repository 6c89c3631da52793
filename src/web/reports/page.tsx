/** The report: the number of incidents compared with the previous period, and the times to resolve the incidents. */
import type { FC } from 'hono/jsx'
import type { Reliability, Spread } from '../../domain/report/report.ts'
import { SEVERITIES } from '../../domain/severity.ts'
import { formatDate, formatLasted } from '../../domain/shown-time.ts'
import { countOf, formatCount } from '../../domain/text.ts'
import { type ReportWeek, ResolutionChart, type ResolutionMark, WeekChart } from '../drawing/report.tsx'
import { Ranges } from '../kit/choice.tsx'
import { getFrame } from '../kit/frame.ts'
import { LegendMark } from '../kit/mark.tsx'
import { type ServiceHealth, Services } from './services.tsx'

type ReportView = {
  /** `90 days` */
  readonly span: string
  /** `previous 90 days` or `previous year`. */
  readonly preceding: string
  readonly ranges: readonly { readonly text: string; readonly href: string; readonly current: boolean }[]
  readonly csvHref: string
  /** Null if there are too many incidents to evaluate. */
  readonly report: Reliability | null
  /** The previous period; null if nothing was recorded in it. */
  readonly before: Reliability | null
  /** When recording started; null if recording started before the period. */
  readonly since: number | null
  readonly weeks: readonly ReportWeek[]
  /** How long it took to resolve each incident, in ms. */
  readonly durations: readonly number[]
  /** One mark per duration; empty if there are too many. */
  readonly resolutions: readonly ResolutionMark[]
  /** The health of the first services, by UUID. */
  readonly health: ReadonlyMap<string, ServiceHealth>
}

/** Returns a title such as `27 incidents in 90 days`. */
export function reportTitle({ report, span }: ReportView): string {
  return report ? `${countOf(report.organization.incidents, 'incident')} in ${span}` : 'Reports'
}

export const ReportPage: FC<{ view: ReportView }> = ({ view }) => {
  const { report, ranges, csvHref, weeks, durations, resolutions } = view
  const median = report?.organization.mttr.median ?? null
  return (
    <>
      <div class="title">
        <h1>
          {reportTitle(view)}. <span class="rest">{restOf(view)}</span>
        </h1>
        <span class="row no-print">
          <Ranges ranges={ranges} />
          <a class="button small" href={csvHref}>
            CSV
          </a>
        </span>
      </div>
      {report === null ? (
        <p class="card empty">There are too many incidents in this period. Choose a shorter period.</p>
      ) : (
        <>
          <Figures view={view} report={report} />
          <div class="columns report-charts">
            <section class="card body" aria-labelledby="weeks">
              <h2 id="weeks">Incidents by week</h2>
              <p class="second">
                Each column covers the 7 days that end on its date. The last column ends now.
                {view.since === null ? '' : ` Recording began on ${formatDate(view.since, getFrame())}.`}
              </p>
              <WeekChart weeks={weeks} />
              <p class="legend">
                {SEVERITIES.filter((one) =>
                  weeks.some(({ counts }) => counts.some(({ severity, count }) => severity === one && count > 0)),
                ).map((level) => (
                  <LegendMark level={level} />
                ))}
              </p>
            </section>
            <section class="card body" aria-labelledby="resolve">
              <h2 id="resolve">Time to resolve</h2>
              {durations.length === 0 ? (
                <p class="quiet">No incident in this period has been resolved.</p>
              ) : (
                <>
                  <p class="second">{lateText(report.late)}</p>
                  <ResolutionChart
                    marks={resolutions}
                    {...{ durations }}
                    median={median === null ? null : median * 1000}
                  />
                </>
              )}
            </section>
          </div>
          <Services report={report} health={view.health} span={view.span} />
        </>
      )}
    </>
  )
}

/**
 * Returns the rest of the headline, such as `2 fewer than in the previous 90 days. 3 of 5 are resolved; median 38 min.`
 */
function restOf({ report, before, preceding }: ReportView): string {
  if (report === null) return ''
  const { incidents, resolved, mttr } = report.organization
  const parts = [comparison(incidents, before, preceding)]
  if (mttr.median !== null) {
    const median = formatLasted(mttr.median * 1000)
    parts.push(`${resolved} of ${incidents} ${resolved === 1 ? 'is' : 'are'} resolved; median ${median}`)
  }
  return parts.flatMap((part) => (part === '' ? [] : [`${part}.`])).join(' ')
}

/** Says how often most of the time to resolve passed before somebody acknowledged the incident; '' if that is unknown. */
function lateText({ count, of }: Reliability['late']): string {
  if (of === 0) return ''
  const which = `${countOf(of, 'incident')} that ${of === 1 ? 'was' : 'were'} acknowledged and resolved`
  return `In ${formatCount(count)} of ${which}, most of the time passed before the acknowledgement.`
}

/** Returns `2 fewer than in the previous 90 days`; '' if there is no previous period. */
function comparison(incidents: number, before: Reliability | null, preceding: string): string {
  if (before === null) return ''
  const fewer = before.organization.incidents - incidents
  const amount = fewer === 0 ? 'As many as' : `${formatCount(Math.abs(fewer))} ${fewer > 0 ? 'fewer' : 'more'} than`
  return `${amount} in the ${preceding}`
}

const Figures: FC<{ view: ReportView; report: Reliability }> = ({ view, report }) => {
  const reader = getFrame()
  const { before, preceding, since } = view
  const { incidents, mttd, mtta, mttr } = report.organization
  const earlier = before?.organization
  const compared = comparison(incidents, before, preceding)
  const recorded =
    since === null
      ? `not comparable with the ${preceding}`
      : `recorded since ${formatDate(since, reader)}, so not comparable yet`
  return (
    <div class="report-figures">
      <div class="card body">
        <p class="second">Incidents</p>
        <p class="report-figure">{incidents}</p>
        <p class="second">{compared || recorded}</p>
      </div>
      <Figure name="Time to detect" spread={mttd} earlier={earlier?.mttd} />
      <Figure name="Time to acknowledge" spread={mtta} earlier={earlier?.mtta} />
      <Figure name="Time to resolve" spread={mttr} earlier={earlier?.mttr} />
    </div>
  )
}

const Figure: FC<{ name: string; spread: Spread; earlier: Spread | undefined }> = ({ name, spread, earlier }) => {
  const { median, mean, of } = spread
  const change = median === null || earlier?.median == null ? null : earlier.median - median
  const better =
    change === null || change === 0
      ? ''
      : ` ${formatLasted(Math.abs(change) * 1000)} ${change > 0 ? 'faster' : 'slower'}.`
  return (
    <div class="card body">
      <p class="second">{name}</p>
      <p class="report-figure">{median === null ? 'not known' : formatLasted(median * 1000)}</p>
      <p class="second">
        {median === null ? 'no incident has this time' : `median of ${of}; mean ${formatLasted((mean ?? 0) * 1000)}.`}
        <b>{better}</b>
      </p>
    </div>
  )
}
