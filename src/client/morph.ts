/** Morphs part of the page into its new version while preserving focus, selection, open details and typed text. */

/** Changes `before` in place to match `after`. Matches elements by id or, without an id, by name and position. */
export function morph(before: Element, after: Element): void {
  updateAttributes(before, after)
  // Do not replace text that the user is typing.
  if (before instanceof HTMLTextAreaElement) return
  let next: ChildNode | null = before.firstChild
  for (const wanted of [...after.childNodes]) {
    const found = matchFor(wanted, next, before)
    if (!found) {
      before.insertBefore(wanted, next)
      continue
    }
    if (found !== next) before.insertBefore(found, next)
    else next = next.nextSibling
    if (found instanceof Element && wanted instanceof Element) morph(found, wanted)
    else if (found.nodeValue !== wanted.nodeValue) found.nodeValue = wanted.nodeValue
  }
  while (next) {
    const rest: ChildNode | null = next.nextSibling
    next.remove()
    next = rest
  }
}

/**
 * Returns the node to morph into `wanted`: the element with the same id, or `next` if both `wanted` and `next` have no
 * id. Returns null if the two nodes have different names.
 */
function matchFor(wanted: ChildNode, next: ChildNode | null, parent: Element): ChildNode | null {
  const id = wanted instanceof Element ? wanted.id : ''
  if (id !== '') return [...parent.children].find((one) => one.id === id && one.nodeName === wanted.nodeName) ?? null
  if (!next || next.nodeName !== wanted.nodeName) return null
  return next instanceof Element && next.id !== '' ? null : next
}

function updateAttributes(before: Element, after: Element): void {
  for (const { name } of [...before.attributes]) {
    if (!after.hasAttribute(name) && !isOwn(before, name)) before.removeAttribute(name)
  }
  for (const { name, value } of [...after.attributes]) {
    if (before.getAttribute(name) !== value && !isOwn(before, name)) before.setAttribute(name, value)
  }
}

/** Returns whether the user controls this attribute: the open state of details, or the value of a field. */
function isOwn(element: Element, name: string): boolean {
  if (element instanceof HTMLDetailsElement) return name === 'open'
  if (element instanceof HTMLInputElement) return element.type !== 'hidden' && ['value', 'checked'].includes(name)
  return element instanceof HTMLOptionElement && name === 'selected'
}
