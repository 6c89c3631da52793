/** Checks the contents of the database: integrity, settings, schema, clock, senders, tokens and channels. */

import { formatInstant } from '../instant.ts'
import { countOf, formatSeconds } from '../text.ts'
import { DAY, SECOND } from '../units.ts'
import { unreachableRemedy } from '../unreachable.ts'
import {
  type ChannelFact,
  type DatabaseContent,
  type DoctorFacts,
  type Finding,
  fail,
  ok,
  type SenderFact,
  since,
  type TokenFact,
  timesText,
  warn,
} from './facts.ts'

/** Small clock corrections are harmless. */
const SMALL_STEP = 5 * SECOND
/**
 * A sender without heartbeats may simply have nothing to send. If nothing arrives for this long, an operator should
 * check the sender.
 */
const LONG_SILENCE = 7 * DAY

export const RESTORE = 'stop the server, keep this file, and restore a backup'
const UNREADABLE = {
  foreign: ['not an incmon database, or the file header is damaged', 'choose another --database, or restore a backup'],
  damaged: ['the database is damaged', RESTORE],
  held: ['another process has locked the database', 'try again, or stop that process'],
  denied: [
    'this command cannot open the database',
    'run the command as the owner of the file; the owner must be able to write to its directory',
  ],
} as const

const CLOCK =
  'correct the clock of this machine (NTP). If the clock is already correct, wait until it passes the time of the newest event and resolve open alerts and incidents manually, or stop the server and restore a backup from before the problem'

export function diagnoseContent({ content, served, now }: DoctorFacts): Finding[] {
  if (!content) return []
  if (content.state !== 'read') {
    const [text, remedy] = UNREADABLE[content.state === 'foreign' ? 'foreign' : content.why]
    return [fail('integrity', text, remedy)]
  }
  const found = [
    ...[diagnoseIntegrity(content), diagnoseSettings(content, served), diagnoseModel(content)],
    ...(content.isCopied
      ? [ok('copy', 'Litestream has copied this database; "litestream snapshots" lists the copies')]
      : []),
  ]
  if (!content.history) return found
  const { receivedAt, senders, tokens } = content.history
  return [...found, diagnoseClock(receivedAt, now), ...diagnoseSenders(senders, now), ...diagnoseTokens(tokens, now)]
}

type ReadContent = Extract<DatabaseContent, { state: 'read' }>

function diagnoseIntegrity({ damage, brokenReferences, check }: ReadContent): Finding {
  const [first] = damage
  if (first !== undefined) {
    return fail('integrity', `${check} found ${countOf(damage.length, 'fault')}; the first: ${first}`, RESTORE)
  }
  const [reference] = brokenReferences
  if (reference !== undefined)
    return fail('integrity', `${countOf(brokenReferences.length, 'broken reference')}: ${reference}`, RESTORE)
  return ok('integrity', `the file is intact (${check})`)
}

/** Checks the settings that durability depends on: WAL, full sync, foreign keys. */
function diagnoseSettings({ settings }: ReadContent, served: boolean): Finding {
  const shown = Object.entries(settings)
    .map(([name, value]) =>
      name === 'synchronous' && value === 2 ? 'every commit is synced to disk' : `${name} ${value}`,
    )
    .join(', ')
  if (settings.synchronous !== 2 || settings.foreign_keys !== 1) {
    return fail('settings', `${shown}: a commit may be lost`, 'move the file to a local disk')
  }
  if (settings.journal_mode === 'wal') return ok('settings', shown)
  if (served) {
    const text = `${shown}, while a server is using the database`
    return warn('settings', text, 'restart the server, which sets journal_mode to wal')
  }
  // Backups and restored databases are not in WAL mode.
  return ok('settings', `${shown}; the next "incmon serve" sets journal_mode to wal`)
}

