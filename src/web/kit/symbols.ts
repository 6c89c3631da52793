/** All icons and marks as SVG symbols. A page contains only the symbols it uses. */
import { APP_ICON_SIZES } from '../../server/web.ts'

/** Line icons in the text color, drawn on a 24 × 24 grid. */
const ICONS = {
  pulse: 'M2 12h4l3-8 5 16 3-8h5',
  grid: 'M4 4h6v6H4zM14 4h6v6h-6zM4 14h6v6H4zM14 14h6v6h-6z',
  incident: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 8v4M12 16h.01',
  inbox: 'M12 3v11m-4-4 4 4 4-4M4 15v5h16v-5',
  report: 'M4 4v16h16M8 14l3-4 3 2 5-6',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM20 20l-4-4',
  settings: 'M4 8h10M18 8h2M16 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM4 16h2M10 16h10M8 14a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  branch: 'M6 3v12M6 21a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM18 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM18 9a9 9 0 0 1-9 9',
  layers: 'M12 3l9 5-9 5-9-5zM3 12l9 5 9-5M3 16l9 5 9-5',
  box: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9',
  bars: 'M5 20v-6M10 20V8M15 20v-9M20 20V4',
  chart: 'M4 4v16h16M8 15l3-4 3 2 4-6',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM5 21a7 7 0 0 1 14 0',
  server: 'M4 4h16v7H4zM4 13h16v7H4zM8 7.5h.01M8 16.5h.01',
  workload: 'M5 5h14v14H5zM9 12h6',
  right: 'M5 12h14M13 6l6 6-6 6',
  link: 'M5 4v7a4 4 0 0 0 4 4h10M15 11l4 4-4 4',
  external: 'M14 4h6v6M20 4l-9 9M10 5H5v14h14v-5',
  check: 'M4 12l5 6L20 6',
  cross: 'M6 6l12 12M18 6L6 18',
  plus: 'M12 5v14M5 12h14',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  bell: 'M6 9a6 6 0 0 1 12 0c0 6 3 7 3 8H3c0-1 3-2 3-8M10 21h4',
  'bell-off': 'M8 5a6 6 0 0 1 10 4c0 2 .3 3.6.8 5M18 17H3c0-1 3-2 3-8M10 21h4M3 3l18 18',
  file: 'M6 3h8l4 4v14H6zM9 12h6M9 16h6',
  message: 'M4 4h16v12H9l-5 4z',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 2',
  key: 'M15 3a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM11 13l-8 8M6 18l2 2',
} as const

/** Filled marks, drawn on a 16 × 16 grid. `on` is the drawing inside the mark. */
const MARKS = {
  critical: '<rect x="1" y="1" width="14" height="14" rx="3"/><path class="on" d="M7 3.5h2v5.5H7zM7 10.5h2v2H7z"/>',
  error: '<path d="M8 .6 15.4 8 8 15.4.6 8z"/><path class="on" d="M7.2 4h1.6v5H7.2zM7.2 10.2h1.6v1.6H7.2z"/>',
  warning: '<path d="M8 1.2 15.6 14.5H.4z"/><path class="on" d="M7.2 5.5h1.6v4.5H7.2zM7.2 11h1.6v1.6H7.2z"/>',
  info: '<path fill-rule="evenodd" d="M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1zm0 1.6a5.4 5.4 0 1 0 0 10.8A5.4 5.4 0 0 0 8 2.6z"/><path d="M7.2 7h1.6v4.5H7.2zM7.2 4.5h1.6v1.6H7.2z"/>',
  healthy: '<circle cx="8" cy="8" r="3.5"/>',
  unknown:
    '<circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.6" stroke-dasharray="2.7 2"/>',
  done: '<circle cx="8" cy="8" r="7"/><path class="on" d="M6.9 11.6 3.6 8.3l1.2-1.2 2.1 2.1 4.3-4.6 1.3 1.1z"/>',
  open: '<circle cx="8" cy="8" r="5.8" fill="none" stroke="currentColor" stroke-width="1.8"/>',
  investigating: ring('M8 8V4a4 4 0 0 1 4 4z'),
  identified: ring('M8 4a4 4 0 0 1 0 8z'),
  monitoring: ring('M8 8H4a4 4 0 1 0 4-4z'),
} as const

export type IconName = keyof typeof ICONS
export type MarkName = keyof typeof MARKS

/** Returns a hidden SVG element with the symbols used in the HTML, or '' if there are none. */
export function symbolsFor(html: string): string {
  const used = new Set([...html.matchAll(/href="#([im])-([a-z-]+)"/g)].map(([, kind, name]) => `${kind}-${name}`))
  const drawn = [...used].flatMap((id) => symbol(id) ?? [])
  return drawn.length === 0 ? '' : `<svg id="symbols" width="0" height="0" aria-hidden="true">${drawn.join('')}</svg>`
}

/** The icon on a phone's home screen. `icons/` has the same picture as PNG files. */
const APP_ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-6 -6 36 36"><path fill="#0d1014" d="M-6-6h36v36H-6z"/><path fill="none" stroke="#82b1ff" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" d="${ICONS.pulse}"/></svg>`

/** The web app manifest, which lets a phone keep incmon on its home screen. Its paths are relative to its own. */
export const APP_MANIFEST = JSON.stringify({
  ...{ name: 'incmon', short_name: 'incmon', start_url: '../', scope: '../', display: 'standalone' },
  ...{ background_color: '#0d1014', theme_color: '#0d1014' },
  icons: [
    { src: 'app.svg', sizes: 'any', type: 'image/svg+xml', purpose: 'any maskable' },
    ...APP_ICON_SIZES.map((size) => ({
      ...{ src: `app-${size}.png`, sizes: `${size}x${size}`, type: 'image/png', purpose: 'any maskable' },
    })),
  ],
})

/** The favicons by name, as SVG. The favicon shows the worst status of any service. */
export const TAB_ICONS: Readonly<Record<string, string>> = {
  'icon-critical': markFile('critical', '#b3101d'),
  'icon-warning': markFile('warning', '#b58500'),
  'icon-done': markFile('done', '#0c8468'),
  'icon-unknown': markFile('unknown', '#767f8c'),
  app: APP_ICON,
}

/** Returns a mark as an SVG file for the favicon. `colour` is a color of the light theme. */
function markFile(name: MarkName, colour: string): string {
  const drawn = MARKS[name].replaceAll('class="on"', 'fill="#fff"').replaceAll('currentColor', colour)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" fill="${colour}">${drawn}</svg>`
}

function symbol(id: string): string | null {
  const name = id.slice(2)
  if (id.startsWith('i-') && Object.hasOwn(ICONS, name))
    return `<symbol id="${id}" viewBox="0 0 24 24"><path d="${ICONS[name as IconName]}"/></symbol>`
  if (id.startsWith('m-') && Object.hasOwn(MARKS, name))
    return `<symbol id="${id}" viewBox="0 0 16 16">${MARKS[name as MarkName]}</symbol>`
  return null
}

/** Returns a ring in which some quarters are filled. */
function ring(filled: string): string {
  return `<circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="${filled}"/>`
}
