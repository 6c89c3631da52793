/** Says who was told about an incident, and who was not. */
import type { Child, FC } from 'hono/jsx'
import { namedUpTo } from '../../domain/notification/names.ts'
import type { WhoWasTold } from '../../domain/notification/told.ts'
import { formatCount } from '../../domain/text.ts'
import { isolatedName } from '../kit/bidi.ts'
import { Time } from '../kit/time.tsx'

const MAX_NAMES = 3

type Props = {
  readonly told: WhoWasTold | null
  /** The URL of the incident, whose timeline has all messages. */
  readonly href: string
  /** Whether to say that nobody was told. */
  readonly isOpen: boolean
  /** ` about incident 3`, if the line is about one of several incidents. */
  readonly about?: string
}

/** Renders `Told: on-call, last 19:28. Not told: pager (failing since 19:28), shop-team (rule).` */
export const ToldLine: FC<Props> = ({ told, href, isOpen, about = '' }) => {
  if (told === null || (!told.hasChannel && !isOpen)) return null
  if (!told.hasChannel)
    return (
      <>
        Nobody is notified: <a href="/settings/notifications">add a channel</a>.
      </>
    )
  const { lastAt, waiting, notTold } = told
  return (
    <>
      {lastAt === null ? (
        waiting.length === 0 && isOpen && `Nobody was told${about}.`
      ) : (
        <>
          Told{about}:{' '}
          <a class="ink plain" href={`${href}#timeline`}>
            {namedUpTo(told.told.map(isolatedName), MAX_NAMES)}
          </a>
          , last <Time at={lastAt} style="moment" />.
        </>
      )}
      {listOf('To be told', waiting, ({ dueAt }) =>
        dueAt === null ? 'next digest' : <Time at={dueAt} style="moment" />,
      )}
      {listOf('Not told', notTold, ({ why, since }) => (
        <>
          {why}
          {since === null ? null : (
            <>
              {' since '}
              <Time at={since} style="moment" />
            </>
          )}
        </>
      ))}
    </>
  )
}

/** Renders ` Not told: pager (rule), ops (silence) and 3 more.` */
function listOf<One extends { readonly name: string }>(
  title: string,
  all: readonly One[],
  detail: (one: One) => Child,
): Child {
  if (all.length === 0) return null
  const rest = all.length - MAX_NAMES
  return (
    <>
      {' '}
      {title}:{' '}
      {all.slice(0, MAX_NAMES).map((one, index) => (
        <>
          {index === 0 ? '' : ', '}
          {isolatedName(one.name)} ({detail(one)})
        </>
      ))}
      {rest > 0 ? ` and ${formatCount(rest)} more` : ''}.
    </>
  )
}
