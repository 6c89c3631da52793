/** Shows one section of the settings. */
import type { Child } from 'hono/jsx'
import type { Reply } from '../../middleware/reply.ts'
import type { Fault } from '../../pages/kit/form.tsx'
import type { Banner } from '../../pages/layout.tsx'
import { SettingsFrame, type SettingsSection } from '../../pages/settings/frame.tsx'
import type { Visit } from '../visit/page.ts'
import { show } from '../visit/reply.ts'

type Section = {
  readonly current: SettingsSection
  readonly content: Child
  readonly title?: string
  readonly faults?: readonly Fault[]
  /** Whether the content is shown only once, for example a secret. The script must not refresh such a page. */
  readonly still?: boolean
  readonly banner?: Banner
}

/** Returns the page for a section. The status is 400 if there are form errors. */
export function showSection(visit: Visit, section: Section): Promise<Reply> {
  const { current, content, title = 'Settings', faults = [], still = false, banner } = section
  const isAdmin = visit.visitor.scopes.includes('admin')
  const framed = (
    <SettingsFrame current={current} isAdmin={isAdmin}>
      {content}
    </SettingsFrame>
  )
  const status = faults.length > 0 ? 400 : 200
  return show(visit, { title, content: framed, current: 'settings', status, still, ...(banner ? { banner } : {}) })
}
