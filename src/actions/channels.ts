/** Creates, changes and deletes notification channels. */
import { IncmonError, invalidField } from '../domain/error.ts'
import { type ChannelSettings, DEFAULT_CHANNEL } from '../domain/notification/channel.ts'
import type { ChannelKind } from '../domain/notification/format.ts'
import { quietHoursFault } from '../domain/notification/rule.ts'
import { maskTarget, targetFault } from '../domain/notification/target.ts'
import { MAX_COST } from '../domain/silence/expression.ts'
import { costOfAll, matchersFault } from '../domain/silence/matcher.ts'
import { isTimeZone } from '../domain/time-zone.ts'
import {
  type ChannelRecord,
  deleteChannel,
  findChannel,
  findChannelByName,
  insertChannel,
  listRecipients,
  loadChannelSecrets,
  MAX_CHANNELS,
  replaceChannelSecrets,
  updateChannel,
} from '../store/notification/channels.ts'
import { retryNotificationsNow } from '../store/notification/outbox.ts'
import { catchUp, rescheduleHeld } from './channel-rules.ts'
import type { Deps } from './deps.ts'

/** How long messages are also signed with the previous secret after a rotation. */
const BOTH_SECRETS_FOR = 24 * 3_600_000

/** Omitted settings stay unchanged. */
type Given = { readonly [Name in keyof ChannelSettings]?: ChannelSettings[Name] | undefined }

type WantedChannel = Given & {
  readonly name: string
  readonly kind: ChannelKind
  /** The complete URL, or the mail addresses. */
  readonly target: string
}

/**
 * Creates a channel. `secret`: the key for signing webhook messages, which is never returned again; null for other
 * kinds.
 * @throws IncmonError `invalid`; `conflict` if the name is taken
 */
export function createChannel(deps: Deps, organizationId: number, wanted: WantedChannel) {
  const { name, kind, target, ...given } = wanted
  const settings = settingsOf(DEFAULT_CHANNEL, given)
  refuseTarget(kind, target)
  const acknowledging = newSigningSecret(deps)
  const signing = kind === 'webhook' ? newSigningSecret(deps) : null
  const id = deps.newId()
  deps.db.transaction(() => {
    refuseTaken(deps, organizationId, name)
    const others = listRecipients(deps.db, organizationId)
    if (others.length >= MAX_CHANNELS) {
      throw new IncmonError('conflict', `there are already ${MAX_CHANNELS} channels: delete an unused one`)
    }
    refuseExpressions(others, settings.rules)
    const shown = { target: maskTarget(kind, target), enabled: true, settings, createdAt: deps.now() }
    const secrets = { target, acknowledging, signing, earlier: null, earlierUntil: null }
    insertChannel(deps.db, { id, organizationId, name, kind, ...shown }, secrets)
    catchUp(deps, requireChannel(deps, organizationId, id))
  })
  deps.announce({ kind: 'channel', id, organizationId })
  return { id, secret: signing }
}

type ChannelChange = Given & {
  readonly name?: string | undefined
  readonly target?: string | undefined
  readonly enabled?: boolean | undefined
}

/**
 * Updates the given fields. If the URL changes or the channel is enabled, pending messages are sent immediately. A channel
 * that is enabled or whose rules change is told what it missed. What waits for the end of quiet hours waits for the end of
 * the new ones.
 * @throws IncmonError `not-found`, `invalid`, `conflict`
 */
export function changeChannel(deps: Deps, organizationId: number, id: string, change: ChannelChange): void {
  deps.db.transaction(() => {
    const before = requireChannel(deps, organizationId, id)
    const { name = before.name, enabled = before.enabled, target, ...given } = change
    if (name !== before.name) refuseTaken(deps, organizationId, name)
    if (target !== undefined) refuseTarget(before.kind, target)
    const secrets = loadChannelSecrets(deps.db, before.rowId)
    if (target !== undefined && secrets) replaceChannelSecrets(deps.db, before.rowId, { ...secrets, target })
    const shown = target === undefined ? before.target : maskTarget(before.kind, target)
    const settings = settingsOf(before.settings, given)
    if (given.rules !== undefined) {
      const all = listRecipients(deps.db, organizationId)
      refuseExpressions(
        all.filter((one) => one.rowId !== before.rowId),
        given.rules,
      )
    }
    updateChannel(deps.db, before.rowId, { name, enabled, settings, target: shown })
    if (target !== undefined || enabled !== before.enabled) retryNotificationsNow(deps.db, before.rowId, deps.now())
    const after = { ...before, enabled, settings }
    const isOther = given.rules !== undefined || enabled !== before.enabled
    if (isOther) rescheduleHeld(deps, after)
    if (isOther || given.escalateAfter !== undefined) catchUp(deps, after)
  })
  deps.announce({ kind: 'channel', id, organizationId })
}

