/** Handles text with mixed writing directions. */

/**
 * Wraps text in Unicode isolates so that a right-to-left name does not reorder its surroundings. For plain text only;
 * in HTML, use `<bdi>`.
 */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`
}
