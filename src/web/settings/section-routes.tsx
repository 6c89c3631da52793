/** Shows one section of the settings. */
import type { Reply } from '../../http/middleware/reply.ts'
import type { Fault } from '../kit/form.tsx'
import type { Visit } from '../page.ts'
import { type Shown, show } from '../visit/reply.ts'
import { SettingsFrame, type SettingsSection } from './frame.tsx'

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
