/** The overview of an organization: its problems, when they started, their causes, and who is working on them. */
import type { Child, FC } from 'hono/jsx'
import { TROUBLED } from '../../domain/health/headline.ts'
import { firingText } from '../../domain/incident/incident.ts'
import { countOf, formatCount } from '../../domain/text.ts'
import { Declare } from '../incident/edit.tsx'
import { Icon, LegendMark, Mark, Words } from '../kit/mark.tsx'
import { Head, Section } from '../kit/section.tsx'
import { Time } from '../kit/time.tsx'
import { ExampleNote } from '../sources/welcome.tsx'
import { withQuery } from '../visit/choice.ts'
import { FirstIncident, IncidentLine } from './incidents.tsx'
import { HealthyGrid, UnhealthyRows } from './services.tsx'
import { StormCard } from './storm.tsx'
import { FILTERS, type Filter, type OverviewView, type ServiceRowView } from './view.ts'
import { Wall } from './wall.tsx'

/** The states that have no filter while no service is in them. */
const RARE: readonly Filter[] = ['recovering', 'unknown']
/** The list has room for this many services. Of more services, it shows the worst. */
const IN_LIST = 40
const WORST = 25
/** The maximum number of rows below the wall. */
const BELOW_WALL = 10

/** Returns how many services have a row. Unhealthy services come first. */
export function rowsFor(services: number, view: OverviewView['view']): number {
  return view === 'wall' ? BELOW_WALL : services > IN_LIST ? WORST : IN_LIST
}

export const OverviewPage: FC<{ view: OverviewView }> = ({ view }) => {
  const { incidents, services, changes } = view
  const ill = services.filter(({ status }) => TROUBLED.has(status))
  const urgent = ill.filter(({ status }) => status !== 'recovering').length
  const well = services.filter(({ status }) => status === 'healthy' || status === 'unknown')
  const many = view.view === 'wall'
  const rows = rowsFor(services.length, view.view)
  const shownIll = ill.slice(0, rows)
  const shownWell = well.slice(0, many ? 0 : rows - shownIll.length)
  const hidden = services.length - shownIll.length - shownWell.length
  const early = services.some(({ resolvedEarly }) => resolvedEarly)
  return (
    <>
      {view.hasExample ? <ExampleNote /> : null}
      <Headline view={view}>{incidents.length === 0 ? <Declare typed={null} isFirst={!early} /> : null}</Headline>
      {incidents.map((one, index) =>
        'members' in one ? (
          <StormCard storm={one} isFirst={index === 0} />
        ) : index === 0 && !many ? (
          <FirstIncident one={one} />
        ) : (
          <IncidentLine one={one} first={index === 0} />
        ),
      )}
      {view.hiddenIncidents > 0 ? (
        <p class="second">
          <a href="/incidents">{countOf(view.hiddenIncidents, 'more incident')}</a>{' '}
          {view.hiddenIncidents === 1 ? 'is' : 'are'} not resolved.
        </p>
      ) : null}
      <Filters view={view} />
      {services.length === 0 ? <Nothing view={view} /> : null}
      {many && services.length > 0 ? (
        <>
          <Wall services={services} listOf={(namespace) => view.addressOf({ view: 'list', namespace })} />
          <WallLegend services={services} />
          {ill.length === 0 ? null : <Head title={attentionText(urgent, ill.length - urgent)} />}
        </>
      ) : null}
      {shownIll.length > 0 || shownWell.length > 0 ? (
        <div class="card">
          {shownIll.length > 0 ? <UnhealthyRows services={shownIll} isFirst={incidents.length === 0} /> : null}
          {many && ill.length > BELOW_WALL ? (
            <p class="empty">
              <a href={view.addressOf({ view: 'list' })}>{formatCount(ill.length - BELOW_WALL)} more are not healthy</a>
            </p>
          ) : null}
          {shownWell.length > 0 ? (
            <>
              {ill.length > 0 ? (
                <p class="row healthy-head">
                  <Mark level="healthy" /> {formatCount(well.length)} healthy
                </p>
              ) : null}
              <HealthyGrid services={shownWell} />
            </>
          ) : null}
          {!many && hidden > 0 ? (
            <p class="empty">
              {countOf(hidden, 'more service')} on <a href={view.addressOf({ view: 'wall' })}>the wall</a>
            </p>
          ) : null}
        </div>
      ) : null}
      {incidents.length === 0 && changes.length > 0 ? <Changes view={view} /> : null}
    </>
  )
}

/** Returns `1 service needs attention, 38 are recovering`. */
function attentionText(urgent: number, recovering: number): string {
  if (urgent === 0) return `${countOf(recovering, 'service')} ${recovering === 1 ? 'is' : 'are'} recovering`
  const need = `${countOf(urgent, 'service')} ${urgent === 1 ? 'needs' : 'need'} attention`
  const others = `${formatCount(recovering)} ${recovering === 1 ? 'is' : 'are'} recovering`
  return recovering === 0 ? need : `${need}, ${others}`
}

