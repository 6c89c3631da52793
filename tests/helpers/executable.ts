/** The executable that `npm run build` makes for this machine, for tests that run it as it is delivered. */
import { existsSync, globSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const EXECUTABLE = `${ROOT}dist/incmon`

/** What is wrong with it as it is: nothing, or that it has to be built first. */
export function staleness(): string | false {
  if (!existsSync(EXECUTABLE)) return 'dist/incmon is not there: npm run build'
  const made = statSync(EXECUTABLE).mtimeMs
  const sources = globSync(['src/**/*.*', 'sql/*.sql', '*.mjs', 'package.json'], { cwd: ROOT })
  const isOld = sources.some((file) => statSync(ROOT + file).mtimeMs > made)
  return isOld && 'dist/incmon is older than the sources: npm run build'
}

/** Why its tests are skipped, for `test`'s option; never in CI, where it must be there. */
export const skipExecutable: string | false = process.env.CI ? false : staleness()
