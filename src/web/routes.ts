/** All pages of the website. */
import { acknowledgeRoutes } from './acknowledge/routes.tsx'
import { alertRoutes } from './alerts/routes.tsx'
import { assetRoutes } from './assets.ts'
import { channelPages } from './channels/routes.tsx'
import { answerMissing } from './errors/routes.tsx'
import { helpRoutes } from './help/routes.tsx'
import { incidentEditRoutes } from './incident/edit-routes.tsx'
import { incidentRoutes } from './incident/routes.tsx'
import { overviewRoutes } from './overview/routes.tsx'
import { openPage, type PageRoute } from './page.ts'
import { postmortemRoutes } from './postmortem/routes.tsx'
import { reportRoutes } from './reports/routes.tsx'
import { serviceRoutes } from './service/routes.tsx'
import { generalPages } from './settings/general-routes.tsx'
import { tokenPages } from './settings/token-routes.tsx'
import { signInRoutes } from './sign-in/routes.tsx'
import { silencePages } from './silences/routes.tsx'
import { sourceRoutes } from './sources/routes.tsx'
import { streamRoutes } from './stream.ts'

export const PAGES: readonly PageRoute[] = [
  ...assetRoutes,
  ...streamRoutes,
  ...signInRoutes,
  ...acknowledgeRoutes,
  ...overviewRoutes,
  ...incidentRoutes,
  ...incidentEditRoutes,
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
