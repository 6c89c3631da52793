/** The wall for a screen that nobody operates: no navigation, large names, and the newest change along the bottom. */
import type { FC } from 'hono/jsx'
import { countOf } from '../../domain/text.ts'
import { Icon, Mark, ShortName } from '../kit/mark.tsx'
import { Time } from '../kit/time.tsx'
import { Headline } from './page.tsx'
import type { OverviewView } from './view.ts'
import { Wall } from './wall.tsx'

const MAX_TILES = 24
const MAX_NAME = 26

export const TvPage: FC<{ view: OverviewView }> = ({ view }) => {
  const { services, reader, changes, addressOf } = view
  const ill = services.filter(({ status }) => status === 'critical' || status === 'degraded')
  const [newest] = changes
  return (
    <div class="tv">
      <Headline view={view} />
      {ill.length === 0 ? null : (
        <ul class="tv-tiles">
          {ill.slice(0, MAX_TILES).map(({ href, name, namespace, status, score }) => (
            <li class={`card tv-tile level-${status}`}>
              <a class="ink plain" href={href}>
                <Mark level={status} label={status} />
                <b>
                  <ShortName text={name} max={MAX_NAME} />
                </b>
                <span class="second">
                  {namespace === '' ? '' : `${namespace}, `}score {score}
                </span>
              </a>
            </li>
          ))}
          {ill.length > MAX_TILES ? (
            <li class="card tv-tile">{countOf(ill.length - MAX_TILES, 'more service')} on the wall</li>
          ) : null}
        </ul>
      )}
      <Wall services={services} listOf={(namespace) => addressOf({ view: 'list', namespace })} />
      <p class="tv-change row">
        {newest ? (
          <>
            <Icon name={newest.kind === 'pipeline' ? 'branch' : 'layers'} class="change" />
            <span class="break">
              <b>{newest.ref}</b> {newest.outcome} <Time at={newest.at} reader={reader} />, {newest.followed}
            </span>
          </>
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
