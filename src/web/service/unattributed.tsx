/** Explains why alerts have no service, and assigns one of their labels to a service. */
import type { FC } from 'hono/jsx'
import { IncmonError } from '../../domain/error.ts'
import { UNATTRIBUTED } from '../../domain/service/service.ts'
import { assignAlias } from '../../engine/changes/services.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { Hidden, Input, Submit } from '../kit/form.tsx'
import { Section } from '../kit/section.tsx'
import { type PageRoute, page, type Visit } from '../page.ts'
import { redirect } from '../visit/reply.ts'
import { requireNamedService } from './named.ts'
import type { ServiceView } from './view.ts'

/** Labels that say what fires, or that far more alerts have than those of one service. */
const TOO_BROAD = new Set(['alertname', 'severity', 'prometheus', 'receiver', 'monitor', 'namespace', 'cluster'])
const MAX_LABELS = 30
const LABEL = /^[^=]{1,253}=.{1,1000}$/s
const TAKEN = 'this label already belongs to another service; remove it there first'

export const aliasRoute: PageRoute = page('POST /services/alias', 'write', assignLabel)

async function assignLabel(visit: Visit): Promise<Reply> {
  const { deps, visitor, form } = visit
  const service = await requireNamedService(visit, form.text('service'))
  const value = form.text('label')
  if (!LABEL.test(value)) throw new IncmonError('invalid', 'Choose one of the labels that the page offers.')
  const alias = { kind: 'label', value } as const
  await deps.engine.run(visitor.organizationId, (ctx) => assignAlias(ctx, service.id, alias, TAKEN))
  return redirect(visit, `/services/${service.id}`, 'saved')
}

export function isUnattributed({ name, namespace }: Pick<ServiceView, 'name' | 'namespace'>): boolean {
  return name === UNATTRIBUTED && namespace === ''
}

/** The labels of the firing alerts as `name=value`. */
function labelsOf(groups: ServiceView['groups']): readonly string[] {
  const labels = groups.flatMap(({ members }) => members.flatMap((alert) => Object.entries(alert.labels)))
  const found = labels.flatMap(([name, value]) => (TOO_BROAD.has(name) ? [] : [`${name}=${value}`]))
  return [...new Set(found)].sort().slice(0, MAX_LABELS)
}

export const Unattributed: FC<{ view: ServiceView }> = ({ view: { groups, csrf, canWrite } }) => {
  const labels = labelsOf(groups)
  return (
    <Section id="unattributed" title="Why these alerts are here">
      <div class="card body stack">
        <p>
          No label of these alerts names a service, and no alias matches. Add a label such as <code>service</code> to
          the alert rule, or assign one of the labels to a service: alerts that fire from then on belong to it.
        </p>
        {canWrite && labels.length > 0 ? (
          <form method="post" action="/services/alias" class="fields">
            <Hidden fields={{ csrf }} />
            <div class="field">
              <label for="label">Alerts with the label</label>
              <select id="label" name="label">
                {labels.map((label) => (
                  <option value={label}>{label}</option>
                ))}
              </select>
            </div>
            <Input id="service" label="belong to the service" hint="Its name, or namespace/name." required />
            <p>
              <Submit>Assign</Submit>
            </p>
          </form>
        ) : null}
      </div>
    </Section>
  )
}
