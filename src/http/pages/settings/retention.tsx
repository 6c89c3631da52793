/** The retention settings: how long incmon keeps records. */
import type { FC } from 'hono/jsx'
import { MAX_RETENTION_DAYS } from '../../../domain/organization.ts'
import { type Fault, Faults, Hidden, Input, Submit } from '../kit/form.tsx'
import { Head } from '../kit/section.tsx'

type Props = {
  readonly csrf: string
  readonly events: string
  readonly alerts: string
  readonly faults: readonly Fault[]
}

export const RetentionSettings: FC<Props> = ({ csrf, events, alerts, faults }) => (
  <>
    <Head title="Retention" />
    <Faults faults={faults} />
    <div class="card">
      <form class="body stack" method="post" action="/settings/retention">
        <Hidden fields={{ csrf }} />
        <div class="fields">
          <Days id="events" label="Keep events for (days)" value={events} faults={faults} />
          <Days id="alerts" label="Keep alerts and incidents for (days)" value={alerts} faults={faults} />
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

const Days: FC<{ id: string; label: string; value: string; faults: readonly Fault[] }> = (props) => (
  <Input
    id={props.id}
    label={props.label}
    faults={props.faults}
    type="number"
    value={props.value}
    min={1}
    max={MAX_RETENTION_DAYS}
    required
  />
)
