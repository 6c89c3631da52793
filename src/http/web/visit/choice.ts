/** Parses words in URLs and forms. An unknown word is never an error. */

/** Returns the word if it is in the list. Otherwise, returns the fallback. */
export function choiceOf<Word extends string>(word: string, words: readonly Word[], fallback: Word): Word {
  return words.find((one) => one === word) ?? fallback
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
