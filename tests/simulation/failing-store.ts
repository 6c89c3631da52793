/** A store that fails on demand, and whose process can die around a commit. */
import type { EngineStore } from '../../src/engine/store.ts'

/** `busy`: another process has the database locked, and the engine retries. `store`: nothing was stored. */
export type Fault = 'busy' | 'store'
/**
 * When a process dies: before or after its next commit, or in a power cut, which loses everything that was not synced.
 */
export type Death = 'before the commit' | 'after the commit' | 'power cut'

class StoreFault extends Error {
  readonly fault: Fault
  constructor(fault: Fault) {
    super(`the store was told to fail: ${fault}`)
    this.fault = fault
  }
}

/**
 * Wraps a store so that it can fail.
 * @param cutPower loses what was saved but not synced; if null, a power cut comes before the commit
 */
export function makeFailing(inner: EngineStore, cutPower: (() => void) | null) {
  const faults: Fault[] = []
  let death: { readonly how: Death; readonly onDeath: () => void } | null = null
  const stop = (): Promise<never> => {
    death?.onDeath()
    // Never settles. A shared promise would retain the state of every process that awaits it.
    return new Promise(() => {})
  }
  const failing =
    (save: EngineStore['save']): EngineStore['save'] =>
    async (changes, newId) => {
      const fault = faults.shift()
      if (fault) throw new StoreFault(fault)
      if (death?.how === 'before the commit' || (death?.how === 'power cut' && !cutPower)) return stop()
      return save(changes, newId)
    }
  const store: EngineStore = {
    ...inner,
    save: failing(inner.save),
    faultOf: (error) => (error instanceof StoreFault ? error.fault : inner.faultOf(error)),
    sync: () => (death ? stop() : inner.sync()),
  }
  return {
    store,
    /** Makes the next save fail. */
    failNext: (fault: Fault) => void faults.push(fault),
    willFail: () => faults.length > 0,
    /** Makes the process die at its next commit. Resolves when it has. */
    dieAtCommit: (how: Death) =>
      new Promise<void>((onDeath) => {
        faults.length = 0
        death = { how, onDeath }
      }),
    /** Prepares the store for a new process. */
    revive: () => {
      if (death?.how === 'power cut') cutPower?.()
      death = null
      faults.length = 0
    },
  }
}
