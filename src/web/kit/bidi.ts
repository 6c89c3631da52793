/** Handles text with mixed writing directions. */

/**
 * Wraps text in Unicode isolates so that a right-to-left name does not reorder its surroundings. For plain text only;
 * in HTML, use `<bdi>`.
 */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`
}

const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Bidi_Control}]/u

/** Isolates a name only if it can reorder its surroundings, so that other names can be searched and copied. */
export function isolatedName(name: string): string {
  return RIGHT_TO_LEFT.test(name) ? isolated(name) : name
}
