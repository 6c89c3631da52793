/** The services that stand for nodes, whose name is `node/` followed by the name of the node. */

import type { Name } from './service.ts'

const NODE = 'node/'

export function isNodeService({ namespace, name }: Name): boolean {
  return namespace === '' && name.startsWith(NODE)
}

/** Returns the name of the node for which a service stands. */
export function nodeNameOf({ name }: Pick<Name, 'name'>): string {
  return name.slice(NODE.length)
}

/** Returns the name of the service that stands for a node. */
export function serviceOfNode(node: string): string {
  return `${NODE}${node}`
}
