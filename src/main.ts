/** The entry point: runs the command line and sets the exit code. */
import { runProgram } from './cli/cli.ts'

// Sets the name in process lists, which would otherwise be MainThread.
process.title = ['incmon', ...process.argv.slice(2)].join(' ')

// A reader such as `head` can close the pipe early, which is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

void runProgram(process.argv.slice(2)).then((code) => {
  process.exitCode = code
})
