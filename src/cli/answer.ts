/** Answers of a server: whether they are ours, and what a refusal says in one line. */
import { visible } from './output.ts'

/** What to do where an answer is none of ours. */
export const NOT_OURS = 'that is not incmon: look who listens there, or name another --url'

/** Who stands between may answer with a whole page: its first words name it. */
const FIRST_WORDS = 200
/** As long as a sentence of ours may be. */
const LONGEST_DETAIL = 300
/** Words of a page come early, whatever its length. */
const MOST_MARKUP = 20_000

/** Null for what is no object of JSON, as ours all are. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** The one sentence of a problem+json; else the first words of what came, without markup. One line. */
export function detailOf(text: string): string {
  const detail = objectIn(text)?.detail
  if (typeof detail === 'string') return oneLine(detail, LONGEST_DETAIL)
  const plain = /^\s*</.test(text) ? withoutMarkup(text.slice(0, MOST_MARKUP)) : text.slice(0, MOST_MARKUP)
  return oneLine(plain, FIRST_WORDS) || 'nothing; is this the address of incmon?'
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
