/** Email through a real SMTP server. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { createServer as createSecureServer, getCACertificates, setDefaultCACertificates } from 'node:tls'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { sendMail } from '../../src/notify/deliver.ts'
import { makeCertificate } from '../helpers/certificates.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { notifying } from './world.ts'

type Sent = { readonly text: string; readonly to: readonly string[]; readonly user: string | undefined }

async function mailServer(t: TestContext, more: SMTPServerOptions = {}) {
  const sent: Sent[] = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _, done) =>
      password === 'right' ? done(null, { user: username }) : done(new Error('wrong password')),
    onData: async (stream, { envelope, user }, done) => {
      const text = (await buffer(stream)).toString('utf8')
      sent.push({ text, to: envelope.rcptTo.map(({ address }) => address), user })
      done()
    },
    ...more,
  })
  // A client that rejects the certificate closes the connection, which the server reports as an error.
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())))
  const { port } = server.server.address() as AddressInfo
  const place = { url: `smtp://127.0.0.1:${port}`, passwordFile: '', from: 'incmon@example.com', timeoutMs: 10_000 }
  return { sent, port, place }
}

/** Returns a certificate for this machine, which this process trusts from now on, and its key. */
function trusted(t: TestContext) {
  const { pem: cert, key } = makeCertificate(t)
  setDefaultCACertificates([...getCACertificates('default'), cert])
  return { cert, key: readFileSync(key, 'utf8') }
}

const MAIL = { subject: 'S', text: 'T', html: '<p>T</p>', messageId: '<a@b>', inReplyTo: null }

