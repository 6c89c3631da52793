/** The retention settings: how long incmon keeps records. */
import type { FC } from 'hono/jsx'
import { MAX_RETENTION_DAYS } from '../../../domain/organization.ts'
import { fieldsOf } from '../kit/edit-form.tsx'
import { type Fault, Faults, Hidden, Input, Submit } from '../kit/form.tsx'
import { Head } from '../kit/section.tsx'

/** The numbers of days, as typed. */
export type RetentionForm = Readonly<Record<'events' | 'alerts', string>>

const DAYS = { type: 'number', min: 1, max: MAX_RETENTION_DAYS, required: true } as const

export const RetentionSettings: FC<{ csrf: string; form: RetentionForm; faults: readonly Fault[] }> = (props) => {
  const { csrf, form, faults } = props
  const field = fieldsOf(form, faults)
  return (
    <>
      <Head title="Retention" />
      <Faults faults={faults} />
      <div class="card">
        <form class="body stack" method="post" action="/settings/retention">
          <Hidden fields={{ csrf }} />
          <div class="fields">
            <Input {...field('events')} {...DAYS} label="Keep events for (days)" />
            <Input {...field('alerts')} {...DAYS} label="Keep alerts and incidents for (days)" />
          </div>
          <p class="hint">
            Records that a firing alert, an unresolved incident or a postmortem refers to are kept regardless of their
            age.
          </p>
          <p>
            <Submit look="primary">Save</Submit>
          </p>
        </form>
      </div>
    </>
  )
}
