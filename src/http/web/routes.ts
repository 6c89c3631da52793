/** All pages of the website. */
import { acknowledgeRoutes } from './acknowledge.tsx'
import { alertRoutes } from './alerts.tsx'
import { assetRoutes } from './assets.ts'
import { answerMissing } from './errors.tsx'
import { helpRoutes } from './help.tsx'
import { incidentRoutes } from './incidents.tsx'
import { overviewRoutes } from './overview.tsx'
import { postmortemRoutes } from './postmortem.tsx'
import { reportRoutes } from './reports.tsx'
import { serviceRoutes } from './service.tsx'
import { channelPages } from './settings/channels.tsx'
import { generalPages } from './settings/general.tsx'
import { silencePages } from './settings/silences.tsx'
import { tokenPages } from './settings/tokens.tsx'
import { signInRoutes } from './sign-in.tsx'
import { sourceRoutes } from './sources.tsx'
import { streamRoutes } from './stream.ts'
import { openPage, type PageRoute } from './visit/page.ts'

export const PAGES: readonly PageRoute[] = [
  ...assetRoutes,
  ...streamRoutes,
  ...signInRoutes,
  ...acknowledgeRoutes,
  ...overviewRoutes,
  ...incidentRoutes,
  ...serviceRoutes,
  ...alertRoutes,
  ...sourceRoutes,
  ...generalPages,
  ...tokenPages,
  ...channelPages,
  ...silencePages,
  ...helpRoutes,
  ...postmortemRoutes,
  ...reportRoutes,
]

/** Returns the error page for an unknown URL. */
export const missingPage: PageRoute = openPage('GET *', answerMissing)
