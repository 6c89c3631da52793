/** Computes FNV-1a 64 fingerprints, as Prometheus, Alertmanager and Grafana do for labels. */

import { writeHex } from '../clock/clock.ts'
import type { Labels } from './event.ts'

const encoder = new TextEncoder()

/** Terminates every name, value and part. UTF-8 never contains this byte, so `ab`+`c` differs from `a`+`bc`. */
const SEPARATOR = 0xff

const digits = Buffer.alloc(16)

/** A hash is stored as two signed 32-bit halves, because BigInt would be thirty times slower. */
type Hash = { high: number; low: number }

/**
 * Returns the fingerprint of labels as 16 hex digits: FNV-1a 64 over the labels sorted by name, each as `name 0xFF
 * value 0xFF` in UTF-8. The fingerprint of an empty set of labels is `cbf29ce484222325`. Names are sorted by bytes, as
 * in Go. Source: `labelSetToFingerprint` in prometheus/common `model/signature.go`.
 */
export function labelFingerprint(labels: Labels): string {
  const names = Object.keys(labels).sort(byBytes)
  const hash = startDigest()
  for (const name of names) {
    addPart(hash, name)
    addPart(hash, labels[name] ?? '')
  }
  return hexOf(hash)
}

/** Returns the FNV-1a 64 hash of any parts as 16 hex digits. The order of the parts matters. */
export function digest(...parts: string[]): string {
  const hash = startDigest()
  for (const part of parts) addPart(hash, part)
  return hexOf(hash)
}

/** Compares by code point, as Go does. JavaScript's `<` sorts U+1F600 before U+FF5E. */
function byBytes(left: string, right: string): number {
  const a = left.toWellFormed()
  const b = right.toWellFormed()
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    if (a.charCodeAt(i) === b.charCodeAt(i)) continue
    return rank(a.charCodeAt(i)) - rank(b.charCodeAt(i))
  }
  return a.length - b.length
}

/** Returns the rank of a UTF-16 code unit in code point order. Surrogates encode code points above U+FFFF. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

/** Starts a digest for callers without a list of parts. `addPart` extends the digest, and `hexOf` formats it. */
export function startDigest(): Hash {
  return { high: 0xcbf29ce4 | 0, low: 0x84222325 | 0 }
}

export function addPart(hash: Hash, text: string): void {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7f) {
      for (const byte of encoder.encode(text.slice(i))) addByte(hash, byte)
      break
    }
    addByte(hash, unit)
  }
  addByte(hash, SEPARATOR)
}

/**
 * Computes (hash xor byte) × (2^40 + 0x1b3) modulo 2^64 in 16-bit pieces, so that all intermediate values fit into
 * 32-bit integers.
 */
function addByte(hash: Hash, byte: number): void {
  const low = hash.low ^ byte
  const lower = (low & 0xffff) * 0x1b3
  const upper = (low >>> 16) * 0x1b3 + (lower >>> 16)
  hash.low = (upper << 16) | (lower & 0xffff)
  hash.high = (Math.imul(hash.high, 0x1b3) + (low << 8) + (upper >>> 16)) | 0
}

export function hexOf({ high, low }: Hash): string {
  writeHex(digits, 8, 8, high)
  writeHex(digits, 16, 8, low)
  return digits.toString('latin1')
}
