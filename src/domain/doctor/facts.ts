/** The facts on which a diagnosis is based, and the findings of a diagnosis. */

import type { Limits } from '../limits.ts'
import type { Scope } from '../request/token.ts'
import type { LiveSender } from '../sender/sender.ts'
import { formatDuration } from '../shown-time.ts'
import { countOf, formatSeconds } from '../text.ts'
import { SECOND } from '../units.ts'
import type { Certificate } from './certificate.ts'

/** `remedy`: one line, or null if there is nothing to do. */
export type Finding = {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: string
  readonly remedy: string | null
}

/** `mode`: permission bits. `writable`: whether the current user can write to the file. Sizes are in bytes. */
export type FileEntry = {
  readonly path: string
  readonly mode: number
  readonly uid: number
  readonly size: number
  readonly readable: boolean
  readonly writable: boolean
}

/**
 * The networks whose webhook requests were rejected within the last hour because of invalid tokens. `newest`: the most
 * recent networks. `more`: the number of all other networks.
 */
export type RefusedSenders = { readonly newest: readonly RefusedSender[]; readonly more: number }

/**
 * `times`: the number of rejections in a series without an hour's pause. `withinMs`: the length of the series. `agoMs`:
 * the time since the last rejection.
 */
type RefusedSender = {
  readonly network: string
  readonly times: number
  readonly withinMs: number
  readonly agoMs: number
}

/** Returns `120 times in 3 h`. */
export function timesText({ times, withinMs }: RefusedSender): string {
  if (times === 1) return '1 time'
  return `${countOf(times, 'time')} ${withinMs < SECOND ? 'within a second' : `in ${formatDuration(withinMs)}`}`
}

/** Times in ms UTC. */
export type SenderFact = Pick<
  LiveSender,
  'cluster' | 'receiver' | 'lastEventAt' | 'lastRejectionAt' | 'heartbeatAt' | 'heartbeatDueAt' | 'namesCluster'
> & {
  readonly organization: string
  readonly source: string
  /** How far the sender's clock is ahead of the server's, in ms; negative if behind. */
  readonly clockOffset: number
}

/** Times in ms UTC. */
export type TokenFact = {
  readonly id: string
  readonly organization: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** The cluster assigned to the token, or ''. */
  readonly cluster: string
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly lastUsedAt: number | null
}

/** `failing`: why the last attempt failed; null if it succeeded. */
export type ChannelFact = {
  readonly organization: string
  readonly name: string
  readonly enabled: boolean
  readonly failing: string | null
}

/** How much of a limit an organization uses. */
export type UsageFact = { readonly organization: string; readonly limit: CountedLimit; readonly used: number }

/** The limits that are counted in a file. */
type CountedLimit = 'live-alerts' | 'services' | 'channels' | 'tokens' | 'silences' | 'senders'

/**
 * The contents of a database file. `version` is the schema version of the file, and `known` is that of the program.
 */
export type DatabaseContent =
  | { readonly state: 'foreign' }
  | { readonly state: 'unreadable'; readonly why: 'foreign' | 'damaged' | 'held' | 'denied' }
  | {
      readonly state: 'read'
      readonly version: number
      readonly known: number
      readonly settings: Readonly<Record<'journal_mode' | 'synchronous' | 'foreign_keys', string | number>>
      readonly check: string
      /** The errors reported by the integrity check; empty if there are none. */
      readonly damage: readonly string[]
      /** How the tables in the file differ from the expected schema. */
      readonly differences: readonly string[]
      /** Whether Litestream copies the database, or copied it before. */
      readonly isCopied: boolean
      /** References to missing rows. Only a full check of an undamaged file looks for such references. */
      readonly brokenReferences: readonly string[]
      /** Null if the schema version is unknown, because in that case the tables cannot be read. */
      readonly history: {
        readonly receivedAt: number | null
        readonly senders: readonly SenderFact[]
        readonly tokens: readonly TokenFact[]
        readonly channels: readonly ChannelFact[]
        /** Empty if the schema version is not that of the program. */
        readonly usage: readonly UsageFact[]
      } | null
    }

