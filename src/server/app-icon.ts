/** The icon on a phone's home screen as a PNG, because not every phone accepts an SVG. */
import { crc32, deflateSync } from 'node:zlib'

/** The sizes of the icon that the web app manifest names, in pixels. */
export const APP_ICON_SIZES = [192, 512]

type Color = readonly [number, number, number]
type Point = readonly [number, number]

const GROUND: Color = [0x0d, 0x10, 0x14]
const LINE: Color = [0x82, 0xb1, 0xff]
/** The line of the icon `pulse`, on a grid of 36 × 36. Its margin is wide enough for a phone that cuts out a circle. */
const POINTS: readonly Point[] = [
  [8, 18],
  [12, 18],
  [15, 10],
  [20, 26],
  [23, 18],
  [28, 18],
]
const GRID = 36
const HALF_WIDTH = 1
/** The number of shades between the two colors. */
const SHADES = 255

/** Draws the icon with `size` × `size` pixels. */
export function drawAppIcon(size: number): Uint8Array<ArrayBuffer> {
  const row = size + 1
  const pixels = Buffer.alloc(row * size)
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) pixels[y * row + x + 1] = shadeAt(x, y, size)
  }
  const palette = Array.from({ length: SHADES + 1 }, (_, shade) =>
    GROUND.map((from, part) => Math.round(from + (((LINE[part] ?? from) - from) * shade) / SHADES)),
  ).flat()
  // One byte per pixel: its index in the palette.
  const head = Buffer.from([...uint32(size), ...uint32(size), 8, 3, 0, 0, 0])
  const parts = [chunk('IHDR', head), chunk('PLTE', Buffer.from(palette)), chunk('IDAT', deflateSync(pixels))]
  return new Uint8Array(
    Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts, chunk('IEND', Buffer.alloc(0))]),
  )
}

/** Returns how much of a pixel the line covers, from 0 to `SHADES`. */
function shadeAt(x: number, y: number, size: number): number {
  const scale = GRID / size
  const spot: Point = [(x + 0.5) * scale, (y + 0.5) * scale]
  if (isMargin(spot)) return 0
  const covered = (HALF_WIDTH - distanceTo(spot)) / scale + 0.5
  return Math.round(Math.min(1, Math.max(0, covered)) * SHADES)
}

function isMargin([x, y]: Point): boolean {
  return x < 6 || x > 30 || y < 8 || y > 28
}

function distanceTo([x, y]: Point): number {
  let least = Number.POSITIVE_INFINITY
  for (let index = 1; index < POINTS.length; index += 1) {
    const [fromX, fromY] = POINTS[index - 1] ?? [0, 0]
    const [toX, toY] = POINTS[index] ?? [0, 0]
    const [alongX, alongY] = [toX - fromX, toY - fromY]
    const part = ((x - fromX) * alongX + (y - fromY) * alongY) / (alongX ** 2 + alongY ** 2)
    const near = Math.min(1, Math.max(0, part))
    least = Math.min(least, Math.hypot(x - fromX - near * alongX, y - fromY - near * alongY))
  }
  return least
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  return Buffer.concat([Buffer.from(uint32(data.length)), body, Buffer.from(uint32(crc32(body)))])
}

function uint32(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]
}
