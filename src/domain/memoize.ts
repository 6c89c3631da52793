/** Recall: what a pure function answered before, where the same is asked again and again. */

/** `find`, which is asked in turn about one and the same object: its answer to the last one is remembered. */
export function recallLast<Asked extends object, Answer>(find: (asked: Asked) => Answer): (asked: Asked) => Answer {
  let last: { readonly asked: Asked; readonly answer: Answer } | null = null
  return (asked) => {
    if (last?.asked !== asked) last = { asked, answer: find(asked) }
    return last.answer
  }
}

/** Names that are remembered, and the characters of one. Senders have some hundred; whoever invents more gains nothing. */
const MOST = 1_000
const LONGEST = 64

/** `find`, which is asked about the same few names by every alert: its answers are remembered. */
export function recallNames<Answer>(find: (name: string) => Answer): (name: string) => Answer {
  const answers = new Map<string, Answer>()
  return (name) => {
    const known = answers.get(name)
    if (known !== undefined || answers.has(name)) return known as Answer
    const answer = find(name)
    if (name.length > LONGEST) return answer
    if (answers.size >= MOST) answers.clear()
    // A copy: a name that was cut out of a long text would keep all of it.
    answers.set(name.split('').join(''), answer)
    return answer
  }
}
