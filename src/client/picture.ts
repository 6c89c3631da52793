/**
 * Copies a picture of the page as a PNG, or downloads it. The content security policy allows no images that a script
 * makes, so the picture is drawn again on a canvas, with the colors of the style sheet.
 */

/** The space around the picture and above it, for the title, in px. */
const MARGIN = 16
const TITLE = 28
/** The number of pixels of the image for each pixel of the page. */
const SCALE = 2

export function startPictures(): void {
  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element ? target.closest('[data-image]') : null
    const plot = button?.closest('.picture')?.querySelector<SVGSVGElement>('.lanes-plot')
    if (button && plot) button.lastChild?.replaceWith(await share(imageOf(plot)))
  })
}

/** Returns what happened, for the label of the button. Without TLS, browsers do not allow access to the clipboard. */
async function share(image: Promise<Blob>): Promise<string> {
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'image/png': image })])
    return 'Copied'
  } catch {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await image)
    link.download = 'incmon.png'
    link.click()
    return 'Saved'
  }
}

function imageOf(plot: SVGSVGElement): Promise<Blob> {
  const { paddingLeft, paddingRight } = getComputedStyle(plot.parentElement ?? plot)
  const [left, right] = [parseFloat(paddingLeft), parseFloat(paddingRight)]
  const canvas = document.createElement('canvas')
  canvas.width = (plot.width.baseVal.value + left + right + 2 * MARGIN) * SCALE
  canvas.height = (plot.height.baseVal.value + TITLE + 2 * MARGIN) * SCALE
  const context = canvas.getContext('2d')
  if (context) {
    const colors = getComputedStyle(plot.closest('.picture') ?? plot)
    context.fillStyle = colors.backgroundColor
    context.fillRect(0, 0, canvas.width, canvas.height)
    context.scale(SCALE, SCALE)
    context.fillStyle = colors.color
    context.font = 'bold 14px sans-serif'
    context.fillText(`${document.title}, ${new Date().toISOString().slice(0, 16)}Z`, MARGIN, 26)
    context.translate(MARGIN + left, MARGIN + TITLE)
    draw(context, plot, context.getTransform().multiply(plot.getScreenCTM()?.inverse()))
  }
  return new Promise((done) => canvas.toBlob((blob) => blob && done(blob)))
}

/** @param start turns places on the screen into places on the canvas */
function draw(context: CanvasRenderingContext2D, parent: Element, start: DOMMatrix): void {
  for (const child of parent.children) {
    const look = getComputedStyle(child)
    if (look.display === 'none' || !(child instanceof SVGGraphicsElement)) continue
    context.save()
    context.globalAlpha *= Number(look.opacity)
    context.setTransform(start.multiply(child.getScreenCTM() as DOMMatrix))
    if (is(child, 'text')) drawText(context, child, look)
    else if (is(child, 'use')) drawSymbol(context, child, look)
    else if (child instanceof SVGGeometryElement) paint(context, pathOf(child), look)
    else {
      if (is(child, 'svg') && look.overflow === 'hidden') {
        const clip = new Path2D()
        clip.rect(0, 0, child.width.baseVal.value, child.height.baseVal.value)
        context.clip(clip)
      }
      draw(context, child, start)
    }
    context.restore()
  }
}

function is<Name extends keyof SVGElementTagNameMap>(one: Element, name: Name): one is SVGElementTagNameMap[Name] {
  return one.tagName === name
}

/** All lines of a picture are horizontal or vertical. */
function pathOf(shape: SVGGeometryElement): Path2D {
  const path = new Path2D(shape.getAttribute('d') ?? '')
  const { tagName } = shape
  const { x, y, width, height } = shape.getBBox()
  path.moveTo(x, y)
  if (tagName === 'line') path.lineTo(x + width, y + height)
  else if (tagName !== 'path') {
    path.roundRect(x, y, width, height, tagName === 'circle' ? width / 2 : Number(shape.getAttribute('rx')))
  }
  return path
}

type Look = CSSStyleDeclaration

function paint(context: CanvasRenderingContext2D, path: Path2D, look: Look, rule: CanvasFillRule = 'nonzero'): void {
  const hasLine = setColors(context, look)
  const alpha = context.globalAlpha
  context.globalAlpha = alpha * Number(look.fillOpacity)
  if (look.fill !== 'none') context.fill(path, rule)
  context.globalAlpha = alpha
  if (hasLine) context.stroke(path)
}

/** Returns whether there is a line. */
function setColors(context: CanvasRenderingContext2D, look: Look): boolean {
  context.fillStyle = look.fill
  context.strokeStyle = look.stroke
  context.lineWidth = parseFloat(look.strokeWidth)
  context.lineCap = look.strokeLinecap as CanvasLineCap
  context.lineJoin = 'round'
  context.setLineDash(look.strokeDasharray.split(',').flatMap((part) => parseFloat(part) || []))
  return look.stroke !== 'none'
}

function drawText(context: CanvasRenderingContext2D, text: SVGTextElement, look: Look): void {
  const [x = 0, dx = 0, y = 0] = [text.x, text.dx, text.y].map(({ baseVal }) => baseVal[0]?.value)
  context.font = `${look.fontWeight} ${look.fontSize} ${look.fontFamily}`
  context.textAlign = (look.textAnchor === 'middle' ? 'center' : look.textAnchor) as CanvasTextAlign
  const words = text.textContent ?? ''
  if (setColors(context, look)) context.strokeText(words, x + dx, y)
  context.fillText(words, x + dx, y)
}

/** Draws an icon or a mark. The part with the class `on` has a color of its own. */
function drawSymbol(context: CanvasRenderingContext2D, use: SVGUseElement, look: Look): void {
  const symbol = document.querySelector<SVGSymbolElement>(use.href.baseVal)
  if (!symbol) return
  const scale = use.width.baseVal.value / symbol.viewBox.baseVal.width
  context.translate(use.x.baseVal.value, use.y.baseVal.value)
  context.scale(scale, scale)
  for (const shape of symbol.querySelectorAll<SVGGeometryElement>('*')) {
    if (shape.matches('.on')) use.style.fill = 'var(--on)'
    paint(context, pathOf(shape), look, (shape.getAttribute('fill-rule') ?? 'nonzero') as CanvasFillRule)
    use.removeAttribute('style')
  }
}
