/** The wall for a screen that nobody operates: no navigation, large names, and the newest change along the bottom. */
import type { Child, FC } from 'hono/jsx'
import { ordered } from '../../domain/order.ts'
import { countOf, formatCount } from '../../domain/text.ts'
import { CauseLine } from '../incident/cause.tsx'
import { ToldLine } from '../incident/told.tsx'
import { getFrame } from '../kit/frame.ts'
import { Icon, Mark, ShortName, Status } from '../kit/mark.tsx'
import { Time } from '../kit/time.tsx'
import { ownerOf, StateBadge } from './incidents.tsx'
import { Headline } from './page.tsx'
import { EarlyText } from './services.tsx'
import { ownersOf, StormCause, StormState, StormTitle } from './storm.tsx'
import type { OpenIncidentView, OverviewView, StormView } from './view.ts'
import { Wall } from './wall.tsx'

/** With the tile that counts the others, full rows of 6 and 9. In a storm, the page fits on a screen of 1920 x 1080 px. */
const MAX_TILES = 17
/** Beside the line about channels whose messages are not delivered: one row less. */
const MAX_TILES_FAILING = 8
const MAX_NAME = 18
/** With more services, the tiles are small. */
const MAX_LARGE = 8
const MAX_INCIDENTS = 3
const MAX_TITLE = 60

export const TvPage: FC<{ view: OverviewView }> = ({ view }) => {
  const { services, changes, addressOf, newestCritical } = view
  // Nobody has to do anything about a service that recovers.
  const troubled = services.filter(({ status }) => status === 'critical' || status === 'degraded')
  const ill = ordered(troubled, ({ id }) => [Number(id !== newestCritical?.id)])
  const unhealthy = services.filter(({ status }) => status !== 'healthy')
  const healthy = services.length - unhealthy.length
  const early = ill.flatMap(({ resolvedEarly }) => resolvedEarly ?? []).slice(0, MAX_INCIDENTS - 1)
  const [newest] = changes
  const tiles = view.failing.length === 0 ? MAX_TILES : MAX_TILES_FAILING
  return (
    <div class="tv">
      <Headline view={view} />
      {view.incidents.slice(0, MAX_INCIDENTS - early.length).map((one, index) => (
        <TvIncident one={one} isFirst={index === 0} />
      ))}
      {early.map((of) =>
        of.brief ? (
          <TvIncident one={of.brief} isFirst>
            <EarlyText of={of} />
          </TvIncident>
        ) : null,
      )}
      {ill.length === 0 ? null : (
        <ul class={ill.length <= MAX_LARGE ? 'tv-tiles tv-large' : 'tv-tiles'}>
          {ill.slice(0, tiles).map(({ id, href, name, namespace, status, score }) => (
            <li class={`card tv-tile level-${status} ${newestCritical?.id === id ? 'newer-critical' : ''}`}>
              <a class="ink plain" href={href}>
                <Mark level={status} label={status} />
                <b>
                  <ShortName text={name} max={MAX_NAME} />
                </b>
                <span class="second">
                  {namespace === '' ? '' : `${namespace}, `}score {score}
                  {newestCritical?.id === id ? (
                    <>
                      , reported <Time at={newestCritical.at} style="moment" />
                    </>
                  ) : null}
                </span>
              </a>
            </li>
          ))}
          {ill.length > tiles ? (
            <li class="card tv-tile">{countOf(ill.length - tiles, 'more service')} on the wall</li>
          ) : null}
        </ul>
      )}
      {/* In trouble, the cells of what is healthy would not fit on the screen. */}
      <Wall
        services={ill.length === 0 ? services : unhealthy}
        listOf={(namespace) => addressOf({ view: 'list', namespace })}
      />
      {ill.length > 0 && healthy > 0 ? <p class="second">… and {formatCount(healthy)} more healthy</p> : null}
      <p class="tv-change row">
        {newest ? (
          <span class="break">
            <Icon name="branch" class="change" /> <b>{newest.ref}</b> {newest.outcome} <Time at={newest.at} />,{' '}
            {newest.followed}
          </span>
        ) : (
          'No change in the last 12 hours.'
        )}
        <a class="end" href={addressOf({ view: 'wall' })}>
          Leave this view
        </a>
      </p>
    </div>
  )
}

/** What a person across the room has to know: what burns and since when, what went first, and whether somebody is on it. */
const TvIncident: FC<{ one: OpenIncidentView | StormView; isFirst: boolean; children?: Child }> = ({
  one,
  isFirst,
  children,
}) => {
  const reader = getFrame()
  const storm = 'members' in one ? one : null
  const first = 'members' in one ? one.first : one
  const { incident } = first
  const level = storm && !storm.isLed ? storm.worst.severity : incident.severity
  const isOver = (incident.endedAt !== null || incident.mutedSince !== null) && (storm === null || storm.isLed)
  return (
    <article class={`card row tv-incident ${isOver ? '' : `level-${level}`}`}>
      <div class="row">
        {storm && !isOver ? (
          <StormState storm={storm} />
        ) : (
          <>
            {incident.endedAt === null && incident.mutedSince === null ? <StateBadge incident={incident} /> : null}
            <Status status={incident.status} />
          </>
        )}
      </div>
      <div class="line-text">
        <b class="break">
          {storm ? (
            <StormTitle storm={storm} max={MAX_TITLE} />
          ) : (
            <a class="ink plain" href={incident.href}>
              <ShortName text={incident.title} max={MAX_TITLE} />
            </a>
          )}
        </b>
        {storm ? <StormCause storm={storm} /> : <CauseLine one={first} />}
      </div>
      <span>
        {children ?? (storm ? ownersOf(storm, reader.now) : ownerOf(first, reader.now))}
        <br />
        <ToldLine
          told={first.told}
          href={incident.href}
          isOpen={isFirst && !isOver}
          about={storm ? ` about incident ${incident.number}` : ''}
        />
      </span>
    </article>
  )
}
