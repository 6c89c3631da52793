/** How urgent a message is, and how the channels show that. */
import type { Severity } from '../severity.ts'

export type Tone = Severity | 'acknowledged' | 'resolved' | 'neutral'

/** How the channels show a tone: its colour, its colour in Teams, and its priority and tag in ntfy. */
export const TONES = {
  critical: { colour: '#d32f2f', teams: 'Attention', priority: 5, tag: 'red_circle' },
  error: { colour: '#e65100', teams: 'Attention', priority: 4, tag: 'orange_circle' },
  warning: { colour: '#f9a825', teams: 'Warning', priority: 3, tag: 'yellow_circle' },
  info: { colour: '#1976d2', teams: 'Accent', priority: 2, tag: 'blue_circle' },
  acknowledged: { colour: '#1565c0', teams: 'Accent', priority: 2, tag: 'eyes' },
  resolved: { colour: '#2e7d32', teams: 'Good', priority: 3, tag: 'green_circle' },
  neutral: { colour: '#607d8b', teams: 'Default', priority: 3, tag: 'white_circle' },
} as const satisfies Record<Tone, object>
