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
        const problem = title === undefined ? {} : problemOf(Number(status), title, description)
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

function problemOf(status: number, title: string, description: string) {
  const [cause = ''] = description.split(/[.;]/)
  const fields = status === 400 ? {} : { errors: undefined, checks: undefined }
  return { title, status, detail: cause, ...fields }
}
