/** The confirmation shown after an action, selected by `?done=` in the URL. */
import type { Banner } from '../kit/frame.ts'

const SENTENCES = {
  'signed-in': 'You are signed in.',
  switched: 'This page now shows another organization.',
  'signed-out': 'You are signed out.',
  saved: 'Saved.',
  renamed: 'Your name was changed. It appears with your future actions.',
  'token-revoked': 'The token was revoked. It no longer works.',
  'session-ended': 'The session has ended.',
  'test-sent':
    'The test event was received. It is marked as a test and opens no alert. To open a test alert, run incmon send-test.',
  'example-loaded': 'The example was loaded. It shows a bad deploy and what followed.',
  'example-removed': 'The example and all its data were removed.',
  'channel-created': 'The channel was created. Send a test to see whether its messages arrive.',
  'channel-removed': 'The channel was removed.',
  silenced: 'The silence was created.',
  'silence-ended': 'The silence has ended.',
  acknowledged: 'Acknowledged.',
  unacknowledged: 'The acknowledgement was taken back.',
  'status-changed': 'The status was changed.',
  resolved: 'The incident is resolved.',
  'resolved-early': 'The incident is resolved, but some of its alerts are still firing.',
  reopened: 'The incident is open again.',
  declared: 'The incident is open.',
  merged: 'The incidents were merged.',
  noted: 'The note was added.',
  judged: 'Your verdict was saved.',
  'alert-ended': 'The alert has ended.',
} as const

export type Done = keyof typeof SENTENCES

/**
 * Returns the banner for a value of `?done=`, or null if the value is unknown. `undo`: the numbers of the incidents
 * whose acknowledgement the banner offers to take back.
 */
export function bannerFor(word: string, undo = ''): Banner | null {
  if (!Object.hasOwn(SENTENCES, word)) return null
  const level = word === 'resolved-early' ? 'warning' : 'done'
  return { text: SENTENCES[word as Done], level, undo: /^\d+(,\d+)*$/.test(undo) ? undo : null }
}
