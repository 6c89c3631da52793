/** Counts the webhook requests that wait for their commit. */
import type { Ingest } from '../operations/ingest.ts'

export type Queue = Ingest & { readonly waiting: () => number }

/** Wraps `ingest` and counts its pending requests. */
export function countWaiting(ingest: Ingest): Queue {
  let waiting = 0
  const settle = () => {
    waiting -= 1
  }
  return {
    submit: (delivery) => {
      waiting += 1
      const receipt = ingest.submit(delivery)
      receipt.then(settle, settle)
      return receipt
    },
    close: ingest.close,
    waiting: () => waiting,
  }
}
