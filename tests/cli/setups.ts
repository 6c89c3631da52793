/** The directories in which golden files run, by the name used in the golden file. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import SQLite from 'better-sqlite3'
import { createChannel } from '../../src/actions/channels.ts'
import { systemDeps } from '../../src/deps.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { makeWorld } from '../helpers/app.ts'
import {
  makeAlert,
  makeChannel,
  makeIncident,
  makeOrganization,
  makeService,
  makeSilence,
  makeToken,
} from '../helpers/factory.ts'
import { writeKubeconfig } from '../helpers/kubernetes/kubeconfig.ts'
import { startFakeCluster } from '../helpers/kubernetes/server.ts'
import { startServer } from '../helpers/server.ts'
import { newStore, temporaryDirectory } from '../helpers/store.ts'
import { answering, startReceiver } from '../notify/receiver.ts'

/** The working directory, and the values of placeholders such as `{name}` in arguments and output. */
export type Setup = { readonly cwd: string; readonly names?: Readonly<Record<string, string>> }

export const SETUPS: Readonly<Record<string, (t: TestContext) => Setup | Promise<Setup>>> = {
  nothing: (t) => ({ cwd: temporaryDirectory(t) }),
  /** The organization Acme (Team) with two services and a token with the read scope. */
  acme,
  /**
   * Acme, Basil (Free) and Charlie (Pro), each with a token. Acme has a resolved incident with a postmortem, an open
   * incident, and a silence.
   */
  cast: async (t) => (await makeCast(t)).setup,
  /** The same, and `{item}`: an action item of the open incident. */
  items: async (t) => {
    const { setup, request, token } = await makeCast(t)
    const path = `/api/incidents/${setup.names.open}/actions`
    const { id } = (await request('POST', path, { token, body: { text: 'Add an alert' } })).body
    return { ...setup, names: { ...setup.names, item: id } }
  },
  /** A Kubernetes cluster with the kubeconfig `{kubeconfig}`. */
  cluster: async (t) => {
    const { url } = await startFakeCluster(t)
    return { cwd: temporaryDirectory(t), names: { url, kubeconfig: writeKubeconfig(t, url) } }
  },
  /** A running server for Acme: `{url}`, and `{token}` with all scopes. */
  server: async (t) => {
    const { url, token, db } = await startServer(t)
    return { cwd: dirname(db.file), names: { url, token } }
  },
  /** Acme with a channel whose receiver runs on this machine and responds `thanks`. */
  local: async (t) => {
    const { cwd, names } = acme(t)
    const { url } = await startReceiver(t, answering(200, 'thanks'))
    const db = openStore(join(cwd, 'incmon.db'))
    createChannel(systemDeps(db), 1, { name: 'local', kind: 'slack', target: url })
    db.close()
    return { cwd, ...(names ? { names } : {}) }
  },
  /** A database with a valid header followed by random bytes. */
  damaged: (t) => withFile(t, (file) => writeFileSync(file, readFileSync(file).fill(0x5a, 100))),
  /** A database of a newer version of incmon. */
  newer: (t) => withFile(t, (file) => change(file, 'PRAGMA user_version = 99')),
  /** A database without migrations. */
  older: (t) => {
    const cwd = temporaryDirectory(t)
    openStore(join(cwd, 'incmon.db')).close()
    return { cwd }
  },
  /** A text file instead of a database. */
  text: (t) => {
    const cwd = temporaryDirectory(t)
    writeFileSync(join(cwd, 'incmon.db'), 'dear diary')
    chmodSync(join(cwd, 'incmon.db'), 0o644)
    return { cwd }
  },
}

function acme(t: TestContext): Setup {
  const cwd = temporaryDirectory(t)
  const db = newStore(join(cwd, 'incmon.db'))
  const organization = makeOrganization(db, 'Acme', 'Team')
  const cart = makeService(db, organization, 'cart', { status: 'degraded', score: 60 })
  makeService(db, organization, 'cart-v1')
  const token = makeToken(db, organization, ['read'], { name: 'usual' })
  db.close()
  return { cwd, names: { cart: cart.id, token } }
}

async function makeCast(t: TestContext) {
  const { acme, db, request } = makeWorld(t)
  const cart = makeService(db, acme, 'cart')
  const alert = makeAlert(db, acme, cart).id
  const open = makeIncident(db, acme, cart).id
  const wanted = { title: 'Checkout is slow', serviceId: makeService(db, acme, 'web').id, severity: 'error' }
  const { id } = (await request('POST', '/api/incidents', { token: acme.token, body: wanted })).body
  await request('PATCH', `/api/incidents/${id}`, { token: acme.token, body: { status: 'resolved' } })
  const tokens = (await request('GET', '/api/tokens', { token: acme.token })).body.data
  makeChannel(db, acme)
  const silenceId = makeSilence(db, acme, { ends_at: Date.UTC(2099, 0) }).id
  const names = { incident: id, open, alert, silenceId, tokenId: tokens[0].id, token: acme.token }
  return { setup: { cwd: dirname(db.file), names }, request, token: acme.token }
}

function withFile(t: TestContext, work: (file: string) => void): Setup {
  const cwd = temporaryDirectory(t)
  const file = join(cwd, 'incmon.db')
  newStore(file).close()
  work(file)
  return { cwd }
}

function change(file: string, sql: string): void {
  const sqlite = new SQLite(file)
  sqlite.exec(sql)
  sqlite.close()
}
