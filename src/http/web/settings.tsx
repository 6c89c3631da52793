/** /settings: the visitor, the organization, its tokens and its sessions. */
import type { Child } from 'hono/jsx'
import { type FieldError, IncmonError } from '../../domain/error.ts'
import { PLANS } from '../../domain/organization.ts'
import { SCOPES } from '../../domain/token.ts'
import { changeOrganization } from '../../operations/organizations.ts'
import { changePerson, endSession } from '../../operations/sessions.ts'
import { createToken, revokeToken } from '../../operations/tokens.ts'
import { findOrganization } from '../../store/organizations.ts'
import { listSessions } from '../../store/sessions.ts'
import { listTokens } from '../../store/tokens.ts'
import { notFound } from '../middleware/problem.ts'
import type { Reply } from '../middleware/reply.ts'
import { SettingsFrame, type SettingsSection } from '../pages/settings/frame.tsx'
import { GeneralSettings, type OrganizationForm } from '../pages/settings/general.tsx'
import { RetentionSettings } from '../pages/settings/retention.tsx'
import { SessionSettings } from '../pages/settings/sessions.tsx'
import { type TokenForm, TokenSettings } from '../pages/settings/tokens.tsx'
import { oneOf } from './one-of.ts'
import { type PageRoute, page, type Visit } from './page.ts'
import { redirect, show } from './reply.ts'
import { cookieAttributes, cookieOf, sessionSecret } from './visitor.ts'

const YEAR_SECONDS = 31_536_000
const EVERY = { page: 1, limit: 500 }
const MOST_NAME = 100
const MOST_CLUSTER = 253
const NEW_TOKEN: TokenForm = { name: '', cluster: '', scopes: ['ingest'] }

export const settingsRoutes: readonly PageRoute[] = [
  page({ method: 'GET', path: '/settings', scope: 'read', handle: (visit) => showGeneral(visit) }),
  page({ method: 'POST', path: '/settings', scope: 'admin', handle: saveOrganization }),
  page({
    method: 'POST',
    path: '/settings/name',
    scope: 'read',
    handle: async (visit) => {
      await visit.store.run(changePerson, sessionSecret(visit.c), visit.form.text('person'))
      return redirect(visit, '/settings', 'renamed')
    },
  }),
  page({
    method: 'POST',
    path: '/settings/keys',
    scope: 'read',
    handle: (visit) => {
      const keys = oneOf(visit.form.text('keys'), ['on', 'off'], 'on')
      const cookie = `keys=${keys}; ${cookieAttributes(visit.c, visit)}; Max-Age=${YEAR_SECONDS}`
      return redirect(visit, '/settings', 'saved', { 'set-cookie': cookie })
    },
  }),
  page({ method: 'GET', path: '/settings/retention', scope: 'admin', handle: (visit) => showRetention(visit) }),
  page({ method: 'POST', path: '/settings/retention', scope: 'admin', handle: saveRetention }),
  page({ method: 'GET', path: '/settings/tokens', scope: 'admin', handle: (visit) => showTokens(visit) }),
  page({ method: 'POST', path: '/settings/tokens', scope: 'admin', handle: makeToken }),
  page({
    method: 'POST',
    path: '/settings/tokens/:id/revoke',
    scope: 'admin',
    handle: async (visit) => {
      await visit.store.run(revokeToken, visit.visitor.organizationId, visit.id)
      return redirect(visit, '/settings/tokens', 'token-revoked')
    },
  }),
  page({ method: 'GET', path: '/settings/sessions', scope: 'admin', handle: showSessions }),
  page({
    method: 'POST',
    path: '/settings/sessions/:id/end',
    scope: 'admin',
    handle: async (visit) => {
      await visit.store.run(endSession, visit.visitor.organizationId, visit.id)
      return redirect(visit, '/settings/sessions', 'session-ended')
    },
  }),
]

async function showGeneral(visit: Visit, typed?: OrganizationForm, faults: readonly FieldError[] = []): Promise<Reply> {
  const { visitor, c } = visit
  const { name, plan, settings } = await requireOrganization(visit)
  const stored = {
    ...{ name, plan, autoIncidents: settings['auto-incidents'] },
    ...{ autoResolve: settings['auto-resolve'], heartbeats: settings.heartbeats },
  }
  const isAdmin = visitor.scopes.includes('admin')
  const content = (
    <GeneralSettings
      csrf={visitor.csrf}
      person={visitor.actor}
      hasSession={visitor.sessionId !== null}
      hasKeys={cookieOf(c, 'keys') !== 'off'}
      organization={isAdmin ? (typed ?? stored) : null}
      faults={faults}
    />
  )
  return showSection(visit, 'general', content, faults)
}

