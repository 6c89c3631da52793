/** Text of mixed writing direction. */

/**
 * Returns the text between Unicode isolates, so that a right-to-left name does not reorder the words beside it. For
 * plain text; use `<bdi>` in HTML.
 */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`
}
