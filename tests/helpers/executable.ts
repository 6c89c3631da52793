/** The executable that `npm run build` creates for this machine. */
import { existsSync, globSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const EXECUTABLE = `${ROOT}dist/incmon`

/** Returns why the executable has to be built first, or false if it is up to date. */
export function staleness(): string | false {
  if (!existsSync(EXECUTABLE)) return 'dist/incmon is not there: npm run build'
  const made = statSync(EXECUTABLE).mtimeMs
  const sources = globSync(['src/**/*.*', 'sql/*.sql', '*.mjs', 'package.json'], { cwd: ROOT })
  const isOld = sources.some((file) => statSync(ROOT + file).mtimeMs > made)
  return isOld && 'dist/incmon is older than the sources: npm run build'
}

/** The reason to skip the executable's tests, for the `skip` option. In CI they are never skipped. */
export const skipExecutable: string | false = process.env.CI ? false : staleness()
