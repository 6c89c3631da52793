/** Explains why alerts have no service, with a form that assigns one of their labels to a service. */
import type { FC } from 'hono/jsx'
import { Select } from '../kit/choice.tsx'
import { Form, Input, Submit } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Section } from '../kit/section.tsx'
import type { ServiceView } from './view.ts'

/** Labels that say what fires, or that far more alerts have than those of one service. */
const TOO_BROAD = new Set(['alertname', 'severity', 'prometheus', 'receiver', 'monitor', 'namespace', 'cluster'])
const MAX_LABELS = 30

/** The labels of the firing alerts as `name=value`. */
function labelsOf(groups: ServiceView['groups']): readonly string[] {
  const labels = groups.flatMap(({ members }) => members.flatMap((alert) => Object.entries(alert.labels)))
  const found = labels.flatMap(([name, value]) => (TOO_BROAD.has(name) ? [] : [`${name}=${value}`]))
  return [...new Set(found)].sort().slice(0, MAX_LABELS)
}

export const Unattributed: FC<{ view: ServiceView }> = ({ view: { groups } }) => {
  const { canWrite } = getFrame()
  const labels = labelsOf(groups)
  return (
    <Section id="unattributed" title="Why these alerts are here">
      <div class="card body stack">
        <p>
          No label of these alerts names a service, and no alias matches. Add a label such as <code>service</code> to
          the alert rule, or assign one of the labels to a service: alerts that fire from then on belong to it.
        </p>
        {canWrite && labels.length > 0 ? (
          <Form action="/services/alias" class="fields">
            <Select
              id="label"
              label="Alerts with the label"
              options={labels.map((label) => [label, label] as const)}
              value={labels[0] ?? ''}
            />
            <Input id="service" label="belong to the service" hint="Its name, or namespace/name." required />
            <p>
              <Submit>Assign</Submit>
            </p>
          </Form>
        ) : null}
      </div>
    </Section>
  )
}
