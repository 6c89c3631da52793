/** Shows the alert history and the alerts that are currently firing. */
import type { FC } from 'hono/jsx'
import { BREAKS } from '../../domain/incident/lasted.ts'
import { SEVERITIES } from '../../domain/severity.ts'
import { formatDuration, formatLasted } from '../../domain/shown-time.ts'
import { capitalized, countOf, formatCount, serviceName } from '../../domain/text.ts'
import { Histogram } from '../drawing/histogram.tsx'
import { Options } from '../kit/choice.tsx'
import { Submit } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Icon, LegendMark, Mark, RepeatCount, ServiceName, Words } from '../kit/mark.tsx'
import { Pages, Table } from '../kit/section.tsx'
import { SilencedMark, silencedPart } from '../kit/silenced.tsx'
import { Time } from '../kit/time.tsx'
import type { AlertRowView, AlertsView } from './data.ts'

const SOURCES = ['cluster', 'metrics', 'dashboard', 'ci'] as const

export const AlertsPage: FC<{ view: AlertsView }> = ({ view }) => {
  const reader = getFrame()
  const { rows, bins, span, page, pages, addressOf } = view
  return (
    <>
      <div class="title">
        <h1>
          Alerts{' '}
          <span class="rest alerts-rest">
            {foundText(view)} <FiringText view={view} />
          </span>
        </h1>
      </div>
      <div class="card">
        <Filters view={view} />
        <Chips view={view} />
        <div class="alerts-chart">
          <Histogram bins={bins} span={span} zone={reader.zone} />
          <p class="legend">
            {SEVERITIES.filter((level) => bins.some(({ counts }) => counts[level] > 0)).map((level) => (
              <LegendMark level={level} />
            ))}
            <span class="end">
              Each bar counts the {countedText(view)} that started in its period.
              <span class="desk"> Choose a bar to see them.</span>
            </span>
          </p>
        </div>
        {rows.length === 0 ? <Nothing view={view} /> : <Rows rows={rows} />}
        <Pages page={page} pages={pages} addressOf={addressOf} />
      </div>
    </>
  )
}

/** Returns the first sentence of the summary above the list, such as `43 groups from 519 alerts.` */
function foundText({ groups, total, shown, filters, page }: AlertsView): string {
  if (total === 0) return ''
  const newest = filters.group || page === 1 ? 'the newest ' : ''
  const part = `${shown < total ? `${newest}${formatCount(shown)} of ` : ''}${countOf(total, 'alert')}`
  return filters.group ? `${countOf(groups, 'group')} from ${part}.` : `${capitalized(part)}.`
}

/** Names what the bars count: what the sentence above them counts. */
function countedText({ filters, shown, total }: AlertsView): string {
  return filters.group ? 'groups' : `alerts${shown < total ? ' on this page' : ''}`
}

/** Renders `7 alerts are still firing.` as a link to these alerts. */
const FiringText: FC<{ view: AlertsView }> = ({ view: { total, shown, firing, filters } }) => {
  if (total === 0) return null
  if (firing === 0) return <span>Nothing is firing.</span>
  const counted = shown < total ? `${formatCount(firing)} of these` : countOf(firing, 'alert')
  const text = `${counted} ${firing === 1 ? 'is' : 'are'} still firing.`
  return filters.status === 'firing' ? <span>{text}</span> : <a href="/alerts?status=firing">{text}</a>
}

const Filters: FC<{ view: AlertsView }> = ({ view: { filters, ranges, chips } }) => {
  const choice = (name: string, current: string, label: string, any: string, words: readonly string[]) => (
    <select name={name} aria-label={label}>
      <Options options={[['', any], ...words.map((word) => [word, word] as const)]} value={current} />
    </select>
  )
  return (
    <form class="row filters alerts-filters" action="/alerts" data-filters>
      <select name="range" aria-label="Span">
        <Options options={ranges} value={filters.range} />
      </select>
      {choice('status', filters.status, 'Status', 'Any status', ['firing', 'ended'])}
      {choice('severity', filters.severity, 'Severity', 'Any severity', SEVERITIES)}
      {choice('source', filters.source, 'Source', 'Any source', SOURCES)}
      <input type="search" name="q" value={filters.q} aria-label="Name or summary" placeholder="Name or summary" />
      {chips.map(({ field: [name, value] }) => (
        <input type="hidden" name={name} value={value} />
      ))}
      <label class="check end alerts-group">
        <input type="hidden" name="group" value="0" disabled={filters.group} />
        <input type="checkbox" name="group" value="1" checked={filters.group} />
        Similar alerts in one row
      </label>
      <Submit>Show</Submit>
    </form>
  )
}

