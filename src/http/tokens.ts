/** /api/tokens: who may call. */
import * as v from 'valibot'
import { IncmonError } from '../domain/error.ts'
import { SCOPES } from '../domain/token.ts'
import { createToken, revokeToken } from '../operations/tokens.ts'
import { listTokens, type TokenRecord } from '../store/tokens.ts'
import { instantField, optionalTextField, textField } from './body.ts'
import { pageOf, pageParameters, wordParameter } from './query.ts'
import { type Route, rest } from './route.ts'
import { answerList, instantShape, listShape, shownInstant, success, uuidShape } from './shapes.ts'

const MAX_NAME = 100
const MAX_CLUSTER = 253

const tokenShape = v.object({
  id: uuidShape,
  name: v.string(),
  scopes: v.array(v.picklist(SCOPES)),
  cluster: v.string(),
  createdAt: instantShape,
  expiresAt: v.nullable(instantShape),
  revokedAt: v.nullable(instantShape),
  lastUsedAt: v.nullable(instantShape),
})

const scopesField = v.pipe(
  v.array(wordParameter(SCOPES), `expected a list out of ${SCOPES.join(', ')}`),
  v.minLength(1, `empty; name at least one of ${SCOPES.join(', ')}`),
  v.maxLength(SCOPES.length, 'too many; name each scope once'),
)

export const tokenRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/tokens',
    summary: 'Tokens, newest first, the revoked among them',
    scope: 'admin',
    query: v.object(pageParameters),
    answers: success(listShape(tokenShape), 'A page of tokens; the secrets are not known'),
    handle: ({ c, deps, identity, query }) => {
      const page = pageOf(query)
      return answerList(c, page, listTokens(deps.db, identity.organizationId, page), showToken)
    },
  }),
  rest({
    method: 'POST',
    path: '/api/tokens',
    summary: 'Make a token',
    scope: 'admin',
    body: v.object({
      name: textField(MAX_NAME),
      scopes: scopesField,
      cluster: v.optional(optionalTextField(MAX_CLUSTER)),
      expiresAt: v.optional(v.nullable(instantField)),
    }),
    answers: success(v.object({ id: uuidShape, token: v.string() }), 'The token, shown this once', 201),
    handle: ({ c, deps, identity, body }) => {
      refusePast(body.expiresAt ?? null, deps.now())
      const scopes = SCOPES.filter((scope) => body.scopes.includes(scope))
      return c.json(createToken(deps, { ...body, scopes, organizationId: identity.organizationId }), 201)
    },
  }),
  rest({
    method: 'DELETE',
    path: '/api/tokens/:id',
    summary: 'Revoke a token',
    scope: 'admin',
    answers: { 204: { description: 'It counts no longer; twice is the same as once', body: null } },
    handle: ({ c, deps, identity, id }) => {
      revokeToken(deps, identity.organizationId, id)
      return c.body(null, 204)
    },
  }),
]

function refusePast(expiresAt: number | null, now: number): void {
  if (expiresAt === null || expiresAt > now) return
  const message = 'lies in the past; send a later time, or null for never'
  throw new IncmonError('invalid', `body: expiresAt: ${message}`, [{ path: 'expiresAt', message }])
}

function showToken(token: TokenRecord): v.InferInput<typeof tokenShape> {
  const { id, name, scopes, cluster, createdAt, expiresAt, revokedAt, lastUsedAt } = token
  return {
    id,
    name,
    scopes: [...scopes],
    cluster,
    createdAt: shownInstant(createdAt),
    expiresAt: shownInstant(expiresAt),
    revokedAt: shownInstant(revokedAt),
    lastUsedAt: shownInstant(lastUsedAt),
  }
}
