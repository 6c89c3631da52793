/** The limit: the most that Hono, a token and a schema can do without storing anything. */
import { randomUUIDv7 } from 'node:crypto'
import { receive } from './receiver.ts'

receive('limit', (alerts) => alerts.map(() => randomUUIDv7()))
