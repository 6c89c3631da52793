/** SIGHUP and TLS with the real program: what changes while it is running, and what stays the same after an error. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { connect, type PeerCertificate } from 'node:tls'
import { makeCertificate } from '../helpers/certificates.ts'
import { asking, call, incmon, incmonServe } from '../helpers/cli.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'

/** Starts a server with a certificate in its directory. `signal` reloads and returns the log line that reports it. */
async function serving(t: TestContext, config = '', days = 30) {
  const cwd = temporaryDirectory(t)
  const first = makeCertificate(t, 'first', days)
  const put = ({ cert, key }: { cert: string; key: string }) => {
    copyFileSync(cert, join(cwd, 'cert.pem'))
    copyFileSync(key, join(cwd, 'key.pem'))
  }
  const configure = (text: string) =>
    writeFileSync(join(cwd, 'incmon.toml'), `tls-cert = "cert.pem"\ntls-key = "key.pem"\n${text}`)
  put(first)
  configure(config)
  const server = await incmonServe(t, cwd)
  const lines = () =>
    server.said.err
      .split('\n')
      .slice(0, -1)
      .filter((line) => /reloaded/.test(line))
  const reload = async () => {
    const before = lines().length
    server.child.kill('SIGHUP')
    await eventually(
      async () => lines().length,
      (count) => count > before,
    )
    return JSON.parse(lines().at(-1) ?? '')
  }
  return { ...server, cwd, put, configure, reload }
}

function shownBy(url: string): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate())
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

suite('a certificate', { concurrency: 4 }, () => {
  test('makes the server use HTTPS', async (t) => {
    const { url, stop } = await serving(t)
    assert.match(url, /^https:/)
    assert.equal((await shownBy(url)).subject.CN, 'first')
    assert.equal(await stop(), 0)
  })

  test('of the server itself is trusted by send-test, even if nobody else signed it', async (t) => {
    const { url, cwd } = await serving(t)
    const { err } = await call(cwd, ['send-test', 'ci', '--token', 'x'])
    assert.match(err, /^incmon: https:\S+ responded with 401: /)
    assert.ok(err.includes(url))
  })

  test("of the database's server is trusted by health and doctor, whoever signed it", async (t) => {
    const { url, cwd } = await serving(t)
    const env = { INCMON_PORT: new URL(url).port }
    const health = await asking(cwd, ['health'], { env })
    assert.deepEqual([health.out, health.code], [`${url} is ready\n`, 0])
    assert.match(
      (await asking(cwd, ['doctor'], { env })).out,
      /^ok +port +incmon is listening on https:.* and is ready/m,
    )
  })

  test('renewed on disk leaves the server ready, and health and doctor ask for SIGHUP', async (t) => {
    const { url, cwd, put } = await serving(t)
    put(makeCertificate(t, 'another'))
    const env = { INCMON_PORT: new URL(url).port }
    const health = await asking(cwd, ['health'], { env })
    const said = `${url} is ready; its certificate is not the certificate in cert.pem: send SIGHUP to the server`
    assert.deepEqual([health.out.startsWith(said), health.err, health.code], [true, '', 0])
    const doctor = await asking(cwd, ['doctor'], { env })
    assert.match(doctor.out, /^ok +port +incmon is listening on https:.* and is ready$/m)
    assert.match(
      doctor.out,
      /^warn +certificate +the server's certificate is not the certificate in cert\.pem, .+\n +→ send SIGHUP/m,
    )
  })

  test('configured after startup leads to the advice to restart', async (t) => {
    const cwd = temporaryDirectory(t)
    const { url } = await incmonServe(t, cwd)
    const { cert, key } = makeCertificate(t)
    const env = { INCMON_PORT: new URL(url).port, INCMON_TLS_CERT: cert, INCMON_TLS_KEY: key }
    const { out, code } = await asking(cwd, ['doctor'], { env })
    assert.ok(out.includes(`incmon is listening on ${url}, but ${url.replace('http:', 'https:')} is configured`), out)
    assert.match(out, /^warn +port .+\n +→ restart the server, because SIGHUP cannot change the address$/m)
    assert.equal(code, 0)
  })

  test('that has expired leaves the server ready, and health and doctor say what to do', async (t) => {
    const { url, cwd } = await serving(t, '', -1)
    const env = { INCMON_PORT: new URL(url).port }
    const health = await asking(cwd, ['health', '--wait', '5'], { env })
    assert.match(health.out, /^https:\S+ is ready; its certificate expired on \S+Z: .+ SIGHUP to the server\n$/)
    assert.deepEqual([health.err, health.code], ['', 0])
    const doctor = await asking(cwd, ['doctor'], { env })
    assert.match(doctor.out, /^ok +port +incmon is listening on https:.* and is ready$/m)
    assert.match(doctor.out, /^fail +certificate +cert\.pem expired on .+\n +→ renew the certificate/m)
  })

  test('that has expired is rejected if the server was named, and if a token would be sent', async (t) => {
    const { url, cwd } = await serving(t, '', -1)
    const env = { INCMON_PORT: new URL(url).port }
    const named = await asking(cwd, ['health', '--url', url], { env: { NODE_EXTRA_CA_CERTS: 'cert.pem' } })
    const sent = await call(cwd, ['send-test', 'ci', '--token', 'x'], { env })
    assert.match(
      named.err,
      /no response \(its certificate has expired, CERT_HAS_EXPIRED\): renew it, .+ SIGHUP to the server\n$/,
    )
    assert.match(sent.err, /\(its certificate has expired, CERT_HAS_EXPIRED\): run "incmon doctor"/)
    assert.deepEqual([named.code, sent.code], [1, 1])
  })

  test('that is not trusted causes an error that names the variable to change', async (t) => {
    const { url, cwd } = await serving(t)
    const remedy = 'set NODE_EXTRA_CA_CERTS to the PEM file of the CA that signed it'
    const why = `(its certificate is not trusted by this machine, DEPTH_ZERO_SELF_SIGNED_CERT): ${remedy}\n`
    const health = await asking(cwd, ['health', '--url', url])
    assert.equal(health.err, `incmon: ${url} is not ready: no response ${why}`)
    const sent = await call(cwd, ['send-test', 'ci', '--token', 'x', '--url', url])
    assert.equal(sent.err, `incmon: no response from ${url} ${why}`)
    const trusted = await asking(cwd, ['health', '--url', url], { env: { NODE_EXTRA_CA_CERTS: 'cert.pem' } })
    assert.deepEqual([trusted.out, trusted.code], [`${url} is ready\n`, 0])
  })

  test('of a server that is contacted with HTTP leads to the https URL', async (t) => {
    const { url, cwd } = await serving(t)
    const { err, code } = await asking(cwd, ['health', '--url', url.replace('https', 'http')])
    assert.match(err, /: no response \(it closed the connection, \w+\): try https:\/\/127\.0\.0\.1:\d+ with --url/)
    assert.equal(code, 1)
  })

  test('that expires soon causes a warning in check-config', async (t) => {
    const { cert, key } = makeCertificate(t, 'incmon', 3)
    const env = { INCMON_TLS_CERT: cert, INCMON_TLS_KEY: key }
    const { out, err, code } = await call(temporaryDirectory(t), ['check-config'], { env })
    assert.match(out, /^KEY +VALUE +FROM/)
    assert.match(
      err,
      /^incmon: \S+cert\.pem expires on \S+Z, within 14 days: renew the certificate .+ SIGHUP to the server\n$/,
    )
    assert.equal(code, 0)
  })

  test('without its key is a configuration error', async (t) => {
    const { err, code } = await call(temporaryDirectory(t), ['check-config'], {
      env: { INCMON_TLS_CERT: 'cert.pem' },
    })
    assert.match(err, /^incmon: tls-cert is set but tls-key is not: set both for HTTPS, or neither$/m)
    assert.equal(code, 1)
  })

  test('is replaced on SIGHUP without a restart', async (t) => {
    const { url, put, reload } = await serving(t)
    put(makeCertificate(t, 'second'))
    assert.equal((await reload()).message, 'reloaded')
    assert.equal((await shownBy(url)).subject.CN, 'second')
  })

  test('stays in use if the new one is broken, and the log says why', async (t) => {
    const { url, put, reload } = await serving(t)
    put({ cert: makeCertificate(t).cert, key: makeCertificate(t).key })
    const { level, message, faults } = await reload()
    assert.deepEqual([level, message], ['error', 'the configuration was not reloaded and nothing has changed'])
    assert.match(faults[0], /^key\.pem does not match the certificate cert\.pem/)
    assert.equal((await shownBy(url)).subject.CN, 'first')
  })

  test('without its key is rejected at startup, in one line', async (t) => {
    const cwd = temporaryDirectory(t)
    const { cert } = makeCertificate(t)
    const { code, err } = await incmon(cwd, ['serve', '--port', '0', '--tls-cert', cert])
    assert.equal(code, 1)
    assert.match(err, /^incmon: tls-cert is set but tls-key is not: [^\n]+\n$/)
  })
})

