/** Checks what is using the port, and if it is incmon, whether it uses this database. */
import { type DoctorFacts, type Finding, fail, ok, warn } from './facts.ts'

export function diagnoseServer({ served, port, address }: DoctorFacts): Finding[] {
  switch (port.state) {
    case 'incmon':
      return [diagnoseRunning(address, port.unready, served)]
    case 'other':
      return [fail('port', `another program listens on ${address}`, 'stop it, or choose another --port')]
    case 'changed':
      return [
        warn(
          'port',
          `incmon listens on ${port.address}, and ${address} is configured`,
          'restart it, because SIGHUP is not enough',
        ),
      ]
    case 'denied':
      return [fail('port', `${address} is not available (${port.code})`, 'choose another --host or --port')]
    case 'unreachable':
      return [warn('port', 'a server uses the file, but this command cannot reach it', port.why)]
    case 'any':
      return [served ? silentServer() : ok('port', 'any free port; no server runs')]
    case 'free':
      return [diagnoseFree(address, served)]
  }
}

function diagnoseRunning(address: string, unready: string | null, served: boolean): Finding {
  if (unready !== null) return fail('port', `incmon listens on ${address} and is not ready: ${unready}`, 'see above')
  if (served) return ok('port', `incmon listens on ${address} and is ready`)
  const text = `incmon listens on ${address}, but with another database`
  return warn('port', text, 'set --database to its file, or --host and --port to the address of your server')
}

function diagnoseFree(address: string, served: boolean): Finding {
  if (!served) return ok('port', `${address} is free: no server runs`)
  return silentServer()
}

function silentServer(): Finding {
  return warn(
    'port',
    'a server uses the file, but does not answer on its socket',
    'it is starting or stopping: try again',
  )
}