/** Deletes a channel with its secrets and deliveries. @throws IncmonError `not-found` */
export function removeChannel(deps: Deps, organizationId: number, id: string): void {
  deps.db.transaction(() => deleteChannel(deps.db, requireChannel(deps, organizationId, id).rowId))
  deps.announce({ kind: 'channel', id, organizationId })
}

/**
 * Creates and returns a new signing secret. For the next 24 hours, messages are signed with both the old and the new
 * secret.
 * @throws IncmonError
 */
export function rotateSecret(deps: Deps, organizationId: number, id: string): string {
  return deps.db.transaction(() => {
    const channel = requireChannel(deps, organizationId, id)
    const secrets = loadChannelSecrets(deps.db, channel.rowId)
    if (!secrets || channel.kind !== 'webhook') {
      throw new IncmonError('conflict', `a ${channel.kind} channel has no signing secret`)
    }
    const signing = newSigningSecret(deps)
    const earlier = { earlier: secrets.signing, earlierUntil: deps.now() + BOTH_SECRETS_FOR }
    replaceChannelSecrets(deps.db, channel.rowId, { ...secrets, signing, ...earlier })
    return signing
  })
}

/** Returns a secret in Standard Webhooks format, which is `whsec_` followed by the key in Base64. */
function newSigningSecret(deps: Deps): string {
  return `whsec_${Buffer.from(deps.newSecret(), 'base64url').toString('base64')}`
}

const TOO_LARGE =
  'the regular expressions of all rules together are too large: use = instead of =~, or services and namespaces'

/** Each message is compared with all rules. */
function refuseExpressions(channels: readonly ChannelRecord[], rules: ChannelSettings['rules']): void {
  const own = costOfRules(rules)
  const others = channels.reduce((sum, { settings }) => sum + costOfRules(settings.rules), 0)
  if (own > 0 && own + others > MAX_COST) throw new IncmonError('conflict', TOO_LARGE)
}

function costOfRules(rules: ChannelSettings['rules']): number {
  return rules.reduce((sum, { matchers = [] }) => sum + costOfAll(matchers), 0)
}

function settingsOf(before: ChannelSettings, { rules, timeZone, ...minutes }: Given): ChannelSettings {
  if (costOfRules(rules ?? []) > MAX_COST) throw new IncmonError('conflict', TOO_LARGE)
  for (const [index, { quietHours, matchers }] of (rules ?? []).entries()) {
    const wrong = matchers ? matchersFault(matchers) : null
    if (wrong !== null) throw invalidField('body', `rules[${index}].matchers`, wrong)
    const fault = quietHours ? quietHoursFault(quietHours) : null
    if (fault) throw invalidField('body', `rules[${index}].quietHours.${fault.path}`, fault.message)
  }
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    throw invalidField('body', 'timeZone', 'expected a time zone such as Europe/Berlin')
  }
  const given = Object.entries({ rules, timeZone, ...minutes }).filter(([, value]) => value !== undefined)
  return { ...before, ...Object.fromEntries(given) }
}

function refuseTarget(kind: ChannelKind, target: string): void {
  const fault = targetFault(kind, target)
  if (fault !== null) throw invalidField('body', kind === 'mail' ? 'to' : 'url', fault)
}

function refuseTaken(deps: Deps, organizationId: number, name: string): void {
  if (!findChannelByName(deps.db, organizationId, name)) return
  throw new IncmonError('conflict', `a channel named ${name} already exists: choose another name`)
}

function requireChannel(deps: Deps, organizationId: number, id: string): ChannelRecord {
  const channel = findChannel(deps.db, organizationId, id)
  if (!channel)
    throw new IncmonError('not-found', 'this organization has no such channel; GET /api/channels lists all channels')
  return channel
}
