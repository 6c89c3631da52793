/** The marks, icons and badges on all pages. A level has the same shape and color everywhere. */
import { type Child, type FC, Fragment } from 'hono/jsx'
import type { IncidentStatus } from '../../domain/incident/incident.ts'
import { capitalized, formatCount } from '../../domain/text.ts'
import type { IconName } from './symbols.ts'

/** The severity of an alert or incident, or the status of a service. */
type Level = 'critical' | 'error' | 'warning' | 'degraded' | 'recovering' | 'info' | 'healthy' | 'unknown' | 'done'

/** An icon. `label` is the icon's accessible name, which is required if there is no text next to the icon. */
export const Icon: FC<{ name: IconName; label?: string; class?: string }> = ({ name, label, class: more }) => (
  <svg class={more ? `icon ${more}` : 'icon'} {...spoken(label)}>
    <use href={`#i-${name}`} />
  </svg>
)

/**
 * The mark for a level. `label` is the mark's accessible name, which is required if there is no text next to the mark.
 */
export const Mark: FC<{ level: Level; label?: string }> = ({ level, label }) => (
  <svg class={`mark level-${level}`} {...spoken(label)}>
    <use href={`#m-${level === 'degraded' || level === 'recovering' ? 'warning' : level}`} />
  </svg>
)

/** A mark with text that can wrap. */
export const Marked: FC<{ level: Level; class?: string; children?: Child }> = ({ level, class: look, children }) => (
  <span class="with-icon">
    <Mark level={level} />
    <span class={look}>{children}</span>
  </span>
)

/** The status of an incident: a ring divided into quarters, and a word. */
export const Status: FC<{ status: IncidentStatus; word?: boolean }> = ({ status, word = true }) => (
  <span class={`status status-${status}`}>
    <svg class="mark" {...spoken(word ? undefined : capitalized(status))}>
      <use href={`#m-${status === 'resolved' ? 'done' : status}`} />
    </svg>
    {word ? capitalized(status) : null}
  </span>
)

/** An entry of a legend: a mark and its meaning. */
export const LegendMark: FC<{ level: Level; text?: string }> = ({ level, text = level }) => (
  <span class="with-icon">
    <Mark level={level} />
    {text}
  </span>
)

/** A mark with text in the color of the level: "Critical for 12 min". */
export const Badge: FC<{ level: Level; text: string }> = ({ level, text }) => (
  <span class={`badge level-${level}`}>
    <Mark level={level} />
    {text}
  </span>
)

/**
 * Renders a count, for example `×440`. Counts below 100 are pale; higher counts are strong. Renders nothing for a count
 * of 1.
 */
export const RepeatCount: FC<{ count: number }> = ({ count }) =>
  count < 2 ? null : <span class={count < 100 ? 'times' : 'times times-many'}>×{formatCount(count)}</span>

/** Renders a link to another site. `href` must come from `safeUrl`. */
export const External: FC<{ href: string; text: string }> = ({ href, text }) => (
  <a href={href} rel="noreferrer" class="with-icon">
    {text}
    <Icon name="external" />
  </a>
)

/** Shows a command. Lines break only between words so that flags stay in one piece. */
export const Command: FC<{ text: string }> = ({ text }) => (
  <code>
    {text.split(' ').map((word, index) => (
      <>
        {index === 0 ? '' : ' '}
        <span class="word">{word}</span>
      </>
    ))}
  </code>
)

/** Words to break, and where: after a separator and before a capital letter, as in `KubeDeployment`. */
const LONG_WORD = /(\S{17,})/
const SEAMS = /(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=[_.:/=,@&?#])(?=[\p{L}\d])/u

/** Renders text, `in` an element if given, whose long words, such as names, can break between their parts. */
export const Words: FC<{ text: string; in?: 'b' | 'p' | 'span'; class?: string }> = ({
  text,
  in: Tag = Fragment,
  class: look,
}) => {
  const parts = text
    .split(LONG_WORD)
    .map((part, index) =>
      index % 2 === 0 ? part : part.split(SEAMS).map((seam, at) => (at === 0 ? seam : [<wbr />, seam])),
    )
  return <Tag class={look}>{parts}</Tag>
}

/** Renders a name of up to `max` characters. A longer name is cut in its middle, because its end tells names apart. */
export const ShortName: FC<{ text: string; max: number }> = ({ text, max }) => {
  const letters = [...text]
  if (letters.length <= max)
    return (
      <bdi>
        <Words text={text} />
      </bdi>
    )
  const end = Math.floor(max / 3)
  return (
    <bdi title={text}>
      <Words text={letters.slice(0, max - end - 1).join('')} />…
      <Words text={letters.slice(-end).join('')} />
    </bdi>
  )
}

/** Renders `shop/checkout` with a pale namespace and a strong name. A name longer than `max` is cut in its middle. */
export const ServiceName: FC<{ namespace: string; name: string; max?: number }> = ({ namespace, name, max }) => (
  <>
    {namespace === '' ? null : <span class="quiet">{namespace}/</span>}
    <wbr />
    <b>{max === undefined ? <Words text={name} /> : <ShortName text={name} max={max} />}</b>
  </>
)

function spoken(label: string | undefined) {
  return label === undefined ? { 'aria-hidden': 'true' as const } : { role: 'img', 'aria-label': label }
}

// Checks URLs from senders. Only http and https URLs become links.

/**
 * Returns an absolute http or https URL without its user name and password. Returns null for any other value, which the
 * page then shows as text.
 */
export function safeUrl(text: string): string | null {
  try {
    const url = Object.assign(new URL(text), { username: '', password: '' })
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null
  } catch {
    return null
  }
}
