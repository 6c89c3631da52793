/** The store as the HTTP layer uses it. It is asynchronous, so that it could be a database on another machine. */
import type { Read } from '../store/read.ts'
import type { Deps } from './deps.ts'

type Operation = (deps: Deps, ...args: never[]) => unknown
type ArgumentsOf<Of extends Operation> = Of extends (deps: Deps, ...args: infer Arguments) => unknown
  ? Arguments
  : never

export type Store = {
  /** Runs a query of src/store, for example `read(findAlert, organizationId, id)`. */
  readonly read: Read
  /** Runs an operation of src/operations, for example `run(revokeToken, organizationId, id)`. */
  readonly run: <Of extends Operation>(operation: Of, ...args: ArgumentsOf<Of>) => Promise<Awaited<ReturnType<Of>>>
  /** The path of the database file. */
  readonly file: string
}

export function createStore(deps: Deps, read: Read): Store {
  return {
    read,
    run: async (operation, ...args) => operation(deps, ...(args as never[])) as never,
    file: deps.db.file,
  }
}
