/** The server context for tests: no stalls, no trusted proxies, and errors on standard error. */
import { appIcon, recordedText, webTexts } from '../../src/assets.ts'
import { readRecorded } from '../../src/domain/example/recorded.ts'
import { limitPendingBodies } from '../../src/server/connection/pending-bodies.ts'
import { createWrongTokens } from '../../src/server/connection/wrong-tokens.ts'
import { numberRequests, type ServerContext } from '../../src/server/context.ts'
import { createLog } from '../../src/server/log.ts'
import { createMetrics } from '../../src/server/metrics.ts'
import { createNotices } from '../../src/server/notices.ts'
import { createRefusals } from '../../src/server/repeated.ts'
import { createWeb } from '../../src/server/web.ts'
import { APP_MANIFEST, TAB_ICONS } from '../../src/web/kit/symbols.ts'

export function makeServerContext(more: Partial<ServerContext> = {}): ServerContext {
  const log = more.log ?? createLog('error', (line) => void process.stderr.write(line))
  return {
    log,
    metrics: createMetrics('1.2.3'),
    refusals: createRefusals(log),
    wrongTokens: createWrongTokens(() => 0),
    pendingBodies: limitPendingBodies(),
    damage: { note: () => {} },
    web: createWeb({
      version: '1.2.3',
      program: 'npm run -s incmon --',
      csrfKey: 'K'.repeat(43),
      notices: createNotices('run', () => 0),
      load: webTexts,
      appIcon,
      icons: TAB_ICONS,
      manifest: APP_MANIFEST,
      settings: () => ({ userHeader: '', userOrganization: '', userScopes: ['read', 'write'], pathPrefix: '' }),
      example: (now) => readRecorded(recordedText('example'), now),
    }),
    notifier: {
      test: async () => ({ status: 200, detail: 'ok', remoteId: null, retryAfter: 0 }),
      sending: () => 0,
      hasMailServer: () => true,
      checkTarget: async () => ({ refusal: null, warning: null }),
      warning: () => null,
    },
    elapsed: () => 0,
    pause: () => Promise.resolve(),
    newRequestId: numberRequests('test'),
    isTrusted: () => false,
    isStopping: () => false,
    held: () => null,
    clusters: () => [],
    workloadNow: () => null,
    listening: () => null,
    checks: () => [],
    ...more,
  }
}
