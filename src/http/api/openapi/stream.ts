/** Documents the stream of changes and the messages that incmon sends. */
import { capitalized } from '../../../domain/text.ts'
import type { JsonSchema, OpenApiOperation, OpenApiParameter } from '../../docs/openapi-document.ts'
import type { Route } from '../../route.ts'
import { problemAnswer } from './schemas.ts'

/** The stream is not a route of the API, because a page can open it with its session instead of a token. */
export const STREAM: Omit<Route, 'handle'> = {
  method: 'GET',
  path: '/api/stream',
  summary: 'Stream the changes as Server-Sent Events',
  description:
    'Each event has the kind of the changed record as its name and the id as its data, or * if more than 50 records ' +
    'changed. After a gap that the server no longer has, it sends reset.',
  auth: { carrier: 'bearer', scope: 'read' },
  answers: {
    200: { description: 'The stream, which ends when the token is revoked', body: null, text: 'text/event-stream' },
    503: problemAnswer('The organization has the maximum number of open streams'),
  },
}

export const LAST_EVENT_ID: OpenApiParameter = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'The id of the last event that the client received, to receive the events that it missed',
  required: false,
  schema: { type: 'string' },
}

/** Returns the operation of a receiver: it gets a message that is signed according to Standard Webhooks. */
export function sent(name: string, told: string, schema: JsonSchema): Record<string, OpenApiOperation> {
  const header = (name: string, description: string): OpenApiParameter => {
    return { name, in: 'header', description, required: true, schema: { type: 'string' } }
  }
  const post: OpenApiOperation = {
    operationId: `receive${capitalized(name)}Message`,
    tags: ['channels'],
    summary: told,
    description: 'incmon sends this message to each channel of the kind webhook whose rules match.',
    security: [],
    parameters: [
      header('webhook-id', 'The UUID of the message, the same for all attempts'),
      header('webhook-timestamp', 'When the attempt was made, as Unix time in seconds'),
      header('webhook-signature', 'The signatures of the message with the secret of the channel'),
    ],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      200: { description: 'Any 2xx status: the message was received' },
      400: { description: 'Also 413 and 422: the message is not sent again' },
      410: { description: 'The channel is disabled' },
      500: { description: 'Any other status: the message is sent again, for 24 hours' },
    },
  }
  return { post }
}
