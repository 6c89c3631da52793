/** The mark for silenced alerts. */
import type { FC } from 'hono/jsx'
import type { Reader } from '../../../domain/shown-time.ts'
import { Time } from './time.tsx'

/** The number of silenced firing alerts, and when the first silence ends; null if unknown. */
export type Silenced = { readonly count: number; readonly until: number | null }

/** `silenced until 14:30`, `2 alerts silenced`; nothing if no alert is silenced. */
export const SilencedMark: FC<{ silenced: Silenced | null; reader: Reader; of?: string }> = (props) => {
  const { silenced, reader, of = '' } = props
  if (silenced === null) return null
  const { until } = silenced
  return (
    <span class="chip nowrap">
      {of} silenced
      {until === null ? null : (
        <>
          {' until '}
          <Time at={until} reader={reader} style="moment" />
        </>
      )}
    </span>
  )
}
