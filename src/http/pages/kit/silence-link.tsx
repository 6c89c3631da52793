/** Links from an alert, an incident or a service to the silence form, with the matchers filled in. */
import type { FC } from 'hono/jsx'
import { formatMatchers, type Matcher } from '../../../domain/silence/matcher.ts'
import { Icon } from './mark.tsx'

/** The names and values that the silence should match. Empty values are omitted. */
type Matched = Readonly<Partial<Record<'service' | 'namespace' | 'cluster' | 'alertname', string>>>

/** Returns the address of the form for a new silence with these matchers. */
export function silenceHref(matchers: readonly Matcher[]): string {
  return `/settings/silences/new?${new URLSearchParams({ matchers: formatMatchers(matchers) })}`
}

/** A button that opens the form. `what`: its description for screen readers. */
export const SilenceLink: FC<{ matched: Matched; what: string; look?: string }> = ({ matched, what, look = '' }) => (
  <a class={`button ${look}`} href={silenceHref(matchersOf(matched))}>
    <Icon name="bell-off" />
    Silence<span class="hidden-text"> {what}</span>
  </a>
)

/** Returns matchers for the values that are not empty. */
export function matchersOf(matched: Matched): readonly Matcher[] {
  return Object.entries(matched).flatMap(([name, value]) => (value === '' ? [] : [{ name, op: '=', value }]))
}
