/** Random tests that take long: only CI repeats them as often as it takes to find rare faults. */

/** Returns `full` in CI, and `short` elsewhere. */
export function inCi<Value>(full: Value, short: Value): Value {
  return process.env.CI === 'true' ? full : short
}
