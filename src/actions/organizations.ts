import { IncmonError } from '../domain/error.ts'
import { isPrintable, type Plan, type Settings } from '../domain/organization.ts'
import {
  findOrganization,
  findOrganizationByName,
  insertOrganization,
  type OrganizationRecord,
} from '../store/organizations.ts'
import type { Deps } from './deps.ts'

/**
 * Creates an organization.
 * @throws IncmonError `conflict` if the name is taken; `invalid` if the name contains control characters
 */
export function createOrganization(
  deps: Deps,
  wanted: { readonly name: string; readonly plan: Plan },
): OrganizationRecord {
  return deps.db.transaction(() => {
    refuseUnusable(deps, wanted.name)
    insertOrganization(deps.db, { id: deps.newId(), createdAt: deps.now(), ...wanted })
    return required(findOrganizationByName(deps.db, wanted.name))
  })
}

/**
 * Updates the given fields and settings.
 * @throws IncmonError `conflict` if the name is taken; `invalid` if the name contains control characters, or if alerts
 * would be deleted before their events
 */
export async function changeOrganization(
  deps: Deps,
  rowId: number,
  change: {
    readonly name?: string | undefined
    readonly plan?: Plan | undefined
    readonly settings?: { readonly [Name in keyof Settings]?: Settings[Name] | undefined } | undefined
  },
): Promise<OrganizationRecord> {
  const after = await deps.engine.run(rowId, (ctx) => {
    const before = required(findOrganization(deps.db, rowId))
    const { name = before.name, plan = before.plan } = change
    if (name !== before.name) refuseUnusable(deps, name)
    const named = Object.entries(change.settings ?? {}).filter(([, value]) => value !== undefined)
    const settings: Settings = { ...before.settings, ...Object.fromEntries(named) }
    refuseShortAlerts(settings)
    ctx.emit({ kind: 'organization-changed', organizationId: rowId, id: before.id, name, plan, settings })
    return { ...before, name, plan, settings }
  })
  deps.announce({ kind: 'organization', id: after.id, organizationId: rowId })
  return after
}

/** Events describe their alert, so alerts must be kept at least as long as events. */
function refuseShortAlerts(settings: Settings): void {
  const [events, alerts] = [settings['retention-events-days'], settings['retention-alerts-days']]
  if (events <= alerts) return
  const message = `events cannot be kept longer than alerts, which are kept for ${alerts} days; change both values together`
  throw new IncmonError('invalid', `settings: ${message}`, [{ path: 'settings.retention-events-days', message }])
}

function refuseUnusable(deps: Deps, name: string): void {
  if (!isPrintable(name)) {
    const message = 'control characters are not allowed; use printable characters'
    throw new IncmonError('invalid', `name: ${message}`, [{ path: 'name', message }])
  }
  if (findOrganizationByName(deps.db, name)) {
    throw new IncmonError('conflict', `an organization named ${name} already exists: choose another name`)
  }
}

function required(organization: OrganizationRecord | undefined): OrganizationRecord {
  if (!organization) throw new IncmonError('not-found', 'no such organization')
  return organization
}
