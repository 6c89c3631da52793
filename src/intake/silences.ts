/** Parses silences as exported by `amtool silence query -o json` or Alertmanager's /api/v2/silences. */
import * as v from 'valibot'
import { parseInstant } from '../domain/instant.ts'
import type { Matcher } from '../domain/silence/matcher.ts'

/** Times are Unix times in milliseconds. */
type ReadSilence = {
  readonly matchers: readonly Matcher[]
  readonly startsAt: number
  readonly endsAt: number
  readonly comment: string
  readonly createdBy: string
  readonly labelsOnly: true
}

const matcher = v.object({
  name: v.string(),
  value: v.string(),
  isRegex: v.optional(v.boolean(), false),
  isEqual: v.optional(v.boolean(), true),
})
const silence = v.object({
  matchers: v.array(matcher),
  startsAt: v.string(),
  endsAt: v.string(),
  comment: v.optional(v.string(), ''),
  createdBy: v.optional(v.string(), ''),
})

/** Parses a JSON array of silences. @throws SyntaxError with the index of the first invalid silence */
export function readSilences(json: unknown): ReadSilence[] {
  if (!Array.isArray(json)) throw new SyntaxError('expected the JSON array that "amtool silence query -o json" prints')
  return json.map((item, index) => {
    const read = v.safeParse(silence, item)
    const startsAt = read.success ? parseInstant(read.output.startsAt) : null
    const endsAt = read.success ? parseInstant(read.output.endsAt) : null
    if (!read.success || startsAt === null || endsAt === null) {
      throw new SyntaxError(`silence ${index} of the array does not have valid matchers, startsAt and endsAt`)
    }
    const { comment, createdBy, matchers } = read.output
    return {
      matchers: matchers.map(({ name, value, isRegex, isEqual }) => ({
        name,
        op: isRegex ? (isEqual ? '=~' : '!~') : isEqual ? '=' : '!=',
        value,
      })),
      startsAt,
      endsAt,
      comment: comment.trim() || 'imported from Alertmanager',
      createdBy: createdBy.trim() || 'Alertmanager',
      labelsOnly: true,
    }
  })
}