/** What is using the port. `denied`: listening on the port fails with the error code `code`. */
type Port =
  | { readonly state: 'any' | 'free' | 'other' }
  /** `certificate` is null for plain HTTP. */
  | { readonly state: 'incmon'; readonly unready: string | null; readonly certificate: Certificate | null }
  | { readonly state: 'denied'; readonly code: string }
  /** The server uses TLS but plain HTTP is configured, or vice versa. */
  | { readonly state: 'changed'; readonly address: string }
  /** A server is using the file, but this command cannot connect to it. `why` includes the remedy. */
  | { readonly state: 'unreachable'; readonly why: string }

export type DoctorFacts = {
  readonly now: number
  /** The current user; null on systems without user IDs. */
  readonly uid: number | null
  readonly faults: readonly string[]
  /** What is wrong with the files that settings name, and what to do. */
  readonly settingFaults: readonly string[]
  /** The settings that name an organization, each with its value; '' for the only organization. */
  readonly organizations: readonly { readonly setting: string; readonly name: string }[]
  readonly file: string
  readonly directory: FileEntry | null
  /** What a server saved from the database lies beside it, and the commands to decide about it; null if nothing does. */
  readonly rescued: string | null
  /** Null if the file is missing or empty. */
  readonly entry: (FileEntry & { readonly isFile: boolean }) | null
  /** The WAL and shared-memory files, if present. */
  readonly companions: readonly FileEntry[]
  /** The file system of the database; null if unknown. */
  readonly disk: { readonly free: number; readonly freeEntries: number | null } | null
  /** The minimum free disk space in MiB. */
  readonly minFree: number
  /** The public URL of the server, for links in messages; '' if not configured. */
  readonly publicUrl: string
  readonly limits: Limits
  /** Null if there is no readable file. */
  readonly content: DatabaseContent | null
  readonly served: boolean
  readonly refusedSenders: RefusedSenders
  /** The address of the server using the file, or the configured address; '' for any free port. */
  readonly address: string
  readonly port: Port
  /** The configured certificate, or a one-line reason why it cannot be used; null for plain HTTP. */
  readonly certificate: { readonly file: string; readonly held: Certificate } | { readonly fault: string } | null
}

export function ok(check: string, text: string): Finding {
  return { check, state: 'ok', text, remedy: null }
}

export function warn(check: string, text: string, remedy: string): Finding {
  return { check, state: 'warn', text, remedy }
}

export function fail(check: string, text: string, remedy: string): Finding {
  return { check, state: 'fail', text, remedy }
}

/** Formats a time as `2 d 3 h ago` or `less than a minute ago`, in whole minutes. */
export function since(at: number, now: number): string {
  const minutes = Math.floor(Math.max(0, now - at) / 60_000)
  return minutes === 0 ? 'less than a minute ago' : `${formatSeconds(minutes * 60)} ago`
}

/** Formats a size as `512 B`, `4.2 MB`, …, in powers of 1,000. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`
}

const MEBIBYTE = 1_048_576
/** In bytes. If less disk space than this is free, a single alert storm could fill the disk. */
const USUAL = 1_000_000_000
const TIMES_THE_LEAST = 4

/** `short`: the server is not ready. `scarce`: someone should look at the disk. */
type DiskSpace = 'short' | 'scarce' | 'enough'

/** Classifies the free disk space. @param free bytes @param minFree the minimum in MiB */
export function judgeDiskSpace(free: number, minFree: number): DiskSpace {
  const least = minFree * MEBIBYTE
  if (free < least) return 'short'
  return free < Math.max(USUAL, TIMES_THE_LEAST * least) ? 'scarce' : 'enough'
}

/** Converts bytes to whole MiB, the unit of the setting. */
export function wholeMebibytes(bytes: number): number {
  return Math.floor(bytes / MEBIBYTE)
}
