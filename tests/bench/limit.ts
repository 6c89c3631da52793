/** The limit: what Hono, a token and a schema take at most, storing nothing. */
import { randomUUIDv7 } from 'node:crypto'
import { receive } from './receiver.ts'

receive('limit', (alerts) => alerts.map(() => randomUUIDv7()))
