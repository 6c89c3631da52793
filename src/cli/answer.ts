/** Reads the response of a server: whether it is from incmon, and its error in one line. */
import { visible } from './output.ts'

/** The remedy if another program answered. */
export const OTHER_PROGRAM = 'this is not incmon: check which program listens there, or name another --url'

/** A proxy may answer with a whole page. Its first characters name the problem. */
const MAX_PAGE_TEXT = 200
const MAX_DETAIL = 300
/** Only the start of a page is searched for text. */
const MAX_MARKUP = 20_000

/** Parses a JSON object. Returns null for anything else. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** Returns the detail of a problem+json, otherwise the first words of the response without markup, on one line. */
export function detailOf(text: string): string {
  const detail = parseObject(text)?.detail
  if (typeof detail === 'string') return oneLine(detail, MAX_DETAIL)
  const plain = /^\s*</.test(text) ? withoutMarkup(text.slice(0, MAX_MARKUP)) : text.slice(0, MAX_MARKUP)
  return oneLine(plain, MAX_PAGE_TEXT) || 'an empty body; check that this is the address of incmon'
}

function withoutMarkup(page: string): string {
  const words = page.replace(/<!--.*?-->|<(script|style|svg)\b.*?<\/\1\s*>|<[^>]*>/gis, ' ')
  return words.replace(/&(nbsp|#160);/g, ' ').replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => SIGNS[name] ?? '')
}

const SIGNS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

function oneLine(text: string, longest: number): string {
  const words = text.replace(/\s+/g, ' ').trim()
  if (words === '') return ''
  const shown = visible(words)
  return shown.length <= longest ? shown : `${shown.slice(0, longest - 1).toWellFormed()}…`
}