function diagnoseModel({ version, known, differences }: ReadContent): Finding {
  const [difference] = differences
  if (difference !== undefined) {
    const text = `${countOf(differences.length, 'difference')} from schema version ${version}: ${difference}`
    return fail('schema', text, RESTORE)
  }
  if (version > known) {
    const text = `schema version ${version}, but this version of incmon supports at most ${known}`
    return fail('schema', text, 'use a newer version of incmon')
  }
  if (version === known) return ok('schema', `schema version ${version}, as expected`)
  const text = `schema version ${version}, but this version of incmon uses ${known}`
  return warn('schema', text, '"incmon migrate" or the next "incmon serve" upgrades the database')
}

function diagnoseClock(receivedAt: number | null, now: number): Finding {
  if (receivedAt === null) return ok('clock', 'there is no event to compare with yet')
  const behind = receivedAt - now
  if (behind <= SMALL_STEP) return ok('clock', 'not behind the newest event')
  const cause = `${formatSeconds(Math.round(behind / SECOND))} behind the newest event: the clock was set back, or it was ahead earlier`
  const effect = 'until the clock catches up, alerts do not end automatically and missing heartbeats are not detected'
  return fail('clock', `${cause}; ${effect}`, CLOCK)
}

function diagnoseSenders(senders: readonly SenderFact[], now: number): Finding[] {
  if (senders.length === 0) {
    const remedy = 'run "incmon send-test alertmanager --token TOKEN" to send a test'
    return [warn('source', 'no sender has sent anything yet', remedy)]
  }
  return senders.flatMap((sender) => [
    diagnoseSender(sender, now),
    ...diagnoseTimes(sender),
    ...diagnoseCluster(sender, senders),
  ])
}

function diagnoseSender(sender: SenderFact, now: number): Finding {
  const { lastEventAt, heartbeatAt, heartbeatDueAt } = sender
  const name = nameOf(sender)
  if (heartbeatAt !== null && (heartbeatDueAt === null || heartbeatDueAt <= now)) {
    const text = `${name}: the last heartbeat arrived ${since(heartbeatAt, now)}; alerts from this sender may not arrive`
    return warn('source', text, 'check that the sender is running and can reach this machine')
  }
  if (lastEventAt === null) return diagnoseUnused(name, sender.lastRejectionAt, now)
  const text = `${name}: last event ${since(lastEventAt, now)}`
  if (now - lastEventAt <= LONG_SILENCE || heartbeatAt !== null) return ok('source', text)
  return warn(
    'source',
    text,
    'check that the sender still sends events here; incmon can detect that a sender is silent only if the sender has a Watchdog alert',
  )
}

function nameOf({ organization, source, cluster, receiver }: SenderFact): string {
  return [organization, cluster, source, receiver].filter(Boolean).join('/')
}

function diagnoseTimes(sender: SenderFact): Finding[] {
  const { clockOffset } = sender
  if (clockOffset === 0) return []
  const away = `${formatSeconds(Math.round(Math.abs(clockOffset) / SECOND))} ${clockOffset > 0 ? 'ahead' : 'behind'}`
  const text = `${nameOf(sender)}: the clock of this sender is ${away}; incmon corrects the times of its items`
  return [warn('source', text, 'correct the clock or the time zone of the sender (NTP)')]
}

function diagnoseCluster(sender: SenderFact, senders: readonly SenderFact[]): Finding[] {
  const others = senders.filter(
    ({ organization, namesCluster }) => organization === sender.organization && namesCluster,
  )
  if (sender.namesCluster !== false || others.length === 0) return []
  const text = `${nameOf(sender)}: items from this sender do not specify a cluster, but items from ${countOf(others.length, 'other sender')} do`
  const remedy =
    'create a token with --cluster for this sender, or configure the sender to set the cluster label (external_labels) or clusterName'
  return [warn('source', text, remedy)]
}

/** A rejected request can name a receiver that will never send a valid request, so the warning stops after a day. */
function diagnoseUnused(name: string, lastRejectionAt: number | null, now: number): Finding {
  if (lastRejectionAt === null) return ok('source', `${name}: connected, but no items yet`)
  const text = `${name}: no usable item yet; the last rejected item arrived ${since(lastRejectionAt, now)}`
  if (now - lastRejectionAt > DAY) return ok('source', text)
  return warn('source', text, 'see the item and its error on the Sources page or with GET /api/rejections')
}

