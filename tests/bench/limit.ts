/** The upper limit: Hono with a token check and a schema, but without storage. */
import { randomUUIDv7 } from 'node:crypto'
import { receive } from './receiver.ts'

receive('limit', (alerts) => alerts.map(() => randomUUIDv7()))
