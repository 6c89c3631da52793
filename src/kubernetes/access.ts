/** The clusters to watch, and how to reach their API servers: from inside a cluster, or with a kubeconfig. */
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { clusterVariables, readSmallFile } from '../config.ts'
import { IncmonError } from '../domain/error.ts'

export type Access = {
  /** The name of the context, or `in-cluster`. */
  readonly name: string
  readonly server: string
  /** PEM texts; null if there is none. */
  readonly tls: { readonly ca: string | null; readonly cert: string | null; readonly key: string | null }
  readonly isUnverified: boolean
  /** Returns the token; null if there is none. A file is read again, because Kubernetes replaces tokens every hour. */
  readonly token: () => string | null
}

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
const MOUNT = 'set serviceAccountName in the pod, and remove automountServiceAccountToken: false'

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns how to reach the target.
 * @throws IncmonError that says what is wrong with the kubeconfig and what to do
 */
export function accessOf(target: Target): Access {
  return target.kubeconfig === IN_CLUSTER ? inCluster() : fromKubeconfig(target)
}

function inCluster(): Access {
  const { host, port } = clusterVariables()
  if (host === null) throw refusal('in-cluster: incmon does not run in a pod of a cluster; name a kubeconfig instead')
  return {
    name: IN_CLUSTER,
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tls: { ca: readText(`${ACCOUNT}/ca.crt`, MOUNT), cert: null, key: null },
    isUnverified: false,
    token: () => readText(`${ACCOUNT}/token`, MOUNT).trim(),
  }
}

function fromKubeconfig({ kubeconfig, context }: Target): Access {
  const config = fieldsOf(parsed(kubeconfig))
  const name = context ?? textOf(config, 'current-context')
  if (name === null) throw refusal(`${kubeconfig}: has no current-context; name a context: ${kubeconfig}#CONTEXT`)
  const found = named(config, 'contexts', name, 'context')
  if (!found) throw refusal(`${kubeconfig}: has no context ${name}; it has ${contextsOf(config).join(', ') || 'none'}`)
  const cluster = named(config, 'clusters', textOf(found, 'cluster'), 'cluster')
  const user = named(config, 'users', textOf(found, 'user'), 'user') ?? {}
  const server = cluster && textOf(cluster, 'server')
  if (!cluster || !server) throw refusal(`${kubeconfig}: context ${name}: its cluster has no server`)
  refuseHelpers(kubeconfig, user)
  const text = (fields: Fields, data: string, file: string) => dataOf(fields, data) ?? fileOf(kubeconfig, fields, file)
  const fixed = textOf(user, 'token')
  const tokenFile = textOf(user, 'tokenFile')
  return {
    ...{ name, server },
    tls: {
      ca: text(cluster, 'certificate-authority-data', 'certificate-authority'),
      cert: text(user, 'client-certificate-data', 'client-certificate'),
      key: text(user, 'client-key-data', 'client-key'),
    },
    isUnverified: cluster['insecure-skip-tls-verify'] === true,
    token: () => (tokenFile === null ? fixed : readText(resolve(dirname(kubeconfig), tokenFile)).trim()),
  }
}

/** Running a program from a configuration file, with the rights of the server, is not worth the risk. */
function refuseHelpers(kubeconfig: string, user: Fields): void {
  const helper = ['exec', 'auth-provider'].find((one) => user[one] !== undefined)
  if (!helper) return
  throw refusal(
    `${kubeconfig}: the user signs in with "${helper}", which incmon does not run; create a token for a service account with "incmon kubernetes manifest", and use a kubeconfig with this token`,
  )
}

/** What is not base64. A context takes about a hundred. The parser's time grows with the square of their number. */
const SIGN = /[^\w+/=. ]/g
const MAX_SIGNS = 20_000

function parsed(path: string): unknown {
  const text = readText(path)
  if ((text.match(SIGN)?.length ?? 0) > MAX_SIGNS)
    throw refusal(`${path}: has more than ${MAX_SIGNS} signs; check that it is a kubeconfig`)
  try {
    return parse(text)
  } catch {
    throw refusal(`${path}: is not YAML; check that it is a kubeconfig`)
  }
}

function readText(path: string, remedy = 'check the path and its permissions'): string {
  try {
    return readSmallFile(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw refusal(`${path}: cannot be read (${code}); ${remedy}`)
  }
}

function contextsOf(config: Fields): string[] {
  return listOf(config, 'contexts').flatMap((one) => textOf(one, 'name') ?? [])
}

function named(config: Fields, list: string, name: string | null, inner: string): Fields | null {
  const found = listOf(config, list).find((one) => textOf(one, 'name') === name)
  return found ? fieldsOf(found[inner]) : null
}

function listOf(fields: Fields, name: string): Fields[] {
  const value = fields[name]
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

function dataOf(fields: Fields, name: string): string | null {
  const value = textOf(fields, name)
  return value === null ? null : Buffer.from(value, 'base64').toString()
}

function fileOf(kubeconfig: string, fields: Fields, name: string): string | null {
  const value = textOf(fields, name)
  return value === null ? null : readText(resolve(dirname(kubeconfig), value))
}

function textOf(fields: Fields, name: string): string | null {
  const value = fields[name]
  return typeof value === 'string' && value !== '' ? value : null
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function refusal(message: string): IncmonError {
  return new IncmonError('invalid', `kubernetes: ${message}`)
}

/** One entry of `[[kubernetes]]`, or one value of `--kubernetes`. */
export type Target = {
  /** `in-cluster`, or the path of a kubeconfig. */
  readonly kubeconfig: string
  /** The context in the kubeconfig; null for its current context. */
  readonly context: string | null
  /** The name of the cluster; null for the name of the context, or `in-cluster`. */
  readonly name: string | null
  /** The organization that the cluster belongs to; null for the only organization. */
  readonly organization: string | null
  /** The namespaces to watch; empty for all. */
  readonly namespaces: readonly string[]
}

const IN_CLUSTER = 'in-cluster'

/** Reads a value that the setting accepts: text such as `in-cluster` or `KUBECONFIG#context`, or a table of the file. */
export function targetOf(value: string | Readonly<Record<string, unknown>>): Target {
  const table = typeof value === 'string' ? { kubeconfig: value } : value
  const text = (name: string) =>
    typeof table[name as keyof typeof table] === 'string' ? String(table[name as keyof typeof table]) : null
  const [kubeconfig = IN_CLUSTER, context = null] = (text('kubeconfig') ?? IN_CLUSTER).split('#')
  const { namespaces } = table as { readonly namespaces?: readonly string[] }
  return {
    kubeconfig,
    context: text('context') ?? context,
    name: text('name'),
    organization: text('organization'),
    namespaces: namespaces ?? [],
  }
}
