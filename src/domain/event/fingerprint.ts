/** Fingerprints: FNV-1a 64, the hash by which Prometheus, Alertmanager and Grafana name a set of labels. */

import type { Labels } from './event.ts'

const encoder = new TextEncoder()

/** Ends every name, value and part: a byte that UTF-8 never contains, so that `ab`+`c` is not `a`+`bc`. */
const SEPARATOR = 0xff

/** Each byte as two digits: `toString(16)` takes ten times as long for what is no small integer. */
const HEX = Array.from({ length: 0x100 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** A hash in the making, as two halves of 32 bits, signed as JavaScript computes them: BigInt would be thirty times slower. */
type Hash = { high: number; low: number }

/**
 * The fingerprint of a set of labels: 16 hex digits of FNV-1a 64 over the labels sorted by name, each
 * `name 0xFF value 0xFF` in UTF-8; no labels give `cbf29ce484222325`.
 * Source: prometheus/common `model/signature.go`, `labelSetToFingerprint`; the order is Go's, by bytes.
 */
export function labelFingerprint(labels: Labels): string {
  const names = Object.keys(labels).sort(byBytes)
  const hash = start()
  for (const name of names) {
    addPart(hash, name)
    addPart(hash, labels[name] ?? '')
  }
  return hex(hash)
}

/** The identity of something that we name ourselves: the same hash over `parts`, in their order. */
export function digest(...parts: string[]): string {
  const hash = start()
  for (const part of parts) addPart(hash, part)
  return hex(hash)
}

/** Compares as Go compares strings: by code points, where JavaScript's `<` puts U+1F600 before U+FF5E. */
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

/** A UTF-16 unit's place in the order of code points: surrogates stand for what lies above U+FFFF. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

function start(): Hash {
  return { high: 0xcbf29ce4 | 0, low: 0x84222325 | 0 }
}

function addPart(hash: Hash, text: string): void {
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

/** (hash xor byte) × (2^40 + 0x1b3) modulo 2^64, in halves of 16 bits so that no step leaves the integers of 32. */
function addByte(hash: Hash, byte: number): void {
  const low = hash.low ^ byte
  const lower = (low & 0xffff) * 0x1b3
  const upper = (low >>> 16) * 0x1b3 + (lower >>> 16)
  hash.low = (upper << 16) | (lower & 0xffff)
  hash.high = (Math.imul(hash.high, 0x1b3) + (low << 8) + (upper >>> 16)) | 0
}

function hex({ high, low }: Hash): string {
  return hexHalf(high) + hexHalf(low)
}

function hexHalf(half: number): string {
  return `${HEX[half >>> 24]}${HEX[(half >>> 16) & 0xff]}${HEX[(half >>> 8) & 0xff]}${HEX[half & 0xff]}`
}
