/** Finds faults in the layout of the page that a browser shows: sideways scrolling, narrow columns, broken words, covered texts. */
import type { Page } from 'playwright-core'

/** Runs in the browser. A column of text needs this many characters; a target needs this many pixels. */
const SCRIPT = `(() => {
  const LEAST_CHARACTERS = 8, LEAST_TARGET = 24
  const faults = []
  const name = (text) => text.trim().replace(/\\s+/g, ' ').slice(0, 30)
  const seen = (element) => element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0
  if (document.documentElement.scrollWidth > innerWidth) faults.push('scrolls sideways: ' + document.documentElement.scrollWidth)

  // A text in several lines, in a block that is too narrow for eight characters.
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const text = node.nodeValue.trim()
    const parent = node.parentElement
    if (text.length < LEAST_CHARACTERS || parent.closest('svg, .hidden-text, option, script') || !seen(parent)) continue
    let block = parent
    while (getComputedStyle(block).display.startsWith('inline') && block.parentElement) block = block.parentElement
    const { fontSize, paddingLeft, paddingRight } = getComputedStyle(block)
    const width = block.getBoundingClientRect().width - parseFloat(paddingLeft) - parseFloat(paddingRight)
    const range = document.createRange()
    range.selectNodeContents(node)
    const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)))
    if (lines.size > 1 && width > 1 && width < LEAST_CHARACTERS * parseFloat(fontSize) * 0.5)
      faults.push('narrow column: ' + name(text) + ' (' + Math.round(width) + ' px)')
  }

  for (const picture of document.querySelectorAll('main .card svg')) {
    const over = picture.getBoundingClientRect().right - picture.closest('.card').getBoundingClientRect().right
    if (seen(picture) && over > 0 && !picture.closest('.lanes-scroll, svg svg')) faults.push('leaves its card: ' + name(picture.getAttribute('aria-label') ?? '') + ' (' + Math.round(over) + ' px)')
  }

  // A text that touches the edge of its card.
  const inCards = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = inCards.nextNode(); node; node = inCards.nextNode()) {
    const card = node.parentElement.closest('.card')
    if (!card || node.nodeValue.trim() === '' || node.parentElement.closest('svg, .hidden-text, option') || !seen(node.parentElement)) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const gap = range.getBoundingClientRect().left - card.getBoundingClientRect().left
    if (gap >= 0 && gap < 8) faults.push('touches the edge: ' + name(node.nodeValue) + ' (' + Math.round(gap) + ' px)')
  }

  // A word that continues on the next line, although nothing in it separates its parts. Parts between which the page
  // allows a break are texts of their own.
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = words.nextNode(); node; node = words.nextNode()) {
    if (node.parentElement.closest('svg, .hidden-text, option, script, textarea') || !seen(node.parentElement)) continue
    for (const { 0: word, index } of node.nodeValue.matchAll(/[\\p{Script=Latin}\\p{N}]{2,}/gu)) {
      const range = document.createRange()
      range.setStart(node, index)
      range.setEnd(node, index + word.length)
      const lines = new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)))
      if (lines.size > 1) faults.push('broken word: ' + word + ' in ' + name(node.nodeValue))
    }
  }

  // Texts of a picture that cover each other, as far as they are not clipped by their bar.
  for (const picture of document.querySelectorAll('svg.lanes-plot')) {
    const boxes = [...picture.querySelectorAll('text')].filter(seen).map((text) => {
      const box = text.getBoundingClientRect()
      const bar = text.closest('svg')
      const clip = bar !== picture && bar.hasAttribute('width') ? bar.getBoundingClientRect() : box
      return { text: name(text.textContent), left: box.left, top: box.top, bottom: box.bottom, right: Math.min(box.right, clip.left + clip.width) }
    })
    boxes.forEach((one, index) => {
      for (const other of boxes.slice(index + 1)) {
        const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left)
        const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top)
        if (wide > 2 && high > 3) faults.push('covered text: ' + one.text + ' / ' + other.text)
      }
    })
  }

  // A label that is drawn before a value must end where the value begins.
  for (const cell of document.querySelectorAll('td[data-label]')) {
    const label = getComputedStyle(cell, '::before')
    if (seen(cell) && label.position === 'absolute' && parseFloat(label.width) > parseFloat(getComputedStyle(cell).paddingLeft))
      faults.push('covered value: ' + cell.dataset.label + ' (' + label.width + ')')
  }

  // A strip whose bars are thinner than a pixel loses them; a head must stay apart from its neighbour.
  for (const strip of document.querySelectorAll('td > .strip')) {
    const { width } = strip.getBoundingClientRect()
    if (seen(strip) && width < 140) faults.push('squeezed strip: ' + Math.round(width) + ' px')
  }
  const heads = [...document.querySelectorAll('thead')].filter((head) => seen(head) && getComputedStyle(head).position !== 'absolute')
  for (const head of heads) {
    const boxes = [...head.querySelectorAll('th')].flatMap((one) => {
      const range = document.createRange()
      const found = document.createTreeWalker(one, NodeFilter.SHOW_TEXT)
      const all = []
      for (let node = found.nextNode(); node; node = found.nextNode()) {
        range.selectNodeContents(node)
        if (!node.parentElement.closest('.hidden-text')) all.push({ text: node.nodeValue, ...range.getBoundingClientRect().toJSON() })
      }
      return all
    })
    boxes.forEach((one, index) => {
      const next = boxes[index + 1]
      if (next && next.left - one.right < 4) faults.push('touching heads: ' + one.text + ' / ' + next.text)
    })
  }

  // A text of a picture that its edge cuts.
  for (const text of document.querySelectorAll('.lanes-scroll svg.lanes-plot text')) {
    const frame = text.closest('.lanes-scroll')
    const over = text.getBoundingClientRect().right - frame.getBoundingClientRect().right
    if (seen(text) && !text.closest('.lanes-bar[width]') && frame.scrollWidth <= frame.clientWidth + 40 && over > 0.5) faults.push('cut text: ' + name(text.textContent) + ' (' + Math.round(over) + ' px)')
  }

  // A fraction of a pixel is enough to cut a name.
  for (const one of document.querySelectorAll('.organization')) {
    const range = document.createRange()
    range.selectNodeContents(one)
    const isCut = range.getBoundingClientRect().right > one.getBoundingClientRect().right + 0.02
    if (seen(one) && innerWidth >= 1024 && isCut) faults.push('cut name: ' + one.textContent)
  }

  // A line that is too long to find the beginning of the next one.
  for (const block of document.querySelectorAll('main p')) {
    const range = document.createRange()
    range.selectNodeContents(block)
    const box = range.getBoundingClientRect()
    const zoom = block.currentCSSZoom ?? 1
    const [width, height] = [box.width / zoom, box.height / zoom]
    const { fontSize, lineHeight, display } = getComputedStyle(block)
    if (seen(block) && display === 'block' && height > 1.9 * parseFloat(lineHeight) && width > 75 * parseFloat(fontSize))
      faults.push('long lines: ' + name(block.textContent) + ' (' + Math.round(width) + ' px)')
  }

  for (const target of document.querySelectorAll('button, summary, .button, .filter, nav a, select, input:not([type=hidden])')) {
    const { width, height } = target.getBoundingClientRect()
    const label = target.closest('label')?.getBoundingClientRect()
    const small = Math.max(width, label?.width ?? 0) < LEAST_TARGET || Math.max(height, label?.height ?? 0) < LEAST_TARGET - 0.5
    if (seen(target) && small) faults.push('small target: ' + name(target.textContent || target.id) + ' ' + Math.round(width) + 'x' + Math.round(height))
  }
  return [...new Set(faults)].slice(0, 60)
})()`

/** Returns the faults, such as `narrow column: KubeDeployment (31 px)`. */
export async function layoutFaults(page: Page): Promise<string[]> {
  return (await page.evaluate(SCRIPT)) as string[]
}
