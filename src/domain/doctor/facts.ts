/** The facts for a diagnosis, and its findings. */
import { formatSeconds } from '../postmortem/words.ts'
import type { Scope } from '../token.ts'
import type { Certificate } from './certificate.ts'

/** `remedy` is one line, or null if there is nothing to do. */
export type Finding = {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: string
  readonly remedy: string | null
}

/** `mode`: permission bits. `writable`: for the current user. Sizes in bytes. */
export type FileEntry = {
  readonly path: string
  readonly mode: number
  readonly uid: number
  readonly size: number
  readonly readable: boolean
  readonly writable: boolean
}

/** Times in ms UTC. */
export type SenderFact = {
  readonly organization: string
  readonly source: string
  readonly cluster: string
  readonly receiver: string
  readonly lastEventAt: number | null
  /** When the last rejected item arrived. */
  readonly lastRejectionAt: number | null
  readonly heartbeatAt: number | null
  /** How far the sender's clock is ahead of ours, in ms; negative if the clock is behind. */
  readonly clockOffset: number
  /** Whether the sender's items or its token name a cluster; null if unknown. */
  readonly namesCluster: boolean | null
  /** Null while the heartbeat is missing, or if there was never one. */
  readonly heartbeatDueAt: number | null
}

/** Times in ms UTC. */
export type TokenFact = {
  readonly id: string
  readonly organization: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** '' if the token names no cluster. */
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

/** The content of a database file. `version` and `known`: the data models of the file and of the program. */
export type DatabaseContent =
  | { readonly state: 'foreign' }
  | { readonly state: 'unreadable'; readonly why: 'foreign' | 'damaged' | 'held' | 'denied' }
  | {
      readonly state: 'read'
      readonly version: number
      readonly known: number
      readonly settings: Readonly<Record<'journal_mode' | 'synchronous' | 'foreign_keys', string | number>>
      readonly check: string
      /** The errors that the integrity check reports; empty if the file is undamaged. */
      readonly damage: readonly string[]
      /** Differences between the tables in the file and the data model. */
      readonly differences: readonly string[]
      /** References to missing rows. Only a full check of an undamaged file searches for such references. */
      readonly brokenReferences: readonly string[]
      /** Null if the data model is unknown, because then nothing else can be read. */
      readonly history: {
        readonly receivedAt: number | null
        readonly senders: readonly SenderFact[]
        readonly tokens: readonly TokenFact[]
        readonly channels: readonly ChannelFact[]
      } | null
    }

/** Who uses the port: nobody, this program, or another program. `denied`: the system returns this error code. */
export type Port =
  | { readonly state: 'any' | 'free' | 'other' }
  /** `certificate` is null for plain HTTP. */
  | { readonly state: 'incmon'; readonly unready: string | null; readonly certificate: Certificate | null }
  | { readonly state: 'denied'; readonly code: string }
  /** The server uses TLS although plain HTTP is configured, or the other way round. */
  | { readonly state: 'changed'; readonly address: string }
  /** A server uses the file, but this command cannot connect to the server. `why` includes the remedy. */
  | { readonly state: 'unreachable'; readonly why: string }

export type DoctorFacts = {
  readonly now: number
  /** The current user; null on systems without user IDs. */
  readonly uid: number | null
  readonly faults: readonly string[]
  readonly file: string
  readonly directory: FileEntry | null
  /** Null if there is no file, or an empty one. */
  readonly entry: (FileEntry & { readonly isFile: boolean }) | null
  /** The log and its index, if they exist. */
  readonly companions: readonly FileEntry[]
  /** The file system of the database; null if unknown. */
  readonly disk: { readonly free: number; readonly freeEntries: number | null } | null
  /** The minimum of free disk space in MiB. */
  readonly minFree: number
  /** Where people reach the server, for links in messages; '' if it is not configured. */
  readonly publicUrl: string
  /** Null if no file can be read. */
  readonly content: DatabaseContent | null
  readonly served: boolean
  /** The address of the server that uses the file, or the configured address; '' for any free port. */
  readonly address: string
  readonly port: Port
  /** The configured certificate, or a one-line reason why the certificate cannot be used; null for plain HTTP. */
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

/** Returns `2 d 3 h ago` or `just now`, in whole minutes. */
export function since(at: number, now: number): string {
  const minutes = Math.floor(Math.max(0, now - at) / 60_000)
  return minutes === 0 ? 'just now' : `${formatSeconds(minutes * 60)} ago`
}

/** Returns `512 B`, `4.2 MB`, …, in steps of 1,000. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`
}

const MEBIBYTE = 1_048_576
/** In bytes. With less free space, one alert storm could fill the disk. */
const USUAL = 1_000_000_000
const TIMES_THE_LEAST = 4

/** `short`: the server is not ready. `scarce`: a person should check the disk. */
export type DiskSpace = 'short' | 'scarce' | 'enough'

/** Judges the free disk space. @param free bytes @param minFree the minimum in MiB */
export function judgeDiskSpace(free: number, minFree: number): DiskSpace {
  const least = minFree * MEBIBYTE
  if (free < least) return 'short'
  return free < Math.max(USUAL, TIMES_THE_LEAST * least) ? 'scarce' : 'enough'
}

/** Returns whole MiB, the unit of the setting. */
export function wholeMebibytes(bytes: number): number {
  return Math.floor(bytes / MEBIBYTE)
}
