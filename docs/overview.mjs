/** Draws docs/overview.svg, the diagram in the README: four senders → service → incident → postmortem. */
import { writeFileSync } from 'node:fs'

const WIDTH = 880
const HEIGHT = 300

/** The colors of both themes. The SVG picks one with `prefers-color-scheme`. */
export const THEMES = {
  light: { page: '#ffffff', box: '#f6f8fa', line: '#57606a', title: '#1f2328', text: '#4a525a', accent: '#a40e26' },
  dark: { page: '#0d1117', box: '#161b22', line: '#8b949e', title: '#f0f6fc', text: '#b1bac4', accent: '#ff8182' },
}

const SENDERS = [
  ['Kubernetes events', 'BackOff, OOMKilled, …'],
  ['Alertmanager', 'Prometheus alerts'],
  ['Grafana', 'alert rules'],
  ['GitLab CI', 'pipelines and deploys'],
]

const STEPS = [
  { title: 'Service', lines: ['shop/checkout', 'score 20 of 100'], state: 'critical' },
  { title: 'Incident', lines: ['opened automatically', 'causes ranked:', '1. failed deploy 4711'] },
  { title: 'Postmortem', lines: ['summary, timeline,', 'impact, trigger,', 'action items'] },
]

/** Returns the picture as SVG text. */
export function drawOverview() {
  const senders = SENDERS.map(([title, text], index) => sender(title, text, 12 + index * 72))
  const steps = STEPS.map((step, index) => box(step, 292 + index * 206))
  const arrows = [
    ...SENDERS.map((_, index) => arrow(202, 42 + index * 72, 284, 126 + index * 16)),
    arrow(462, 150, 490, 150),
    arrow(668, 150, 696, 150),
  ]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title">`,
    '<title id="title">Four senders report problems with one service. incmon opens an incident and generates a postmortem.</title>',
    `<style>${style()}</style>`,
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">',
    '<path class="head" d="M0 0 L8 4 L0 8 Z"/></marker></defs>',
    ...arrows,
    ...senders,
    ...steps,
    '</svg>',
    '',
  ].join('\n')
}

function sender(title, text, y) {
  return [
    `<rect class="box" x="10" y="${y}" width="190" height="60" rx="6"/>`,
    label('title', 22, y + 26, title),
    label('text', 22, y + 46, text),
  ].join('\n')
}

function box({ title, lines, state }, x) {
  return [
    `<rect class="box" x="${x}" y="86" width="168" height="128" rx="6"/>`,
    label('title', x + 14, 114, title),
    ...lines.map((line, index) => label('text', x + 14, 140 + index * 20, line)),
    ...(state ? [label('accent', x + 14, 140 + lines.length * 20, state)] : []),
  ].join('\n')
}

function arrow(x1, y1, x2, y2) {
  return `<path class="arrow" d="M${x1} ${y1} L${x2} ${y2}" marker-end="url(#head)"/>`
}

function label(kind, x, y, text) {
  return `<text class="${kind}" x="${x}" y="${y}">${text}</text>`
}

function style() {
  const rules = ({ page, box, line, title, text, accent }) =>
    [
      `svg{background:${page}}`,
      `.box{fill:${box};stroke:${line}}`,
      `.arrow{fill:none;stroke:${line};stroke-width:1.5}`,
      `.head{fill:${line}}`,
      `.title{fill:${title};font-weight:600;font-size:16px}`,
      `.text{fill:${text};font-size:13px}`,
      `.accent{fill:${accent};font-size:13px;font-weight:600}`,
    ].join('')
  const font = "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"
  return `${font}${rules(THEMES.light)}@media(prefers-color-scheme:dark){${rules(THEMES.dark)}}`
}

if (import.meta.main) writeFileSync(new URL('overview.svg', import.meta.url), drawOverview())
