/** The entry point: runs the command line and sets the exit code. */
import { createProgram } from './cli/cli.ts'
import { spellCommands } from './cli/database.ts'
import { explainFailure } from './cli/failure.ts'
import { printError } from './cli/output.ts'
import { systemClock } from './deps.ts'

// Sets the name in process lists, which would otherwise be MainThread.
process.title = ['incmon', ...process.argv.slice(2)].join(' ')

// A reader such as `head` can close the pipe early, which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

const program = createProgram(systemClock)
program.parseAsync().catch((error: unknown) => {
  const { lines, exitCode } = explainFailure(error)
  for (const line of lines) printError(`incmon: ${spellCommands(line, program.opts())}`)
  process.exitCode = exitCode
})
