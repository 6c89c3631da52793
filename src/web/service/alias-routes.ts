/** The form on the page of `unattributed`, which assigns a label of an alert to a service. */
import { IncmonError } from '../../domain/error.ts'
import { assignAlias } from '../../engine/changes/services.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { type PageRoute, page, type Visit } from '../page.ts'
import { requireNamedService } from '../visit/named-service.ts'
import { redirect } from '../visit/reply.ts'

const LABEL = /^[^=]{1,253}=.{1,1000}$/s
const TAKEN = 'this label already belongs to another service; remove it there first'

export const aliasRoutes: readonly PageRoute[] = [page('POST /services/alias', 'write', assignLabel)]

async function assignLabel(visit: Visit): Promise<Reply> {
  const { deps, visitor, form } = visit
  const service = await requireNamedService(visit, form.text('service'))
  const value = form.text('label')
  if (!LABEL.test(value)) throw new IncmonError('invalid', 'Choose one of the labels that the page offers.')
  const alias = { kind: 'label', value } as const
  await deps.engine.run(visitor.organizationId, (ctx) => assignAlias(ctx, service.id, alias, TAKEN))
  return redirect(visit, `/services/${service.id}`, 'saved')
}