/** Checks whether messages are delivered, and whether they contain links. Returns no findings without channels. */
export function diagnoseChannels({ content, publicUrl }: DoctorFacts): Finding[] {
  const channels = content?.state === 'read' ? (content.history?.channels ?? []) : []
  if (channels.length === 0) return []
  const troubles = channels.flatMap(diagnoseChannel)
  if (publicUrl === '') {
    const text = 'messages contain no links to open or acknowledge an incident'
    troubles.push(warn('channel', text, 'set public-url to the URL at which people reach this server'))
  }
  return troubles.length > 0 ? troubles : [ok('channel', 'all channels work, and messages contain links')]
}

function diagnoseChannel({ organization, name, enabled, failing }: ChannelFact): Finding[] {
  if (failing === null) return []
  const remedy = unreachableRemedy(failing) ?? 'correct the URL of the channel'
  const test = `${remedy}, then run "incmon channel test ${name}"`
  if (enabled) return [warn('channel', `${name} of ${organization} is failing: ${failing}`, test)]
  const text = `${name} of ${organization} was disabled because its receiver no longer exists: ${failing}`
  return [warn('channel', text, `run "incmon channel set ${name} --enable" with a new --url, or remove the channel`)]
}

// Checks for tokens in use that have expired or soon will.

const WEEK = 7 * 86_400_000
const MAKE_ONE =
  'create a token for a sender with "incmon token create --name alertmanager", or for a user with "--scopes read,write"'

/**
 * A token counts as in use if it was used in the last 7 days, or if it is valid but has never been used. Other tokens
 * are not reported.
 */
function diagnoseTokens(tokens: readonly TokenFact[], now: number): Finding[] {
  if (!tokens.some(({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > now))) {
    const what = tokens.length === 0 ? 'there are no tokens' : 'every token is revoked or expired'
    return [warn('token', `${what}: webhooks and API requests are rejected with 401`, MAKE_ONE)]
  }
  const found = tokens.flatMap((token) => diagnoseToken(token, now) ?? [])
  return found.length > 0 ? found : [ok('token', 'no token in use expires within 7 days')]
}

/** Returns at most a warning, because the token may be meant to expire. */
function diagnoseToken(token: TokenFact, now: number): Finding | null {
  const { organization, name, expiresAt, revokedAt, lastUsedAt } = token
  if (revokedAt !== null || expiresAt === null || expiresAt - now > WEEK) return null
  if (lastUsedAt === null ? expiresAt <= now : now - lastUsedAt > WEEK) return null
  const used = lastUsedAt === null ? 'not used yet' : `last used ${since(lastUsedAt, now)}`
  const end = formatInstant(expiresAt)
  const text =
    expiresAt <= now
      ? `expired on ${end}, ${used}: requests with this token are rejected`
      : `expires on ${end}, ${used}`
  return warn('token', `${organization}/${name}: ${text}`, remedyFor(token))
}

function remedyFor({ id, scopes, cluster }: TokenFact): string {
  const like = [`scopes ${scopes.join(',')}`, cluster && `cluster ${cluster}`].filter(Boolean).join(', ')
  const user = scopes.includes('ingest') ? 'sender' : 'caller'
  return `create a new token with "incmon token create" (${like}), use it in the configuration of the ${user}, then run "incmon token revoke ${id}"`
}

/** Returns one warning for each of the newest networks whose senders were rejected, because nobody else would notice. */
export function diagnoseRefusedSenders({ refusedSenders: { newest, more }, now }: DoctorFacts): Finding[] {
  const texts = newest.map((sender) => {
    const last = since(now - sender.agoMs, now)
    return `requests from ${sender.network} were rejected ${timesText(sender)} with 401, last ${last}`
  })
  if (more > 0) texts.push(`requests from ${countOf(more, 'more network')} were rejected with 401 in the last hour`)
  const remedy = `the token is missing or wrong: correct it in the configuration of the sender; ${MAKE_ONE}`
  return texts.map((text) => warn('token', text, remedy))
}
