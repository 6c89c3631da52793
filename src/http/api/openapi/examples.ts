/** Adds an example to each body and response of the OpenAPI document. */
import { exampleOf } from '../../docs/curl.ts'
import type { Content, OpenApiDocument, OpenApiOperation } from '../../docs/openapi-document.ts'
import { TITLES } from '../../middleware/problem.ts'

/** Returns the document with an example of every JSON body. An error has the example of its status. */
export function withExamples(document: OpenApiDocument): OpenApiDocument {
  const filled = (content: Content, more: object = {}): Content =>
    Object.fromEntries(
      Object.entries(content).map(([type, media]) => {
        if (!type.includes('json')) return [type, media]
        const example = exampleOf(media.schema, document)
        return [
          type,
          { ...media, example: Object.keys(more).length > 0 ? { ...(example as object), ...more } : example },
        ]
      }),
    )
  const operation = (of: OpenApiOperation): OpenApiOperation => ({
    ...of,
    ...(of.requestBody ? { requestBody: { ...of.requestBody, content: filled(of.requestBody.content) } } : {}),
    responses: Object.fromEntries(
      Object.entries(of.responses).map(([status, { description, content }]) => {
        const title = TITLES[Number(status) as keyof typeof TITLES]
        const hasLimit = of.parameters.some(({ name }) => name === 'limit')
        const problem = title === undefined ? {} : problemOf(Number(status), title, description, hasLimit)
        return [status, content ? { description, content: filled(content, problem) } : { description }]
      }),
    ),
  })
  const all = (paths: OpenApiDocument['paths']) =>
    Object.fromEntries(
      Object.entries(paths).map(([path, methods]) => [
        path,
        Object.fromEntries(Object.entries(methods).map(([method, one]) => [method, operation(one)])),
      ]),
    )
  return { ...document, paths: all(document.paths), webhooks: all(document.webhooks) }
}

/** The example of an invalid field is the parameter `limit`. */
function problemOf(status: number, title: string, description: string, hasLimit: boolean) {
  if (status === 400 && hasLimit) return { checks: undefined }
  const [detail = ''] = description.split(/[.;]/)
  return { title, status, detail, errors: undefined, checks: undefined }
}
