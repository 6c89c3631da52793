/** Invalid tokens over the network are rejected immediately, and many from one address slow down only that address. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { MALFORMED } from '../helpers/malformed-tokens.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { createGenerator, figure, judging, quantile } from './generator.ts'
import { fromClients } from './load.ts'
import { makeDatabase, startServer } from './server.ts'

const METRICS = '/api/webhooks/metrics'
const BODY = JSON.stringify(alertmanager([alert('Slow', { severity: 'warning' })]))
const WRONG = 1_000
/** The rate of valid webhooks per second, and for how many seconds they are sent before the invalid tokens. */
const [PER_SECOND, SECONDS] = [200, 8]
/** Every address in 127.0.0.0/8 is local, and each is treated as a separate client. */
const [SENDER, ATTACKER, OTHER] = ['127.0.0.1', '127.0.0.66', '127.0.0.99']

async function served(t: TestContext) {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const server = await startServer(t, file)
  const from = (address: string, connections: number, own = token) => {
    const generator = createGenerator({ url: server.url, token: own }, connections, address)
    t.after(generator.close)
    return generator
  }
  return { ...server, token, from }
}

suite('wrong tokens', { concurrency: 1 }, () => {
  test('each malformed header is refused with 401 within 5 ms', async (t) => {
    const { token, from, pid } = await served(t)
    const judge = judging(t, 36, pid)
    const times: number[] = []
    const { post } = from(SENDER, 1)
    await post(METRICS, BODY)
    for (const [what, header] of Object.entries(MALFORMED)) {
      const three: number[] = []
      for (let time = 0; time < 3; time += 1) {
        const began = performance.now()
        const reply = await post(METRICS, BODY, { Authorization: header(token) })
        three.push(performance.now() - began)
        assert.deepEqual([reply?.status, reply?.headers['www-authenticate']], [401, 'Bearer'], what)
      }
      times.push(quantile(three, 0.5))
    }
    const words = `${times.length} malformed headers rejected in at most ${Math.max(...times).toFixed(1)} ms`
    figure(t, 36, words)
    judge(Math.max(...times) <= 5, words)
  })

  test('1,000 wrong tokens from one address delay that address, but no valid token', async (t) => {
    const { from, pid } = await served(t)
    const judge = judging(t, 36, pid)
    const [good, attacker, other] = [from(SENDER, 16), from(ATTACKER, 100, 'wrong'), from(OTHER, 1, 'wrong')]
    const p99During = async (work: () => Promise<unknown>) => {
      good.tally.times.length = 0
      let isOver = false
      const ended = work().then(() => {
        isOver = true
      })
      while (!isOver) await good.atRate(PER_SECOND, 1, () => good.post(METRICS, BODY))
      await ended
      return quantile(good.tally.times, 0.99)
    }
    let [rounds, before, during, seconds] = [0, 0, Number.POSITIVE_INFINITY, 0]
    // A single pause of the machine decides a p99 of some seconds, so the best of three rounds counts.
    for (; rounds < 3 && during > 1.2 * before + 1; rounds += 1) {
      before = await p99During(() => new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000)))
      const began = performance.now()
      during = await p99During(() => fromClients(100, WRONG, () => attacker.post(METRICS, BODY)))
      seconds = (performance.now() - began) / 1_000
    }
    const since = performance.now()
    const reply = await other.post(METRICS, BODY)
    const elsewhere = performance.now() - since
    const words = `p99 of valid tokens ${before.toFixed(1)} ms before and ${during.toFixed(1)} ms during ${WRONG} wrong ones in ${seconds.toFixed(0)} s, ${elsewhere.toFixed(0)} ms for another address`
    figure(t, 36, words)
    assert.deepEqual([[...attacker.tally.statuses], [...good.tally.statuses.keys()]], [[[401, rounds * WRONG]], [200]])
    // 100 attempts are free, and 100 connections then wait a second for each response.
    assert.ok(seconds >= 8 && reply?.status === 401, words)
    judge(during <= 1.2 * before + 1 && elsewhere <= 100, words)
  })
})
