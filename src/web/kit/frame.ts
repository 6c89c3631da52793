/** What all parts of a page know: the layout's data, and who reads the page when. */
import { createContext, useContext } from 'hono/jsx'
import type { Reader } from '../../domain/shown-time.ts'
import type { MarkName } from './symbols.ts'

export type Section = 'services' | 'incidents' | 'alerts' | 'sources' | 'reports' | 'settings'
export type Theme = 'auto' | 'light' | 'dark'

/** A message above the content. */
export type Banner = {
  readonly text: string
  readonly level: 'done' | 'warning' | 'error'
  /** The numbers of the incidents whose acknowledgement can be taken back, separated by commas. */
  readonly undo?: string | null
}

/** The data for the layout. URLs start with `/`; `withPrefix` prepends a proxy's path prefix. */
export type Frame = Reader & {
  /** The organization's name; null if nobody is signed in. */
  readonly organization: string | null
  /** Whether the visitor is signed in to other organizations, too. */
  readonly canSwitch: boolean
  readonly current: Section | null
  /** The number of unresolved incidents. */
  readonly unresolved: number
  /** The number of channels whose messages are not delivered. */
  readonly failing: number
  /** The worst status of any service, for the favicon. */
  readonly worst: MarkName
  readonly theme: Theme
  readonly version: string
  /** The URLs of the style sheet and the script. */
  readonly style: string
  readonly script: string
  /** The URL of this page. Forms redirect back to this page. */
  readonly back: string
  readonly banner: Banner | null
  /** Whether the page shows something only once, for example a secret. The script must not refresh such a page. */
  readonly still: boolean
  /** Whether the page has no navigation, for a screen that nobody operates. */
  readonly bare: boolean
  /** The CSRF token of the forms; null if nobody is signed in. */
  readonly csrf: string | null
  readonly canWrite: boolean
  readonly canAdminister: boolean
  /** Whether any event has ever been received. */
  readonly hasEvents: boolean
  /** Whether keyboard shortcuts are enabled. */
  readonly keys: boolean
}

export const FrameContext = createContext<Frame | null>(null)

/** Returns the frame of the page that is being rendered. Throws outside of a page. */
export function getFrame(): Frame {
  const frame = useContext(FrameContext)
  if (frame === null) throw new Error('a component needs a page around it')
  return frame
}
