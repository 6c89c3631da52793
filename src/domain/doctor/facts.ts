/** What a diagnosis is made from, the facts, and what it is made of, the findings. */

import { shownDuration } from '../postmortem/words.ts'
import type { Scope } from '../token.ts'
import type { Certificate } from './certificate-life.ts'

/** `remedy`: one line; null where there is nothing to do. */
export type Finding = {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: string
  readonly remedy: string | null
}

/** `mode`: the permission bits; `writable`: for whoever asks. Sizes in bytes. */
export type Entry = {
  readonly path: string
  readonly mode: number
  readonly uid: number
  readonly size: number
  readonly readable: boolean
  readonly writable: boolean
}

/** Times in milliseconds UTC. */
export type SenderFact = {
  readonly organization: string
  readonly source: string
  readonly cluster: string
  readonly receiver: string
  readonly lastEventAt: number | null
  /** Of what could not be used. */
  readonly lastRejectionAt: number | null
  readonly heartbeatAt: number | null
  /** Null while the heart is silent, or where none ever beat. */
  readonly heartbeatDueAt: number | null
}

/** Times in milliseconds UTC. */
export type TokenFact = {
  readonly id: string
  readonly organization: string
  readonly name: string
  readonly scopes: readonly Scope[]
  /** '' where it names none. */
  readonly cluster: string
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly lastUsedAt: number | null
}

/** What a file holds; `version` and `known`: the data model of the file and of the program. */
export type Content =
  | { readonly state: 'foreign' }
  | { readonly state: 'unreadable'; readonly why: 'foreign' | 'damaged' | 'held' | 'denied' }
  | {
      readonly state: 'read'
      readonly version: number
      readonly known: number
      readonly settings: Readonly<Record<'journal_mode' | 'synchronous' | 'foreign_keys', string | number>>
      readonly check: string
      /** What the check complains of; empty where it is sound. */
      readonly damage: readonly string[]
      /** How its tables differ from those of its data model. */
      readonly differences: readonly string[]
      /** Rows that refer to a row that is not there; looked for by a full check of a sound file alone. */
      readonly brokenReferences: readonly string[]
      /** Null where the data model is not known, so that nothing more can be read. */
      readonly history: {
        readonly receivedAt: number | null
        readonly senders: readonly SenderFact[]
        readonly tokens: readonly TokenFact[]
      } | null
    }

/** Who has the port: nobody, this program, or another one; `denied`: the system's word for why it cannot be had. */
export type Port =
  | { readonly state: 'any' | 'free' | 'other' }
  /** `certificate`: what it shows; null over plain HTTP. */
  | { readonly state: 'incmon'; readonly unready: string | null; readonly certificate: Certificate | null }
  | { readonly state: 'denied'; readonly code: string }
  /** This program, with TLS where plain HTTP is configured, or without. */
  | { readonly state: 'changed'; readonly address: string }

export type Facts = {
  readonly now: number
  /** Of whoever asks; null on systems without. */
  readonly uid: number | null
  readonly faults: readonly string[]
  readonly file: string
  readonly directory: Entry | null
  /** Null where there is none, or nothing was ever stored in it. */
  readonly entry: (Entry & { readonly isFile: boolean }) | null
  /** The log and its index, where they are. */
  readonly companions: readonly Entry[]
  /** Of the file system; null where it cannot be asked. */
  readonly disk: { readonly free: number; readonly freeEntries: number | null } | null
  /** MiB that have to be free there. */
  readonly minFree: number
  /** Null without a file that can be read. */
  readonly content: Content | null
  readonly served: boolean
  /** Where the server is configured to listen; '' for any free port. */
  readonly address: string
  readonly port: Port
  /** What the configured file holds, or one line of why it cannot be used; null where plain HTTP is configured. */
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

/** `2 d 3 h ago`, `just now`, in whole minutes: nobody acts on seconds. */
export function since(at: number, now: number): string {
  const minutes = Math.floor(Math.max(0, now - at) / 60_000)
  return minutes === 0 ? 'just now' : `${shownDuration(minutes * 60)} ago`
}

/** `512 B`, `4.2 MB`, in steps of 1,000. */
export function shownSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`
}
