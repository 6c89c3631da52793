/** Turns facts about an installation into findings and remedies. Start here. */
import { diagnoseCertificate } from './certificate.ts'
import { diagnoseChannels, diagnoseContent } from './content.ts'
import { diagnoseDatabaseFile } from './database-file.ts'
import { type DoctorFacts, type Finding, fail, ok, warn } from './facts.ts'
import { diagnoseLimits } from './limits.ts'
import { diagnoseRefusedSenders } from './tokens.ts'

/** Returns all findings, in the order in which an operator would check them. */
export function diagnose(facts: DoctorFacts): Finding[] {
  return [
    ...diagnoseConfiguration(facts),
    ...diagnoseDatabaseFile(facts),
    ...diagnoseContent(facts),
    ...diagnoseChannels(facts),
    ...diagnoseLimits(facts),
    diagnoseServer(facts),
    ...diagnoseRefusedSenders(facts),
    ...diagnoseCertificate(facts),
  ]
}

function diagnoseConfiguration({ faults }: DoctorFacts): Finding[] {
  if (faults.length === 0)
    return [ok('configuration', 'no errors in the options, environment variables and configuration file')]
  return faults.map((fault) =>
    fail('configuration', fault, 'correct this setting; the other checks use its default value'),
  )
}

/** Checks which program is using the port. If the program is incmon, also checks whether it uses this database. */
function diagnoseServer({ served, port, address }: DoctorFacts): Finding {
  switch (port.state) {
    case 'incmon':
      return diagnoseRunning(address, port.unready, served)
    case 'other':
      return fail('port', `another program is listening on ${address}`, 'stop that program, or choose another --port')
    case 'changed':
      return warn(
        'port',
        `incmon is listening on ${port.address}, but ${address} is configured`,
        'restart the server, because SIGHUP cannot change the address',
      )
    case 'denied':
      return fail('port', `${address} is not available (${port.code})`, 'choose another --host or --port')
    case 'unreachable':
      return warn('port', 'a server is using the database, but this command cannot reach it', port.why)
    case 'any':
      return served ? silentServer() : ok('port', 'any free port; no server is running')
    case 'free':
      return served ? silentServer() : ok('port', `${address} is free: no server is running`)
  }
}

function diagnoseRunning(address: string, unready: string | null, served: boolean): Finding {
  if (unready !== null)
    return fail('port', `incmon is listening on ${address} but is not ready: ${unready}`, 'see above')
  if (served) return ok('port', `incmon is listening on ${address} and is ready`)
  const remedy = 'set --database to the file of that server, or --host and --port to the address of your server'
  return warn('port', `incmon is listening on ${address}, but it uses another database`, remedy)
}

function silentServer(): Finding {
  return warn(
    'port',
    'a server is using the database, but does not respond on its socket',
    'the server is starting or stopping: try again',
  )
}
