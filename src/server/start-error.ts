/** Thrown if the server cannot start or stop. The message says what is wrong and what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
