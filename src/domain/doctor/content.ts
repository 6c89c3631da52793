/** Diagnosis of what the file holds: whether it is sound and ours, of which data model, who is still heard, and may call. */

import { counted, shownDuration } from '../postmortem/words.ts'
import { type Content, type Facts, type Finding, fail, ok, type SenderFact, since, warn } from './facts.ts'
import { diagnoseTokens } from './tokens.ts'

const SECOND = 1_000
const DAY = 86_400_000
/** A clock may be set back a little without harm. */
const SMALL_STEP = 5 * SECOND
/** A sender without a heartbeat has a reason to be silent: nothing is wrong. After this long somebody should look. */
const LONG_SILENCE = 7 * DAY

/** What is left to do about a damaged file. */
export const RESTORE = 'stop the server, keep this file, and restore a copy'
const UNREADABLE = {
  foreign: ['it is no database of incmon, or its beginning is damaged', 'name another --database, or restore a copy'],
  damaged: ['it is damaged', RESTORE],
  held: ['another process holds it, and lets nobody read', 'try again, or stop that process'],
  denied: ['it cannot be opened here', 'run this as the owner of the file, where its directory may be written'],
} as const

const CLOCK =
  'set the clock of this machine (NTP); where it is right by now, wait until then and end by hand what is open (PATCH /api/alerts/:id, /api/incidents/:id), or stop the server and restore a copy from before it was ahead'

export function diagnoseContent({ content, served, now }: Facts): Finding[] {
  if (!content) return []
  if (content.state !== 'read') {
    const [text, remedy] = UNREADABLE[content.state === 'foreign' ? 'foreign' : content.why]
    return [fail('integrity', text, remedy)]
  }
  const found = [diagnoseIntegrity(content), diagnoseSettings(content, served), diagnoseModel(content)]
  if (!content.history) return found
  const { receivedAt, senders, tokens } = content.history
  return [...found, diagnoseClock(receivedAt, now), ...diagnoseSenders(senders, now), ...diagnoseTokens(tokens, now)]
}

type Read = Extract<Content, { state: 'read' }>

function diagnoseIntegrity({ damage, brokenReferences, check }: Read): Finding {
  const [first] = damage
  if (first !== undefined) {
    return fail('integrity', `${check} found ${counted(damage.length, 'fault')}; the first: ${first}`, RESTORE)
  }
  const [reference] = brokenReferences
  if (reference !== undefined)
    return fail('integrity', `${counted(brokenReferences.length, 'broken reference')}: ${reference}`, RESTORE)
  return ok('integrity', `${check} found nothing wrong`)
}

/** What the promise rests on: WAL, every commit synced, references checked. */
function diagnoseSettings({ settings }: Read, served: boolean): Finding {
  const shown = Object.entries(settings)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
  if (settings.synchronous !== 2 || settings.foreign_keys !== 1) {
    return fail('settings', `${shown}: a commit may be lost`, 'move the file to a local disk')
  }
  if (settings.journal_mode === 'wal') return ok('settings', shown)
  if (served)
    return warn('settings', `${shown}, while it is served`, 'start the server again: it sets journal_mode to wal')
  // Every copy is so, and what was just restored from one.
  return ok('settings', `${shown}; the next "incmon serve" sets journal_mode to wal`)
}

function diagnoseModel({ version, known, differences }: Read): Finding {
  const [difference] = differences
  if (difference !== undefined) {
    return fail(
      'schema',
      `${counted(differences.length, 'difference')} to data model ${version}: ${difference}`,
      RESTORE,
    )
  }
  if (version > known) {
    return fail('schema', `data model ${version}, this incmon knows ${known}`, 'use the newer incmon')
  }
  if (version === known) return ok('schema', `data model ${version}, as this incmon`)
  return warn(
    'schema',
    `data model ${version}, this incmon has ${known}`,
    '"incmon migrate" or the next "incmon serve" brings it up to date',
  )
}

function diagnoseClock(receivedAt: number | null, now: number): Finding {
  if (receivedAt === null) return ok('clock', 'nothing was received yet that it could be held against')
  const behind = receivedAt - now
  if (behind <= SMALL_STEP) return ok('clock', 'not before the newest event')
  const text = `${shownDuration(Math.round(behind / SECOND))} before the newest event: it was set back, or was ahead`
  return fail('clock', `${text}; nothing ends or fades by itself until then, and no silence is noticed`, CLOCK)
}

function diagnoseSenders(senders: readonly SenderFact[], now: number): Finding[] {
  if (senders.length > 0) return senders.map((sender) => diagnoseSender(sender, now))
  return [warn('source', 'nobody has sent anything yet', '"incmon send-test metrics --token TOKEN" tries the way')]
}

function diagnoseSender(sender: SenderFact, now: number): Finding {
  const { organization, source, cluster, receiver, lastEventAt, heartbeatAt, heartbeatDueAt } = sender
  const name = [organization, cluster, source, receiver].filter(Boolean).join('/')
  if (heartbeatAt !== null && (heartbeatDueAt === null || heartbeatDueAt <= now)) {
    const text = `${name}: the last heartbeat came ${since(heartbeatAt, now)}: its alerts may not arrive`
    return warn('source', text, 'look whether the sender runs, and reaches this machine')
  }
  if (lastEventAt === null) return diagnoseUnused(name, sender.lastRejectionAt, now)
  const text = `${name}: last event ${since(lastEventAt, now)}`
  if (now - lastEventAt <= LONG_SILENCE || heartbeatAt !== null) return ok('source', text)
  return warn('source', text, 'look whether it still sends here; a Watchdog alert would tell by itself')
}

/** A bad request may name no receiver, so that nothing good ever comes under its name: after a day it is no fault. */
function diagnoseUnused(name: string, lastRejectionAt: number | null, now: number): Finding {
  if (lastRejectionAt === null) return ok('source', `${name}: heard, and without any item yet`)
  const text = `${name}: nothing usable yet; the last unusable item came ${since(lastRejectionAt, now)}`
  if (now - lastRejectionAt > DAY) return ok('source', text)
  return warn('source', text, 'GET /api/rejections shows it, and what is wrong with it')
}