suite('SIGHUP', { concurrency: 4 }, () => {
  test('changes the log level', async (t) => {
    const { configure, reload, url, said } = await serving(t)
    configure('log-level = "debug"')
    await reload()
    const { port } = new URL(url)
    const [answer] = await once(
      get({ host: '127.0.0.1', port, path: '/healthz', rejectUnauthorized: false }),
      'response',
    )
    await once(answer.resume(), 'end')
    await eventually(
      async () => said.err,
      (text) => text.includes('"path":"/healthz"'),
    )
  })

  test('with errors in the file changes nothing and reports all errors', async (t) => {
    const { configure, reload, url } = await serving(t)
    configure('max-waiting = 0\nmax-conections = 5')
    const { message, faults } = await reload()
    assert.deepEqual([message, faults.length], ['the configuration was not reloaded and nothing has changed', 2])
    assert.equal((await shownBy(url)).subject.CN, 'first')
  })

  test('refuses a user-organization that does not exist, and a start warns of it and pages', async (t) => {
    const users = 'user-header = "Remote-User"\ntrusted-proxies = ["127.0.0.1"]\n'
    const { cwd, configure, reload, said } = await serving(t, `${users}user-organization = "Nope"\n`)
    const why = 'there is no organization Nope; set user-organization to default'
    const isWarning = (line: string) => line.includes(`"warning":"${why}"`) && line.includes('cannot sign in')
    await eventually(
      async () => said.err.split('\n').filter(isWarning).length,
      (count) => count === 1,
    )
    assert.deepEqual((await reload()).faults, [why])
    await call(cwd, ['org', 'create', 'Shop'])
    configure(users)
    const several = 'there are several organizations; set user-organization to Shop or default'
    assert.deepEqual((await reload()).faults, [several])
    configure(`${users}user-organization = "Shop"\n`)
    assert.equal((await reload()).message, 'reloaded')
  })

  test('names the settings that need a restart', async (t) => {
    const { configure, reload } = await serving(t)
    configure('host = "0.0.0.0"\ndatabase = "other.db"')
    const { message, 'after a restart': keys } = await reload()
    assert.deepEqual([message, keys], ['reloaded', ['host', 'database']])
  })

  test('does not stop a server whose terminal is gone', async (t) => {
    const { reload, stop } = await serving(t)
    await reload()
    assert.equal(await stop(), 0)
  })
})