test('an incident is sent as text and HTML that say what is wrong', async (t) => {
  const { sent, place } = await mailServer(t)
  const { channel, fail, settled } = notifying(t, { mailServer: place })
  channel('mail', 'team@example.com, boss@example.com')
  await fail()
  await settled(() => sent.length === 1)
  const [{ text, to } = { text: '', to: [] }] = sent
  assert.deepEqual(to, ['team@example.com', 'boss@example.com'])
  assert.match(text, /^Subject: \[incmon #1\] checkout: Down\r$/m)
  for (const type of ['multipart/alternative', 'text/plain', 'text/html'])
    assert.ok(text.includes(`Content-Type: ${type};`))
  assert.match(text, /^checkout has been critical since 12:00 UTC \(just now\)\.\r$/m)
  const whole = text.replaceAll('=\r\n', '').replaceAll('=3D', '=')
  assert.match(
    whole,
    /^Acknowledge: https:\/\/incmon\.example\.com\/acknowledge\?incident=[0-9a-f-]{36}&channel=\S+&signature=\S+\r$/m,
  )
  assert.match(whole, /^Open incident #1: https:\/\/incmon\.example\.com\/incidents\/[0-9a-f-]{36}\r$/m)
})

test('a later email about the incident belongs to the same thread', async (t) => {
  const { sent, place } = await mailServer(t)
  await sendMail(place, 'team@example.com', { ...MAIL, inReplyTo: '<first@b>' })
  assert.match(sent[0]?.text ?? '', /^In-Reply-To: <first@b>\r\nReferences: <first@b>\r$|^References: <first@b>/m)
})

test('a password is not sent without TLS', async (t) => {
  const { sent, port, place } = await mailServer(t)
  const server = { ...place, url: `smtp://user@127.0.0.1:${port}` }
  await assert.rejects(sendMail(server, 'team@example.com', MAIL), /STARTTLS|TLS/)
  assert.equal(sent.length, 0)
})

test('a certificate without a trusted issuer is refused', async (t) => {
  const { sent, port, place } = await mailServer(t, { secure: true })
  const server = { ...place, url: `smtps://127.0.0.1:${port}` }
  await assert.rejects(sendMail(server, 'team@example.com', MAIL), /certificate|self-signed/)
  assert.equal(sent.length, 0)
})

for (const [what, scheme, options] of [
  ['STARTTLS', 'smtp', { disabledCommands: [] as string[] }],
  ['TLS', 'smtps', { secure: true }],
] as const) {
  test(`an email with a password is sent over ${what} to a server with a valid certificate`, async (t) => {
    const { sent, port, place } = await mailServer(t, { ...options, ...trusted(t), authOptional: false })
    const passwordFile = join(temporaryDirectory(t), 'password')
    writeFileSync(passwordFile, 'right\n')
    const server = { ...place, url: `${scheme}://anna@127.0.0.1:${port}`, passwordFile }
    await sendMail(server, 'team@example.com', MAIL)
    assert.deepEqual([sent.length, sent[0]?.user], [1, 'anna'])
    writeFileSync(passwordFile, 'wrong')
    await assert.rejects(
      sendMail(server, 'team@example.com', MAIL),
      /the mail server rejected the message: .*wrong password/s,
    )
  })
}

test('a missing password file is reported with the setting', async (t) => {
  const { port, place } = await mailServer(t)
  const server = { ...place, url: `smtp://user@127.0.0.1:${port}`, passwordFile: '/nowhere' }
  await assert.rejects(sendMail(server, 'team@example.com', MAIL), /check smtp-password-file/)
})

test('a password is read from its file', async (t) => {
  const { place, port } = await mailServer(t)
  const passwordFile = join(temporaryDirectory(t), 'password')
  writeFileSync(passwordFile, 'right\n')
  const server = { ...place, url: `smtp://user@127.0.0.1:${port}`, passwordFile }
  await assert.rejects(sendMail(server, 'team@example.com', MAIL), /TLS/)
})

test('the error of a server that rejects the recipient is quoted', async (t) => {
  const { place } = await mailServer(t, {
    onRcptTo: (_, __, done) => done(Object.assign(new Error('no such mailbox'), { responseCode: 550 })),
  })
  await assert.rejects(sendMail(place, 'nobody@example.com', MAIL), /no such mailbox/)
})

test('without a mail server, the error says which settings are missing', async (t) => {
  const { channel, fail, settled, messages } = notifying(t)
  channel('mail', 'team@example.com')
  await fail()
  await settled(() => messages()[0]?.attempts === 1)
  assert.match(messages()[0]?.detail ?? '', /set smtp-url and mail-from/)
})

for (const scheme of ['smtp', 'smtps'])
  for (const [name, text] of Object.entries({
    'empty lines': '\r\n'.repeat(30_000),
    'no line end': 'x'.repeat(65_536),
  }))
    test(`a mail server that answers without end is given up: ${name}, ${scheme}`, async (t) => {
      const greet = (socket: Socket) => {
        socket.on('error', () => {})
        socket.write('220 hi\r\n')
        socket.once('data', () => {
          const more = () => {
            if (!socket.destroyed && socket.write(text)) setImmediate(more)
          }
          socket.on('drain', more)
          more()
        })
      }
      const server = scheme === 'smtp' ? createServer(greet) : createSecureServer(trusted(t), greet)
      await once(server.listen(0, '127.0.0.1'), 'listening')
      t.after(() => server.close())
      const { port } = server.address() as AddressInfo
      const place = { url: `${scheme}://127.0.0.1:${port}`, passwordFile: '', from: 'a@example.com', timeoutMs: 10_000 }
      const began = process.cpuUsage().user
      await assert.rejects(
        sendMail(place, 'b@example.com', MAIL),
        /more than 65536 bytes arrived|response exceeds maximum allowed size/,
      )
      assert.ok(process.cpuUsage().user - began < 2_000_000)
    })

test('a mail server that answers one byte at a time is given up', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('220 hi\r\n250-')
    const drip = setInterval(() => socket.write('x'), 20)
    socket.on('close', () => clearInterval(drip))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const place = { url: `smtp://127.0.0.1:${port}`, passwordFile: '', from: 'a@example.com', timeoutMs: 100 }
  await assert.rejects(sendMail(place, 'b@example.com', MAIL), /no response in time/)
})
