/** The layout of every page: head, navigation bar, banner, content and footer. */
import { html, raw } from 'hono/html'
import type { Child, FC } from 'hono/jsx'
import { formatClock, formatExactClock, shortZone } from '../../domain/shown-time.ts'
import { countOf } from '../../domain/text.ts'
import { Action, Form } from './form.tsx'
import { type Banner, type Frame, FrameContext, type Section, type Theme } from './frame.ts'
import { Icon, Mark } from './mark.tsx'
import { type IconName, symbolsFor } from './symbols.ts'
import { isoOf } from './time.tsx'

type Item = { readonly section: Section; readonly href: string; readonly word: string; readonly icon: IconName }

const ITEMS: readonly Item[] = [
  { section: 'services', href: '/', word: 'Services', icon: 'grid' },
  { section: 'incidents', href: '/incidents', word: 'Incidents', icon: 'incident' },
  { section: 'alerts', href: '/alerts', word: 'Alerts', icon: 'pulse' },
  { section: 'sources', href: '/sources', word: 'Sources', icon: 'inbox' },
  { section: 'reports', href: '/reports', word: 'Reports', icon: 'report' },
]

const NEXT_THEME: Readonly<Record<Theme, Theme>> = { auto: 'light', light: 'dark', dark: 'auto' }

/** Renders the whole page as HTML. */
export async function renderPage(props: {
  readonly frame: Frame
  /** The page title, with the most important fact first, for example `(1) checkout is critical`. */
  readonly title: string
  readonly content: Child
  /** Whether browsers without JavaScript reload the page regularly. */
  readonly refreshes: boolean
}): Promise<string> {
  const { frame, title, content, refreshes } = props
  const body = await html`${(
    <FrameContext.Provider value={frame}>
      <Body frame={frame}>{content}</Body>
    </FrameContext.Provider>
  )}`
  const refresh = refreshes ? '<noscript><meta http-equiv="refresh" content="30"></noscript>' : ''
  const page = await html`${raw(pageStart(frame))}<title>${`${title} \u00b7 incmon`}</title>
<link rel="icon" type="image/svg+xml" href="/assets/icon-${frame.worst}.svg" id="tab-icon">
<link rel="manifest" href="/assets/app.webmanifest">
<link rel="apple-touch-icon" href="/assets/app-192.png">
${raw(refresh)}
</head>
${raw(body.toString())}
</html>`
  // A shape without content needs no end tag.
  const text = page.toString().replace(/><\/(?:use|path|rect|circle)>/g, '/>')
  return text.replace('</body>', () => `${symbolsFor(text)}</body>`)
}

/** Returns the beginning of every page, which does not depend on its content. The browser loads what it names first. */
export function pageStart({ theme, style, script }: Pick<Frame, 'theme' | 'style' | 'script'>): string {
  return `<!doctype html>
<html lang="en"${theme === 'auto' ? '' : ` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<link rel="stylesheet" href="${style}">
<script src="${script}" defer></script>
`
}

/** Prepends a proxy's path prefix to every URL on the page that starts with `/`. */
export function withPrefix(page: string, prefix: string): string {
  return prefix === '' ? page : page.replace(/ (href|action|src|formaction)="\/(?!\/)/g, ` $1="${prefix}/`)
}

const Body: FC<{ frame: Frame; children?: Child }> = ({ frame, children }) => (
  <body
    class={frame.bare ? 'bare' : undefined}
    data-keys={frame.keys ? 'on' : 'off'}
    data-stream={frame.organization === null ? undefined : 'on'}
  >
    <a class="skip" href="#main">
      Skip to the content
    </a>
    {frame.organization === null || frame.bare ? null : <Bar frame={frame} />}
    <div id="banner" data-live>
      {frame.banner ? <BannerLine banner={frame.banner} canWrite={frame.canWrite} /> : null}
    </div>
    {frame.bare ? <Live frame={frame} /> : null}
    <main id="main" tabindex={-1} data-live={frame.still ? undefined : true}>
      {children}
    </main>
    {frame.bare ? null : <Foot frame={frame} />}
  </body>
)

