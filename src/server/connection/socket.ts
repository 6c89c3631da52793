/**
 * The server's Unix socket, next to its database. Commands on this machine use the socket to access the API without a
 * token.
 */
import { chmodSync, lstatSync, rmSync } from 'node:fs'
import { connect, type Server } from 'node:net'
import { errorCode } from '../../store/sqlite/fault.ts'
import { copyOwner } from '../../store/sqlite/file.ts'
import { realNameOf } from '../../store/sqlite/path.ts'
import { StartError } from '../running.ts'

/** The headers of operator requests: the organization, the person, and the cluster of the sent items. */
export const OPERATOR_HEADERS = {
  organization: 'x-incmon-organization',
  actor: 'x-incmon-actor',
  cluster: 'x-incmon-cluster',
} as const

/** The maximum length of the path in bytes, including the terminating null byte. */
const MAX_BYTES = process.platform === 'linux' ? 107 : 103
/** Only the owner of the database can connect. */
const UMASK = 0o177
const MODE = 0o600
const ENDING = '.sock'

/** Returns the path of a database's socket. All links to the file have the same socket path. */
export function socketPathOf(database: string): string {
  return `${realNameOf(database)}${ENDING}`
}

/** Throws StartError if the path is too long for a socket. SQLite accepts longer paths. */
export function refuseLongPath(database: string): void {
  const path = socketPathOf(database)
  const bytes = Buffer.byteLength(path)
  if (bytes <= MAX_BYTES) return
  const room = MAX_BYTES - ENDING.length
  throw new StartError(
    `${path} is ${bytes} bytes long, but the path of a Unix socket can have at most ${MAX_BYTES} bytes: move the database to a path of at most ${room} bytes`,
  )
}

/**
 * Listens on the database's socket. The caller must hold the database lock. Therefore, a socket without a listener was
 * left behind by a killed process. Such a socket is replaced.
 * @returns the path
 * @throws StartError with a remedy if the path is in use or unusable
 */
export async function listenOnSocket(server: Server, database: string): Promise<string> {
  refuseLongPath(database)
  const path = socketPathOf(database)
  try {
    await removeStale(path)
    await bind(server, path)
    // Restricts access to the owner, regardless of the umask in other threads.
    chmodSync(path, MODE)
    copyOwner(path, database)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(
      `${path} cannot be created (${errorCode(error)}): check the owner and mode of its directory, and that it is on a local disk`,
    )
  }
  return path
}

/** Binds synchronously, so that no other file is created with this umask. */
function bind(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    const umask = process.umask(UMASK)
    try {
      server.listen(path, resolve)
    } finally {
      process.umask(umask)
    }
  })
}

async function removeStale(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isSocket()) {
    throw new StartError(`${path} is not a socket, but incmon needs this path for its socket: move the file away`)
  }
  const code = await answerAt(path)
  if (code === null) {
    throw new StartError(`another program is listening on ${path}: stop it, or choose another --database`)
  }
  if (code !== 'ECONNREFUSED' && code !== 'ENOENT') {
    throw new StartError(`cannot connect to the existing socket ${path} (${code}): remove it if no program is using it`)
  }
  rmSync(path, { force: true })
}

/** Returns null if a process accepts the connection; otherwise, returns the system's error code. */
function answerAt(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const end = (code: string | null) => {
      socket.destroy()
      resolve(code)
    }
    socket.once('connect', () => end(null))
    socket.once('error', (error) => end(errorCode(error)))
  })
}