export const Headline: FC<{ view: OverviewView; children?: Child }> = ({
  view: { headline, calm, failing },
  children,
}) => (
  <div class={`overview-title ${headline.state === 'healthy' ? 'overview-calm' : ''}`}>
    {headline.state === 'healthy' ? <Mark level="done" /> : null}
    <div>
      <h1>
        {headline.lead} <span class="rest">{headline.rest}</span>
      </h1>
      {calm ? (
        <p class="second">
          The last incident, <a href={calm.href}>{calm.title}</a>, {calm.stillFiring ? 'was resolved' : 'ended'}{' '}
          <Time at={calm.endedAt} />
          {calm.stillFiring ? `; ${firingText(calm.stillFiring)}` : ''}.
          {calm.postmortem === null ? null : (
            <>
              {' '}
              Its <a href={calm.postmortem}>postmortem</a> is ready.
            </>
          )}
        </p>
      ) : null}
      {failing.length > 0 ? <Failing channels={failing} /> : null}
    </div>
    {children}
  </div>
)

const MAX_FAILING = 3

/** Renders `Messages do not arrive: pager since 19:28.` */
const Failing: FC<{ channels: OverviewView['failing'] }> = ({ channels }) => (
  <p class="second with-icon">
    <Mark level="warning" />
    <span class="break">
      Messages are not delivered to{' '}
      {channels.slice(0, MAX_FAILING).map(({ name, href, since }, index) => (
        <>
          {index === 0 ? '' : ', '}
          <a href={href}>{name}</a>
          {since === null ? null : (
            <>
              {' since '}
              <Time at={since} style="moment" />
            </>
          )}
        </>
      ))}
      {channels.length > MAX_FAILING ? ` and ${formatCount(channels.length - MAX_FAILING)} more` : ''}.
    </span>
  </p>
)

const Filters: FC<{ view: OverviewView }> = ({ view }) => {
  const { counts, status, addressOf } = view
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const shown = FILTERS.filter((one) => one === 'all' || !RARE.includes(one) || counts[one] > 0)
  return (
    <div class="head filter-head">
      <h2 id="services">Services</h2>
      <nav class="row filters" aria-label="Services by status">
        {shown.map((one) => (
          <a
            class={one !== 'all' && counts[one] === 0 ? 'filter filter-none' : 'filter'}
            href={addressOf({ status: one })}
            aria-current={one === status ? 'true' : undefined}
          >
            {one === 'all' ? null : <Mark level={one} />}
            <strong>{formatCount(one === 'all' ? all : counts[one])}</strong> {one}
          </a>
        ))}
      </nav>
      <nav class="segments end" aria-label="View">
        {(['list', 'wall'] as const).map((one) => (
          <a href={addressOf({ view: one })} aria-current={one === view.view ? 'true' : undefined}>
            {one === 'list' ? 'List' : 'Wall'}
          </a>
        ))}
        <a href={withQuery('/', { view: 'wall', tv: '1' })} title="The wall for a screen: no navigation, large names">
          TV
        </a>
      </nav>
    </div>
  )
}

const Nothing: FC<{ view: OverviewView }> = ({ view: { q, status, addressOf } }) => (
  <p class="card empty">
    {q === '' ? `No service is ${status === 'all' ? 'known yet' : status}.` : `No service matches “${q}”.`}{' '}
    {q === '' && status === 'all' ? null : <a href={addressOf({ status: 'all' })}>Show all services</a>}
  </p>
)

const WallLegend: FC<{ services: readonly ServiceRowView[] }> = ({ services }) => (
  <p class="legend after">
    {FILTERS.filter((level) => level !== 'all')
      .filter((level) => services.some(({ status }) => status === level))
      .map((level) => (
        <LegendMark level={level} text={level === 'unknown' ? 'unknown: its sender is silent' : level} />
      ))}
    {services.some(({ silenced }) => silenced) ? (
      <span class="with-icon">
        <span class="cell-silenced" />
        alerts are silenced
      </span>
    ) : null}
  </p>
)

const Changes: FC<{ view: OverviewView }> = ({ view: { changes } }) => (
  <Section id="changes" title="Changes in the last 12 hours" second="what to look at first if something breaks now">
    <ul class="card rows">
      {changes.map(({ ref, outcome, detail, followed, href, at }) => (
        <li class="row change-row">
          <Icon name="branch" class="change" />
          <span class="break change-text">
            <a class="ink" href={href}>
              <Words in="b" text={ref} />
            </a>{' '}
            {outcome} <span class="quiet">{detail}</span>
          </span>
          <span class="quiet">{followed}</span>
          <Time at={at} style="moment" />
        </li>
      ))}
    </ul>
  </Section>
)
