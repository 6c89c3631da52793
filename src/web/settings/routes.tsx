/** /settings and the pages below: the visitor, the organization, the retention of records, tokens and sessions. */

import { changeOrganization } from '../../actions/organizations.ts'
import { changePerson, endSession } from '../../actions/sessions.ts'
import { createToken, revokeToken } from '../../actions/tokens.ts'
import { PLANS } from '../../domain/organization.ts'
import { SCOPES } from '../../domain/request/token.ts'
import { isShownZone } from '../../domain/shown-time.ts'
import { organizationChangeBody } from '../../http/api/organization.ts'
import { newTokenBody } from '../../http/api/tokens.ts'
import { required } from '../../http/middleware/problem.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { findOrganization } from '../../store/organizations.ts'
import { listSessions } from '../../store/sessions.ts'
import { listTokens } from '../../store/tokens.ts'
import type { Fault } from '../kit/form.tsx'
import { type PageRoute, page, type Visit } from '../page.ts'
import { type FieldNames, validated, withFormErrors } from '../visit/apply.ts'
import { choiceOf } from '../visit/choice.ts'
import { numberOrText } from '../visit/form.ts'
import { redirect } from '../visit/reply.ts'
import { choiceCookie, cookieOf, sessionOf, ZONE_COOKIE } from '../visit/visitor.ts'
import { GeneralSettings, type OrganizationForm, type RetentionForm, RetentionSettings } from './general.tsx'
import { showSection } from './section-routes.tsx'
import { SessionSettings, type TokenForm, TokenSettings } from './tokens.tsx'

const FIELDS: FieldNames = {
  name: ['name', 'Name'],
  'settings.time-zone': ['time-zone', 'Time zone'],
  'settings.prometheus-url': ['prometheus-url', 'Prometheus'],
  'settings.group-by': ['group-by', 'Group alerts by'],
  'settings.deploy-silence-minutes': ['deploy-silence-minutes', 'Silence during a deploy'],
  'settings.retention-events-days': ['events', 'Keep events for'],
  'settings.retention-alerts-days': ['alerts', 'Keep alerts for'],
  'settings.retention-incidents-days': ['incidents', 'Keep postmortems for'],
}

export const settingsPages: readonly PageRoute[] = [
  page('GET /settings', 'read', (visit) => showGeneral(visit, {})),
  page('POST /settings', 'admin', saveGeneral),
  page('POST /settings/name', 'read', async (visit) => {
    const session = await sessionOf(visit.c, visit)
    await visit.store.run(changePerson, session?.secret ?? '', visit.form.text('person'))
    return redirect(visit, '/settings', 'renamed')
  }),
  page('POST /settings/keys', 'read', (visit) =>
    keep(visit, 'keys', choiceOf(visit.form.text('keys'), ['on', 'off'], 'on')),
  ),
  page('POST /settings/zone', 'read', saveZone),
  page('GET /settings/retention', 'admin', (visit) => showRetention(visit)),
  page('POST /settings/retention', 'admin', saveRetention),
  page('GET /settings/tokens', 'admin', (visit) => showTokens(visit)),
  page('POST /settings/tokens', 'admin', makeToken),
  endPage('/settings/tokens', 'revoke', revokeToken, 'token-revoked'),
  page('GET /settings/sessions', 'admin', showSessions),
  endPage('/settings/sessions', 'end', endSession, 'session-ended'),
]

type Shown = { readonly typed?: OrganizationForm; readonly typedZone?: string; readonly faults?: readonly Fault[] }

async function showGeneral(visit: Visit, { typed, typedZone, faults = [] }: Shown): Promise<Reply> {
  const { visitor, c } = visit
  const { name, plan, settings } = await requireOrganization(visit)
  const stored = {
    ...{ name, plan, ...settings, 'group-by': settings['group-by'].join(', ') },
    'deploy-silence-minutes': `${settings['deploy-silence-minutes']}`,
    'auto-resolve': `${settings['auto-resolve']}`,
  }
  const isAdmin = visitor.scopes.includes('admin')
  const content = (
    <GeneralSettings
      person={visitor.actor}
      hasSession={visitor.sessionId !== null}
      hasKeys={cookieOf(c, 'keys') !== 'off'}
      ownZone={typedZone ?? cookieOf(c, ZONE_COOKIE)}
      commonZone={settings['time-zone']}
      organization={isAdmin ? (typed ?? stored) : null}
      faults={faults}
    />
  )
  return showSection(visit, { current: 'general', content, faults })
}

/** An empty value selects the organization's time zone. */
function saveZone(visit: Visit): Reply | Promise<Reply> {
  const zone = visit.form.zone('own-zone')
  if (zone === '' || isShownZone(zone)) return keep(visit, ZONE_COOKIE, zone)
  const message = 'This time zone does not exist. Choose one from the list, such as Europe/Berlin.'
  return showGeneral(visit, { typedZone: zone, faults: [{ path: 'own-zone', label: 'Your time zone', message }] })
}

