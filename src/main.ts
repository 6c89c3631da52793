/** The entry: runs the command line and sets the exit code. */
import { createProgram } from './cli/cli.ts'
import { explainFailure } from './cli/failure.ts'
import { printError } from './cli/output.ts'
import { systemClock } from './deps.ts'

// Where processes are listed it is found by its name; Node calls itself MainThread.
process.title = ['incmon', ...process.argv.slice(2)].join(' ')

// Who reads the output may have seen enough, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

createProgram(systemClock)
  .parseAsync()
  .catch((error: unknown) => {
    const { lines, exitCode } = explainFailure(error)
    for (const line of lines) printError(`incmon: ${line}`)
    process.exitCode = exitCode
  })
