/** Parses words in URLs and forms. An unknown word is never an error. */

/** Returns the word if it is in the list, or else the fallback. */
export function choiceOf<Word extends string>(word: string, words: readonly Word[], fallback: Word): Word {
  return words.find((one) => one === word) ?? fallback
}
