/** Parses words in URLs and forms, and builds URLs. An unknown word is never an error. */

/** Returns the word if it is in the list. Otherwise, returns the fallback. */
export function choiceOf<Word extends string>(word: string, words: readonly Word[], fallback: Word): Word {
  return words.find((one) => one === word) ?? fallback
}

/** Returns the page number that a word stands for, from 1 to `max`. The default is 1. */
export function pageOf(word: string, max = 10_000): number {
  return Math.max(1, Math.min(max, Math.floor(Number(word)) || 1))
}

/** Returns a URL with the parameters whose value is not empty. */
export function withQuery(path: string, parameters: Readonly<Record<string, string>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== '')
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`
}

/** A range of time that a page can show: its name in URLs, its text, and its length in milliseconds. */
type Range = readonly [name: string, text: string, length: number]

/** Returns the range with this name. Otherwise, returns the usual range. */
export function rangeOf<One extends Range>(ranges: readonly One[], name: string, usual: One): One {
  return ranges.find(([own]) => own === name) ?? usual
}

/** Returns links to the same page with other ranges. */
export function rangeLinks(ranges: readonly Range[], path: string, current: Range, usual: Range) {
  return ranges.map((one) => ({
    ...{ text: one[1], current: one === current },
    href: one === usual ? path : `${path}?range=${one[0]}`,
  }))
}
