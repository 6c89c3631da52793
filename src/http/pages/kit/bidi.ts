/** Text of mixed direction. */

/**
 * Returns the text between Unicode isolates, so that a right-to-left name does not reorder the words beside it.
 * Use it in plain text; in HTML of its own, `<bdi>` does the same.
 */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`
}
