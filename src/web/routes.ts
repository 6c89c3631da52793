/** All pages of the website. */
import { IncmonError } from '../domain/error.ts'
import { problemOf } from '../http/middleware/problem.ts'
import { answerAsset } from '../http/middleware/reply.ts'
import { acknowledgeRoutes } from './acknowledge/routes.tsx'
import { alertRoutes } from './alerts/routes.tsx'
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
import { settingsPages } from './settings/routes.tsx'
import { signInRoutes } from './sign-in/routes.tsx'
import { silencePages } from './silences/routes.tsx'
import { sourceRoutes } from './sources/routes.tsx'
import { streamRoutes } from './stream.ts'

/** The URLs of the style sheet and the script change with their content, so browsers can cache them for a year. */
const YEAR = 'public, max-age=31536000, immutable'
const DAY = 'public, max-age=86400'

const assetRoutes: readonly PageRoute[] = [
  {
    method: 'GET',
    path: '/assets/:file',
    handle: async (c, { server }) => {
      const file = server.web.assets().find(c.req.path)
      if (!file) return problemOf(new IncmonError('not-found', 'no such file; load the page again'))
      return answerAsset(c, file, { 'cache-control': c.req.path.includes(file.tag) ? YEAR : DAY })
    },
  },
]

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
  ...settingsPages,
  ...channelPages,
  ...silencePages,
  ...helpRoutes,
  ...postmortemRoutes,
  ...reportRoutes,
]

/** Returns the error page for an unknown URL. */
export const missingPage: PageRoute = openPage('GET *', answerMissing)
