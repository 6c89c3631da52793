/** A receiver of messages: a real HTTP server with predefined responses. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type Received = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly text: string }

type Answering = (response: ServerResponse, received: Received) => void

export const answering =
  (status: number, text = '', headers: Readonly<Record<string, string>> = {}): Answering =>
  (response) =>
    response.writeHead(status, headers).end(text)

/** Responds with each of `answers` in turn, then repeats the last one. `next` resolves with the next request. */
export async function startReceiver(t: { after: (work: () => void) => void }, ...answers: Answering[]) {
  const received: Received[] = []
  const waiting: ((one: Received) => void)[] = []
  const server = createServer(async (request, response) => {
    const text = (await buffer(request)).toString('utf8')
    const one = { path: request.url ?? '', headers: request.headers, text }
    const answer = answers[Math.min(received.length, answers.length - 1)] ?? answering(200, 'ok')
    received.push(one)
    answer(response, one)
    for (const resolve of waiting.splice(0)) resolve(one)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const next = () => new Promise<Received>((resolve) => waiting.push(resolve))
  return { url: `http://127.0.0.1:${port}`, port, received, next }
}
