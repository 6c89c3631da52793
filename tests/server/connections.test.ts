/** Letting all connections go: what is under way is answered, what never ends is ended. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createConnections } from '../../src/server/connections.ts'

/** A server whose answers the test gives, and a way to ask it; connections are kept. */
async function serving(t: TestContext) {
  const { server, drain } = createConnections((_, response) => void server.emit('asked', response), null)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true })
  t.after(() => {
    agent.destroy()
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const ask = async () => {
    const asked = once(server, 'asked')
    const request = get({ host: '127.0.0.1', port, agent })
    const answered = once(request, 'response').then(([message]) => read(message))
    const [response] = (await asked) as [ServerResponse]
    return { response, answered }
  }
  return { ask, drain: () => drain(() => {}) }
}

async function read(message: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of message) text += chunk
  return text
}

test('an answer under way is waited for', async (t) => {
  const { ask, drain } = await serving(t)
  const { response, answered } = await ask()
  const drained = drain()
  response.end('late')
  assert.equal(await answered, 'late')
  await drained
})

test('a stream is ended in order, with all that was written', async (t) => {
  const { ask, drain } = await serving(t)
  const { response, answered } = await ask()
  response.write('data: 1\n\n')
  await drain()
  assert.equal(await answered, 'data: 1\n\n')
})

test('a kept connection without a request holds nothing up', async (t) => {
  const { ask, drain } = await serving(t)
  const { response, answered } = await ask()
  response.end('done')
  await answered
  await drain()
})