const Chips: FC<{ view: AlertsView }> = ({ view: { chips } }) =>
  chips.length === 0 ? null : (
    <p class="alerts-chips row">
      <span class="quiet">Only</span>
      {chips
        .filter(({ text }) => text !== '')
        .map(({ text, without }) => (
          <a class="filter active" href={without} aria-label={`Remove the filter ${text}`}>
            <span class="break">{text}</span>
            <Icon name="cross" />
          </a>
        ))}
      <a href="/alerts">Clear all</a>
    </p>
  )

const Nothing: FC<{ view: AlertsView }> = ({ view: { chips } }) => (
  <p class="empty">
    No alerts match.{' '}
    {chips[0] ? (
      <a href={chips[0].without}>Remove the filter on {chips[0].text}</a>
    ) : (
      <a href="/alerts?range=30d">Show the last 30 days</a>
    )}
  </p>
)

const LASTED = { name: 'Lasted', title: 'From the start until the end, or until now' }

const Rows: FC<{ rows: readonly AlertRowView[] }> = ({ rows }) => (
  <Table class="cards alerts" names={['Alert', 'Service', 'Source', 'Started', LASTED, 'Incident']}>
    {rows.map(({ name, href, count, summary, service, source, startsAt, incident, silenced, ...row }) => (
      <tr>
        <td class="alert-name">
          <span class="item">
            <Mark level={row.severity} label={row.severity} />
            <span class="grow">
              <span class="row group-name">
                <a class="ink" href={href}>
                  <Words in="b" class="break" text={name} />
                </a>
                <RepeatCount count={count} />
                {row.sentAs ? <span class="second quiet">sent as {row.sentAs}</span> : null}
                <SilencedMark silenced={silenced} of={silencedPart(silenced, count)} />
              </span>
              <span class="second clip">{summary}</span>
            </span>
          </span>
        </td>
        <td data-label="Service">
          {row.services > 1 ? (
            <a href={service.href}>{countOf(row.services, 'service')}</a>
          ) : (
            <a class="ink clip alert-service" href={service.href} title={serviceName(service)}>
              <ServiceName namespace={service.namespace} name={service.name} />
            </a>
          )}
        </td>
        <td data-label="Source" class="alert-source">
          {source}
        </td>
        <td data-label="Started">
          <span>
            <span class="nowrap">
              <Time at={startsAt} style="moment" />
            </span>
            {row.lastStartsAt - startsAt < 60_000 ? null : (
              <>
                {' '}
                <span class="quiet nowrap">
                  to <Time at={row.lastStartsAt} style="moment" />
                </span>
              </>
            )}
          </span>
        </td>
        <td data-label="Lasted" class="nowrap">
          <AlertDuration {...row} />
        </td>
        <td data-label="Incident">
          {row.incidents > 1 ? (
            <span class="quiet nowrap">{countOf(row.incidents, 'incident')}</span>
          ) : incident ? (
            <a href={incident.href}>{incident.number}</a>
          ) : null}
        </td>
      </tr>
    ))}
  </Table>
)

const ENDINGS: Readonly<Record<string, string>> = {
  reported: 'reported as resolved',
  inferred: 'inferred to have ended',
  expired: 'no longer reported',
  manual: 'resolved manually',
}

type DurationProps = Pick<AlertRowView, 'endsAt' | 'lastedMs' | 'hasBreaks' | 'ending' | 'isGuess' | 'severity'>

/** Renders `firing 8 min` in the color of the severity, or `12 min, reported as resolved`, without a time below 1 s. */
export const AlertDuration: FC<DurationProps> = ({ endsAt, lastedMs, hasBreaks, ending, isGuess, severity }) => {
  const breaks = hasBreaks ? BREAKS : ''
  if (endsAt === null)
    return (
      <span>
        <b class={`ink-level level-${severity}`}>firing</b>{' '}
        <span class="quiet">
          {formatDuration(lastedMs)}
          {breaks}
        </span>
      </span>
    )
  const lasted = lastedMs < 1000 ? '' : `${isGuess ? 'at least ' : ''}${formatLasted(lastedMs)}${breaks}`
  const how = ENDINGS[ending] ?? (lasted === '' ? 'ended' : '')
  return (
    <span>
      {lasted}
      {how === '' ? null : <span class="quiet">{lasted === '' ? how : `, ${how}`}</span>}
    </span>
  )
}
