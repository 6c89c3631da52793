/** Shows one section of the settings. */
import type { Child, FC } from 'hono/jsx'
import type { Reply } from '../../http/middleware/reply.ts'
import type { Fault } from '../kit/form.tsx'
import type { Visit } from '../page.ts'
import { type Shown, show } from '../visit/reply.ts'

type Section = Pick<Shown, 'content' | 'still' | 'banner'> & {
  readonly current: SettingsSection
  readonly title?: string
  readonly faults?: readonly Fault[]
}

/** Returns the page for a section. The status is 400 if there are form errors. */
export function showSection(visit: Visit, section: Section): Promise<Reply> {
  const { current, content, title = 'Settings', faults = [], ...more } = section
  const isAdmin = visit.visitor.scopes.includes('admin')
  const framed = (
    <SettingsFrame current={current} isAdmin={isAdmin}>
      {content}
    </SettingsFrame>
  )
  const status = faults.length > 0 ? 400 : 200
  return show(visit, { ...more, title, content: framed, current: 'settings', status })
}

type SettingsSection = 'general' | 'tokens' | 'sessions' | 'notifications' | 'silences' | 'retention'

const SECTIONS: readonly { readonly section: SettingsSection; readonly href: string; readonly word: string }[] = [
  { section: 'general', href: '/settings', word: 'General' },
  { section: 'tokens', href: '/settings/tokens', word: 'Tokens' },
  { section: 'sessions', href: '/settings/sessions', word: 'Sessions' },
  { section: 'notifications', href: '/settings/notifications', word: 'Notifications' },
  { section: 'silences', href: '/settings/silences', word: 'Silences' },
  { section: 'retention', href: '/settings/retention', word: 'Retention' },
]

const SettingsFrame: FC<{ current: SettingsSection; isAdmin: boolean; children?: Child }> = (props) => (
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
