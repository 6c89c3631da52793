/** Lists the silences and maintenance windows: active, scheduled and expired. */

import type { FC } from 'hono/jsx'
import type { Matcher } from '../../domain/silence/matcher.ts'
import type { Schedule } from '../../domain/silence/silence.ts'
import { capitalized, formatCount, joinNames } from '../../domain/text.ts'
import { WEEKDAYS } from '../../domain/time-zone.ts'
import { DAY } from '../../domain/units.ts'
import { Form, Submit } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Icon } from '../kit/mark.tsx'
import { Card, Head, Pages, Table } from '../kit/section.tsx'
import { silenceHref } from '../kit/silenced.tsx'
import { Time } from '../kit/time.tsx'
import type { SilenceView } from './input.ts'

type Props = {
  readonly current: readonly SilenceView[]
  readonly ended: readonly SilenceView[]
  readonly page: number
  readonly pages: number
}

const SILENCED_NOW = { name: 'Silenced now', class: 'number' }

export const SilenceList: FC<Props> = ({ current, ended, page, pages }) => {
  const { canWrite } = getFrame()
  const active = current.filter(({ status }) => status === 'active')
  const planned = current.filter(({ status }) => status === 'pending')
  return (
    <>
      <Head
        title="Silences and maintenance windows"
        second="alerts are stored, but open no incidents and send no notifications"
      >
        {canWrite ? (
          <a class="button end primary" href="/settings/silences/new">
            <Icon name="plus" />
            New silence
          </a>
        ) : null}
      </Head>
      <Part id="active" title="Active" time="Until" silences={active} />
      {planned.length === 0 ? null : <Part id="planned" title="Planned" time="Begins" silences={planned} />}
      {ended.length === 0 ? null : <Part id="ended" title="Ended" time="Ended" silences={ended} />}
      <Pages
        page={page}
        pages={pages}
        addressOf={(number) => (number === 1 ? '/settings/silences' : `/settings/silences?page=${number}`)}
      />
    </>
  )
}

type PartProps = {
  readonly id: string
  readonly title: string
  /** The heading of the column with the time. */
  readonly time: string
  readonly silences: readonly SilenceView[]
}

const Part: FC<PartProps> = ({ id, title, time, silences }) => (
  <section aria-labelledby={id} class="after-card">
    <h3 id={id} class="part">
      {title} {silences.length > 0 && id !== 'ended' ? <span class="quiet">{formatCount(silences.length)}</span> : null}
    </h3>
    <Card empty={silences.length === 0 ? 'Nothing is silenced now.' : null}>
      <Table names={['What', 'Why', time, ...(id === 'active' ? [SILENCED_NOW] : [])]} action="Change">
        {silences.map((silence) => (
          <tr>
            <td>
              <Matchers matchers={silence.matchers} />
            </td>
            <td data-label="Why">
              <span class="break">
                {silence.comment}
                <span class="second">by {silence.createdBy}</span>
              </span>
            </td>
            <td data-label={time}>
              <SilenceTime silence={silence} />
            </td>
            {id === 'active' ? (
              <td class="number" data-label="Silenced now">
                {formatCount(silence.matching)}
              </td>
            ) : null}
            <td class="shrink">
              <Actions silence={silence} />
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  </section>
)

/** Shows a silence's matchers, for example `service = checkout`. */
export const Matchers: FC<{ matchers: readonly Matcher[] }> = ({ matchers }) => (
  <span class="row">
    {matchers.map(({ name, op, value }) => (
      <span class="chip break">
        {name} {op} <b>{value === '' ? '""' : value}</b>
      </span>
    ))}
  </span>
)

/** Shows when a silence starts, ends, or ended. */
export const SilenceTime: FC<{ silence: SilenceView }> = ({ silence }) => {
  const reader = getFrame()
  const { status, startsAt, endsAt, changesAt, schedule } = silence
  if (status === 'expired') return <Time at={endsAt} style="moment" />
  const at = status === 'active' ? (changesAt ?? endsAt) : (changesAt ?? startsAt)
  return (
    <span>
      <span class="nowrap">
        <Time at={at} style={at - reader.now < DAY ? 'moment' : 'minute'} />{' '}
        {at - reader.now < DAY ? (
          <span class="quiet">
            <Time at={at} />
          </span>
        ) : null}
      </span>
      {schedule === null ? null : (
        <span class="second">
          {scheduleText(schedule)}, until <Time at={endsAt} style="minute" />
        </span>
      )}
    </span>
  )
}

function scheduleText({ weekdays, from, to, timeZone }: Schedule): string {
  const days = weekdays.length === WEEKDAYS.length ? 'day' : joinNames(weekdays.map(capitalized))
  return `every ${days} ${from}–${to} ${timeZone}`
}

const Actions: FC<{ silence: SilenceView }> = ({ silence }) => {
  if (!getFrame().canWrite) return null
  const href = `/settings/silences/${silence.id}`
  if (silence.status === 'expired') {
    return (
      <a class="button small" href={silenceHref(silence.matchers)}>
        Again
      </a>
    )
  }
  return (
    <span class="row">
      <a class="button small" href={href}>
        Edit
      </a>
      <details class="confirm">
        <summary class="button small">End now…</summary>
        <Form action={href} fields={{ do: 'end' }}>
          <p>
            {silence.matching > 0
              ? `End this silence now? ${silence.matching === 1 ? '1 silenced alert is still firing and will count' : `${formatCount(silence.matching)} silenced alerts are still firing and will count`} again.`
              : 'End this silence now? It will stay in this list, under “Ended”.'}
          </p>
          <Submit look="small">End silence</Submit>
        </Form>
      </details>
    </span>
  )
}
