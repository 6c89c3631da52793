/** /api/tokens: list, create and revoke tokens. */
import * as v from 'valibot'
import { createToken, revokeToken } from '../../actions/tokens.ts'
import { invalidField } from '../../domain/error.ts'
import { SCOPES } from '../../domain/request/token.ts'
import { listTokens } from '../../store/tokens.ts'
import { instantField, textField } from '../middleware/body.ts'
import { pageParameters, wordParameter } from '../middleware/query.ts'
import { DONE, json } from '../middleware/reply.ts'
import { type Route, rest } from '../route.ts'
import * as shape from '../shapes.ts'
import { answerPage, refusals, success } from './answers.ts'

const MAX_NAME = 100
const MAX_CLUSTER = 253
export const tokenShape = shape.named('Token', {
  id: shape.id,
  name: shape.text('The name of the token; timelines show it as the actor', 'alertmanager'),
  scopes: shape.list(v.picklist(SCOPES), 'The permissions', ['ingest']),
  cluster: shape.text(
    'The cluster of everything sent with this token; if empty, the labels determine the cluster',
    'production',
  ),
  createdAt: shape.instant('When the token was created'),
  expiresAt: shape.nullable(shape.instant(), 'When the token expires; null: never', null),
  revokedAt: shape.nullable(shape.instant(), 'When the token was revoked; null if it was not revoked', null),
  lastUsedAt: shape.nullable(
    shape.instant(),
    'When the token was last used, rounded to the minute; null before the first use',
  ),
})

const showToken = shape.shower(tokenShape)
const createdShape = shape.named('CreatedToken', {
  id: shape.id,
  token: shape.text('The secret; only its hash is stored', `incmon_${'x'.repeat(43)}`),
})

const scopesField = v.pipe(
  v.array(wordParameter(SCOPES), `expected a list of ${SCOPES.join(', ')}`),
  v.minLength(1, `choose at least one of ${SCOPES.join(', ')}`),
  v.maxLength(SCOPES.length, 'contains duplicates; send each scope once'),
)

/** The fields of a new token, used by the API and the settings pages. */
export const newTokenBody = v.object({
  name: shape.described(textField(MAX_NAME), 'The name of the token; timelines show it as the actor', 'alertmanager'),
  scopes: shape.described(scopesField, 'The permissions', ['ingest']),
  cluster: shape.optional(textField(MAX_CLUSTER, 0), 'The cluster of everything sent with this token', 'production'),
  expiresAt: shape.optional(v.nullable(instantField), 'When the token expires; null: never', null),
})

export const tokenRoutes: readonly Route[] = [
  rest('GET /api/tokens', {
    summary: 'List tokens, newest first, including revoked tokens',
    scope: 'admin',
    query: v.object(pageParameters),
    answers: success(shape.page(tokenShape), 'A page of tokens without their secrets'),
    handle: (call) => answerPage(call, (page) => call.own.read(listTokens, page), showToken),
  }),
  rest('POST /api/tokens', {
    summary: 'Create a token',
    scope: 'admin',
    body: newTokenBody,
    answers: {
      ...success(createdShape, 'The token; it is shown only once', 201),
      ...refusals({ 409: 'The organization has the maximum number of valid tokens' }),
    },
    handle: async ({ deps, store, identity, body }) => {
      const { expiresAt = null } = body
      if (expiresAt !== null && expiresAt <= deps.now()) {
        throw invalidField('body', 'expiresAt', 'is in the past; send a later time, or null for never')
      }
      const scopes = SCOPES.filter((scope) => body.scopes.includes(scope))
      return json(await store.run(createToken, { ...body, scopes, organizationId: identity.organizationId }), 201)
    },
  }),
  rest('DELETE /api/tokens/:id', {
    summary: 'Revoke a token',
    scope: 'admin',
    answers: { 204: { description: 'The token is revoked; repeating the request changes nothing', body: null } },
    handle: async ({ own, id }) => {
      await own.run(revokeToken, id)
      return DONE
    },
  }),
]
