/** The layout of the settings: a list of sections on the left, the selected section on the right. */
import type { Child, FC } from 'hono/jsx'

export type SettingsSection = 'general' | 'tokens' | 'sessions' | 'notifications' | 'silences' | 'retention'

type Item = { readonly section: SettingsSection; readonly href: string; readonly word: string }

const SECTIONS: readonly Item[] = [
  { section: 'general', href: '/settings', word: 'General' },
  { section: 'tokens', href: '/settings/tokens', word: 'Tokens' },
  { section: 'sessions', href: '/settings/sessions', word: 'Sessions' },
  { section: 'notifications', href: '/settings/notifications', word: 'Notifications' },
  { section: 'silences', href: '/settings/silences', word: 'Silences' },
  { section: 'retention', href: '/settings/retention', word: 'Retention' },
]

export const SettingsFrame: FC<{ current: SettingsSection; isAdmin: boolean; children?: Child }> = (props) => (
  <>
    <h1>Settings</h1>
    <div class="side settings">
      <nav aria-label="Settings" class="sections">
        {SECTIONS.filter(({ section }) => props.isAdmin || section === 'general' || section === 'silences').map(
          ({ section, href, word }) => (
            <a href={href} aria-current={section === props.current ? 'page' : undefined}>
              {word}
            </a>
          ),
        )}
      </nav>
      <div>{props.children}</div>
    </div>
  </>
)
