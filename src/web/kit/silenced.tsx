/** The mark for silenced alerts, and links to the form for a new silence. */
import type { FC } from 'hono/jsx'
import { formatMatchers, type Matcher } from '../../domain/silence/matcher.ts'
import { countOf, formatCount } from '../../domain/text.ts'
import { isolated } from './bidi.ts'
import { Form, Submit } from './form.tsx'
import { Icon } from './mark.tsx'
import { Time } from './time.tsx'

/** The number of firing alerts that are silenced, and when the first of the silences ends (null if unknown). */
export type Silenced = { readonly count: number; readonly until: number | null }

/** Renders `silenced until 14:30` or `2 alerts silenced`, or nothing if no alert is silenced. */
export const SilencedMark: FC<{ silenced: Silenced | null | undefined; of?: string }> = ({ silenced, of = '' }) => {
  if (!silenced) return null
  const { until } = silenced
  return (
    <span class="chip nowrap">
      {of} silenced
      {until === null ? null : (
        <>
          {' until '}
          <Time at={until} style="moment" />
        </>
      )}
    </span>
  )
}

/** Returns the number of silenced alerts as text, or '' if all or none of the alerts are silenced. */
export function silencedPart(silenced: Silenced | null | undefined, total: number): string {
  return !silenced || silenced.count === total ? '' : formatCount(silenced.count)
}

/** The names and values that the silence should match. Empty values are omitted. */
type Matched = Readonly<Partial<Record<'service' | 'namespace' | 'cluster' | 'alertname', string>>>

/** Returns the URL of the form for a new silence with these matchers. */
export function silenceHref(matchers: readonly Matcher[]): string {
  return `/settings/silences/new?${new URLSearchParams({ matchers: formatMatchers(matchers) })}`
}

type LinkProps = { matched: Matched; what: string; class?: string }

/** A link that opens the form. `what` describes the alerts for screen readers. */
export const SilenceLink: FC<LinkProps> = ({ matched, what, class: look = 'button' }) => (
  <a class={look} href={silenceHref(matchersOf(matched))}>
    <Icon name="bell-off" />
    Silence<span class="hidden-text"> {what}</span>
  </a>
)

/** The lengths that the menu offers. `tomorrow` lasts until 08:00. */
export const QUICK_LENGTHS = [
  ['30m', '30 min'],
  ['2h', '2 h'],
  ['8h', '8 h'],
  ['tomorrow', 'until tomorrow 08:00'],
] as const

type MenuProps = LinkProps & {
  /** The page to which the menu returns. */
  readonly back: string
  /** The number of firing alerts that the silence mutes. */
  readonly mutes: number
}

/** A menu that silences alerts for a while with one click, and leads to the form for anything else. */
export const SilenceMenu: FC<MenuProps> = ({ matched, what, back, mutes, class: look = 'button' }) => {
  const matchers = matchersOf(matched)
  return (
    <details class="confirm">
      <summary class={look}>
        <Icon name="bell-off" />
        Silence…<span class="hidden-text"> {what}</span>
      </summary>
      <Form action="/settings/silences/quick" class="stack" fields={{ back, matchers: formatMatchers(matchers) }}>
        <p>
          Silences {mutes === 0 ? 'no alert that is firing now' : `${countOf(mutes, 'alert')} now`}, and further ones of{' '}
          {isolated(what)}.
        </p>
        <div class="row">
          {QUICK_LENGTHS.map(([value, text]) => (
            <Submit look="small" name="length" value={value}>
              {text}
            </Submit>
          ))}
        </div>
        <a href={silenceHref(matchers)}>Other alerts or times…</a>
      </Form>
    </details>
  )
}

/** Returns a matcher for each value that is not empty. */
function matchersOf(matched: Matched): readonly Matcher[] {
  return Object.entries(matched).flatMap(([name, value]) => (value === '' ? [] : [{ name, op: '=', value }]))
}