/** The clock, and whether the page receives changes. A screen that has frozen shows an old time. */
const Live: FC<{ frame: Frame }> = ({ frame }) => (
  <p class="live" id="live" data-state="waiting">
    <span class="dot" aria-hidden="true" />
    <span id="live-word" role="status">
      {frame.hasEvents ? 'Ready' : 'Waiting'}
    </span>
    <time id="clock" data-zone={frame.zone} title={frame.zone} datetime={isoOf(frame.now)}>
      {formatClock(frame.now, frame.zone)} {shortZone(frame.zone)}
    </time>
  </p>
)

const Bar: FC<{ frame: Frame }> = ({ frame }) => (
  <header class="bar">
    <div class="inner">
      <a class="brand" href="/">
        <Icon name="pulse" />
        incmon
      </a>
      {frame.canSwitch ? (
        <a class="organization clip" href="/organizations" title="Switch to another organization">
          {frame.organization}
        </a>
      ) : (
        <span class="organization clip">{frame.organization}</span>
      )}
      <nav class="menu" id="menu" aria-label="Main" data-live>
        {ITEMS.map(({ section, href, word, icon }) => (
          <a href={href} aria-current={frame.current === section ? 'page' : undefined}>
            <Icon name={icon} />
            {word}
            {section === 'incidents' && frame.unresolved > 0 ? (
              <span class="counter" title={`${frame.unresolved} not resolved`}>
                {frame.unresolved}
              </span>
            ) : null}
          </a>
        ))}
      </nav>
      <form class="search" action="/search" role="search">
        <Icon name="search" />
        <input
          type="search"
          name="q"
          id="search"
          aria-label="Search services, incidents and alerts"
          placeholder="Search"
        />
        {frame.keys ? <kbd aria-hidden="true">/</kbd> : null}
      </form>
      <span id="failing" data-live>
        {frame.failing > 0 ? (
          <a class="gear failing" href="/settings/notifications" title={failingText(frame.failing)}>
            <Mark level="warning" label={failingText(frame.failing)} />
          </a>
        ) : null}
      </span>
      <Live frame={frame} />
      <a
        class="gear"
        href="/settings"
        aria-label="Settings"
        aria-current={frame.current === 'settings' ? 'page' : undefined}
      >
        <Icon name="settings" />
      </a>
    </div>
  </header>
)

function failingText(channels: number): string {
  return `Messages are not delivered to ${countOf(channels, 'channel')}`
}

const BannerLine: FC<{ banner: Banner; canWrite: boolean }> = ({ banner, canWrite }) => (
  <div class={`banner banner-${banner.level}`}>
    <div class="inner row" role="status" id="message" tabindex={-1}>
      <Mark level={banner.level} />
      <span>{banner.text}</span>
      {banner.undo && canWrite ? (
        <Action action="/incidents/unacknowledge" fields={{ incidents: banner.undo }} look="small">
          Undo
        </Action>
      ) : null}
    </div>
  </div>
)

const Foot: FC<{ frame: Frame }> = ({ frame }) => (
  <footer class="foot">
    <span id="updated" data-live>
      All times are {frame.zone === 'UTC' ? 'UTC' : `in the zone ${frame.zone}`}. Updated{' '}
      <time datetime={isoOf(frame.now)}>{formatExactClock(frame.now, frame.zone)}</time>.
    </span>
    <span class="end">
      {frame.organization === null ? null : (
        <>
          <a class="phone" href="/search">
            Search
          </a>
          <a class="phone" href="/settings">
            Settings
          </a>
          <a href="/keyboard">
            Keyboard <kbd class="desk">?</kbd>
          </a>
        </>
      )}
      <Form action="/theme" fields={{ theme: NEXT_THEME[frame.theme], back: frame.back }}>
        <button type="submit">Theme: {frame.theme}</button>
      </Form>
      <a href="/docs">API</a>
      <span>incmon {frame.version}</span>
    </span>
  </footer>
)