async function saveOrganization(visit: Visit): Promise<Reply> {
  const { store, form, visitor } = visit
  const typed: OrganizationForm = {
    name: form.text('name'),
    plan: oneOf(form.text('plan'), PLANS, 'Free'),
    autoIncidents: oneOf(form.text('auto-incidents'), ['critical', 'off'], 'critical'),
    autoResolve: form.text('auto-resolve') === '1',
    heartbeats: form.text('heartbeats') === '1',
  }
  const fault = faultOfName(typed.name)
  if (fault) return showGeneral(visit, typed, [fault])
  const { autoIncidents, autoResolve, heartbeats } = typed
  const settings = { 'auto-incidents': autoIncidents, 'auto-resolve': autoResolve, heartbeats }
  const plan = oneOf(typed.plan, PLANS, 'Free')
  try {
    await store.run(changeOrganization, visitor.organizationId, { name: typed.name, plan, settings })
  } catch (error) {
    if (!(error instanceof IncmonError) || error.code !== 'conflict') throw error
    return showGeneral(visit, typed, [{ path: 'name', message: 'Another organization has this name. Choose another.' }])
  }
  return redirect(visit, '/settings', 'saved')
}

async function showRetention(
  visit: Visit,
  typed?: { events: string; alerts: string },
  faults: readonly FieldError[] = [],
): Promise<Reply> {
  const { settings } = await requireOrganization(visit)
  const stored = {
    events: String(settings['retention-events-days']),
    alerts: String(settings['retention-alerts-days']),
  }
  const content = <RetentionSettings csrf={visit.visitor.csrf} {...(typed ?? stored)} faults={faults} />
  return showSection(visit, 'retention', content, faults)
}

async function saveRetention(visit: Visit): Promise<Reply> {
  const { store, form, visitor } = visit
  const typed = { events: form.text('events'), alerts: form.text('alerts') }
  const faults = (['events', 'alerts'] as const).flatMap((path) =>
    /^[1-9]\d{0,3}$/.test(typed[path]) && Number(typed[path]) <= 3650
      ? []
      : [{ path, message: 'Write a whole number of days from 1 to 3650.' }],
  )
  if (faults.length === 0 && Number(typed.events) > Number(typed.alerts))
    faults.push({ path: 'events', message: 'Events cannot be kept longer than alerts. Write a smaller number.' })
  if (faults.length > 0) return showRetention(visit, typed, faults)
  const [events, alerts] = [Number(typed.events), Number(typed.alerts)]
  const settings = { 'retention-events-days': events, 'retention-alerts-days': alerts }
  await store.run(changeOrganization, visitor.organizationId, { settings })
  return redirect(visit, '/settings/retention', 'saved')
}

async function showTokens(
  visit: Visit,
  { form = NEW_TOKEN, faults = [], created = null }: Partial<Parameters<typeof TokenSettings>[0]> = {},
): Promise<Reply> {
  const { store, visitor, now } = visit
  const { items } = await store.read(listTokens, visitor.organizationId, EVERY)
  const tokens = items.filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now),
  )
  const reader = { now, zone: 'UTC' }
  const content = <TokenSettings {...{ csrf: visitor.csrf, reader, tokens, form, faults, created }} />
  return showSection(visit, 'tokens', content, faults, created !== null)
}

async function makeToken(visit: Visit): Promise<Reply> {
  const { store, form, visitor } = visit
  const typed = { name: form.text('name'), cluster: form.text('cluster'), scopes: form.texts('scope') }
  const scopes = SCOPES.filter((scope) => typed.scopes.includes(scope))
  const fault = faultOfName(typed.name)
  const faults = [
    ...(fault ? [fault] : []),
    ...(typed.cluster.length > MOST_CLUSTER ? [{ path: 'cluster', message: 'At most 253 characters.' }] : []),
    ...(scopes.length === 0 ? [{ path: '', message: 'Choose at least one thing that the token may do.' }] : []),
  ]
  if (faults.length > 0) return showTokens(visit, { form: typed, faults })
  const { organizationId } = visitor
  const { token } = await store.run(createToken, { organizationId, name: typed.name, cluster: typed.cluster, scopes })
  return showTokens(visit, { created: { name: typed.name, secret: token } })
}

async function showSessions(visit: Visit): Promise<Reply> {
  const { store, visitor, now } = visit
  const open = await store.read(listSessions, visitor.organizationId, now)
  const sessions = open.map((session) => ({
    ...session,
    isOwn: session.id === visitor.sessionId,
  }))
  const content = <SessionSettings csrf={visitor.csrf} reader={{ now, zone: 'UTC' }} sessions={sessions} />
  return showSection(visit, 'sessions', content)
}

function showSection(
  visit: Visit,
  current: SettingsSection,
  section: Child,
  faults: readonly FieldError[] = [],
  still = false,
): Promise<Reply> {
  const isAdmin = visit.visitor.scopes.includes('admin')
  const content = (
    <SettingsFrame current={current} isAdmin={isAdmin}>
      {section}
    </SettingsFrame>
  )
  return show(visit, { title: 'Settings', content, current: 'settings', status: faults.length > 0 ? 400 : 200, still })
}

async function requireOrganization({ store, visitor }: Visit) {
  const organization = await store.read(findOrganization, visitor.organizationId)
  if (!organization) throw notFound('organization', 'incmon org list')
  return organization
}

function faultOfName(name: string): FieldError | null {
  if (name === '') return { path: 'name', message: 'Write a name.' }
  return name.length > MOST_NAME ? { path: 'name', message: 'At most 100 characters.' } : null
}
