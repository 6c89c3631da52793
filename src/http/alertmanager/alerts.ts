/** GET /alerts and GET /alerts/groups: the firing alerts of Alertmanager and Grafana, one for each fingerprint. */
import { BUDGETS } from '../../domain/budgets.ts'
import { RESOLVE_TIMEOUT } from '../../intake/prometheus.ts'
import { findAlertsJson, type Wanted } from '../../store/alertmanager/alerts.ts'
import { findGroupsJson } from '../../store/alertmanager/groups.ts'
import type { Reply } from '../middleware/reply.ts'
import { flag, matchersIn, receiverIn } from './filters.ts'
import { groupByOf } from './receivers.ts'
import { type ApiCall, refusal } from './route.ts'

const LARGEST = BUDGETS['alertmanager-groups'].value / 2 ** 20
const TOO_LARGE = `the groups have more than ${LARGEST} MiB; ask for one receiver, or filter the alerts`

export async function getAlerts(call: ApiCall): Promise<Reply> {
  const wanted = wantedIn(call)
  if (!wanted) return jsonReply('[]')
  return jsonReply(await call.store.read(findAlertsJson, call.identity.organizationId, wanted))
}

/** Lists the groups by their labels. An alert with several receivers is in the groups of all of them. */
export async function getAlertGroups(call: ApiCall): Promise<Reply> {
  const wanted = wantedIn(call)
  const groupBy = await groupByOf(call)
  if (!wanted) return jsonReply('[]')
  const groups = { ...wanted, groupBy, muted: flag(call.c, 'muted') }
  const found = await call.store.read(findGroupsJson, call.identity.organizationId, groups)
  if (found === null) throw refusal(400, TOO_LARGE)
  return jsonReply(found)
}

/** Reads the filters. Returns null if no receiver can match. @throws Refusal 400 */
function wantedIn({ c, deps }: ApiCall): Wanted | null {
  const matchers = matchersIn(c, 'filter')
  const receiver = receiverIn(c)
  if (receiver === 'none') return null
  const flags = { active: flag(c, 'active'), silenced: flag(c, 'silenced'), inhibited: flag(c, 'inhibited') }
  return { matchers, receiver, ...flags, now: deps.now(), resolveTimeout: RESOLVE_TIMEOUT }
}

function jsonReply(body: Exclude<Reply['body'], null>): Reply {
  return { status: 200, headers: { 'content-type': 'application/json' }, body }
}
