/** Starts the watches of all configured clusters. Loaded only if the configuration names a cluster. */

import { setFlagsFromString } from 'node:v8'
import { IncmonError } from '../domain/error.ts'
import { chooseOrganization, unclearOrganization } from '../domain/organization.ts'
import type { ServiceKey } from '../domain/service/service.ts'
import { countOf } from '../domain/text.ts'
import type { ClusterState } from '../domain/watch/object.ts'
import type { WorkloadNow } from '../domain/watch/workload-now.ts'
import type { Engine } from '../engine/engine.ts'
import { loadWatch } from '../store/kubernetes.ts'
import { listOrganizations } from '../store/organizations.ts'
import type { Db } from '../store/sqlite/open.ts'
import { limitCache } from '../store/sqlite/space.ts'
import { accessOf, type Target, targetOf } from './access.ts'
import { createClient } from './client.ts'
import { watchCluster } from './cluster.ts'

type Deps = {
  readonly db: Db
  readonly engine: Pick<Engine, 'submit'>
  readonly now: () => number
  readonly random: () => number
  readonly warn: (cluster: string, problem: string) => void
  /** Logs what is well. */
  readonly inform: (cluster: string, what: string) => void
}

export type Clusters = {
  readonly states: (organizationId: number) => readonly ClusterState[]
  /** Returns what a cluster says about a service's workload now. An empty cluster means any. */
  readonly workload: (organizationId: number, service: ServiceKey) => WorkloadNow | null
  readonly close: () => Promise<void>
}

/**
 * Starts to watch the clusters.
 * @param values the values of the setting `kubernetes`
 * @throws IncmonError if a cluster cannot be reached as configured
 */
export function watchClusters(values: Parameters<typeof targetOf>[0][], deps: Deps): Clusters {
  const planned = values.map((value) => plan(targetOf(value), deps))
  const names = planned.map(({ name, organizationId }) => `${organizationId} ${name}`)
  const twice = planned.find(({ name }, index) => names.indexOf(names[index] ?? '') !== index && name)
  if (twice) throw refusal(`kubernetes: two clusters are named ${twice.name}; give each entry its own name`)
  const collecting = createCollecting(deps.db)
  const clusters = planned.map((one) => {
    const client = createClient(one.access, deps.now)
    const watched = loadWatch(deps.db, one.organizationId, one.name)
    const warn = (problem: string) => deps.warn(one.name, problem)
    const { server } = one.access
    const onListed = () => {
      collecting.begin()
      deps.inform(one.name, `the cluster was read: ${countOf(watch.state().objects, 'object')}`)
    }
    const watch = watchCluster({ ...deps, server, client, watched, warn, onListed, ...one })
    deps.inform(one.name, `watching the cluster at ${server}`)
    return { ...one, watch }
  })
  collecting.begin()
  const of = (organizationId: number) => clusters.filter((one) => one.organizationId === organizationId)
  return {
    states: (organizationId) => of(organizationId).map(({ watch }) => watch.state()),
    workload: (organizationId, service) => {
      const named = of(organizationId).filter(({ name }) => service.cluster === '' || service.cluster === name)
      return (
        named
          .values()
          .map(({ watch }) => watch.workload(service))
          .find((found) => found !== null) ?? null
      )
    },
    close: async () => {
      await Promise.all(clusters.map(({ watch }) => watch.close()))
      collecting.stop()
    },
  }
}

function plan(target: Target, { db }: Deps) {
  const access = accessOf(target)
  const all = listOrganizations(db)
  const wanted = target.organization ?? ''
  const organization = chooseOrganization(all, wanted)
  const name = target.name ?? access.name
  if (!organization)
    throw refusal(`kubernetes: ${name}: ${unclearOrganization(all, wanted, 'organization')?.join('; ')}`)
  return { access, name, organizationId: organization.rowId, namespaces: target.namespaces }
}

function refusal(message: string): IncmonError {
  return new IncmonError('invalid', message)
}

// Keeps the list of a whole cluster from leaving much memory behind.

/** In milliseconds. V8 collects about ten seconds after the last large allocations. */
const COLLECTING = 20_000

/**
 * `begin` is to be called before and after a list, and `stop` before the database is closed. V8 keeps for minutes what
 * nobody needs, because it prefers speed. For twenty seconds, it prefers memory, and collects in steps of some
 * milliseconds; a collection on demand would block for longer.
 */
export function createCollecting(db: Db) {
  let timer: NodeJS.Timeout | undefined
  let unlimit: (() => void) | null = null
  const end = () => {
    setFlagsFromString('--no-optimize-for-size')
    unlimit?.()
    unlimit = null
  }
  return {
    begin: () => {
      setFlagsFromString('--optimize-for-size')
      unlimit ??= limitCache(db)
      clearTimeout(timer)
      timer = setTimeout(end, COLLECTING).unref()
    },
    stop: () => clearTimeout(timer),
  }
}