function keep(visit: Visit, name: string, value: string): Reply {
  return redirect(visit, '/settings', 'saved', choiceCookie(visit.c, visit, name, value))
}

function saveGeneral(visit: Visit): Promise<Reply> {
  const { form } = visit
  const typed: OrganizationForm = {
    ...form.record(['name', 'deploy-silence-minutes', 'auto-resolve', 'prometheus-url', 'group-by']),
    plan: choiceOf(form.text('plan'), PLANS, 'Free'),
    'time-zone': form.zone('time-zone'),
    'auto-incidents': choiceOf(form.text('auto-incidents'), ['critical', 'off'], 'critical'),
    heartbeats: form.text('heartbeats') === '1',
  }
  const { name, plan, ...settings } = typed
  const minutes = numberOrText(settings['deploy-silence-minutes'] || '0')
  const body = {
    name,
    plan,
    settings: {
      ...settings,
      'deploy-silence-minutes': minutes,
      'auto-resolve': numberOrText(settings['auto-resolve'] || 'off'),
      'group-by': settings['group-by'].split(',').flatMap((name) => name.trim() || []),
    },
  }
  return save(visit, '/settings', body, (faults) => showGeneral(visit, { typed, faults }))
}

async function showRetention(visit: Visit, typed?: RetentionForm, faults: readonly Fault[] = []): Promise<Reply> {
  const { settings } = await requireOrganization(visit)
  const stored = {
    events: `${settings['retention-events-days']}`,
    alerts: `${settings['retention-alerts-days']}`,
    incidents: `${settings['retention-incidents-days']}`,
  }
  const content = <RetentionSettings form={typed ?? stored} faults={faults} />
  return showSection(visit, { current: 'retention', content, faults })
}

function saveRetention(visit: Visit): Promise<Reply> {
  const typed = visit.form.record(['events', 'alerts', 'incidents'])
  const settings = {
    'retention-events-days': numberOrText(typed.events),
    'retention-alerts-days': numberOrText(typed.alerts),
    'retention-incidents-days': numberOrText(typed.incidents),
  }
  return save(visit, '/settings/retention', { settings }, (faults) => showRetention(visit, typed, faults))
}

/** Changes the organization just like the API does. `again` renders the form with its errors. */
async function save(
  visit: Visit,
  path: string,
  body: unknown,
  again: (faults: readonly Fault[]) => Promise<Reply>,
): Promise<Reply> {
  const attempt = await withFormErrors(FIELDS, () =>
    visit.own.run(changeOrganization, validated(organizationChangeBody, body)),
  )
  return 'done' in attempt ? redirect(visit, path, 'saved') : again(attempt.faults)
}

function requireOrganization({ own }: Visit) {
  return required(own.read(findOrganization), 'organization', 'incmon org list')
}

const EVERY = { page: 1, limit: 500 }
const NEW_TOKEN: TokenForm = { name: '', cluster: '', scopes: ['ingest'] }
const TOKEN_FIELDS: FieldNames = {
  name: ['name', 'Name'],
  cluster: ['cluster', 'Cluster'],
  scopes: ['scopes', 'Scopes'],
}

function endPage(
  list: string,
  action: string,
  operation: typeof revokeToken,
  done: 'token-revoked' | 'session-ended',
): PageRoute {
  const handle = async (visit: Visit) => {
    await visit.own.run(operation, visit.id)
    return redirect(visit, list, done)
  }
  return page(`POST ${list}/:id/${action}`, 'admin', handle)
}

async function showTokens(
  visit: Visit,
  { form = NEW_TOKEN, faults = [], created = null }: Partial<Parameters<typeof TokenSettings>[0]> = {},
): Promise<Reply> {
  const { own, now } = visit
  const { items } = await own.read(listTokens, EVERY)
  const tokens = items.filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now),
  )
  const content = <TokenSettings {...{ tokens, form, faults, created }} />
  return showSection(visit, { current: 'tokens', content, faults, still: created !== null })
}

async function makeToken(visit: Visit): Promise<Reply> {
  const { store, form, visitor } = visit
  const typed = { name: form.text('name'), cluster: form.text('cluster'), scopes: form.texts('scope') }
  const attempt = await withFormErrors(TOKEN_FIELDS, () => {
    const body = validated(newTokenBody, typed)
    const scopes = SCOPES.filter((scope) => body.scopes.includes(scope))
    return store.run(createToken, { ...body, scopes, organizationId: visitor.organizationId })
  })
  if (!('done' in attempt)) return showTokens(visit, { form: typed, faults: attempt.faults })
  return showTokens(visit, { created: { name: typed.name, secret: attempt.done.token } })
}

async function showSessions(visit: Visit): Promise<Reply> {
  const { own, visitor, now } = visit
  const open = await own.read(listSessions, now)
  const sessions = open.map((session) => ({ ...session, isOwn: session.id === visitor.sessionId }))
  const content = <SessionSettings sessions={sessions} />
  return showSection(visit, { current: 'sessions', content })
}
