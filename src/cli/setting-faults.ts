/** Finds faults in settings that only their files or other settings show. */
import { type Config, readSmallFile } from '../config.ts'
import type { DoctorFacts } from '../domain/doctor/facts.ts'

/** Returns what is wrong with the kubeconfigs, the password file and the header of users, and what to do. */
export async function settingFaults(config: Config): Promise<string[]> {
  const { kubernetes, 'smtp-password-file': password } = config
  const { accessOf, targetOf } = await import('../kubernetes/access.ts')
  const faults = kubernetes.map((one) => faultOf(() => accessOf(targetOf(one))))
  if (password !== '' && faultOf(() => readSmallFile(password)))
    faults.push(`smtp-password-file: ${password} cannot be read; check the path and its permissions`)
  if (config['user-header'] !== '' && config['trusted-proxies'].length === 0)
    faults.push('user-header signs nobody in without trusted-proxies: set trusted-proxies to the network of the proxy')
  return faults.filter((fault) => fault !== null)
}

/** Returns the settings that name an organization, with their values; '' for the only organization. */
export function organizationsIn(config: Config): DoctorFacts['organizations'] {
  const users =
    config['user-header'] === '' ? [] : [{ setting: 'user-organization', name: config['user-organization'] }]
  const clusters = config.kubernetes.map((one) => (typeof one === 'string' ? '' : String(one.organization ?? '')))
  return [...users, ...clusters.map((name) => ({ setting: 'organization in [[kubernetes]]', name }))]
}

function faultOf(read: () => unknown): string | null {
  try {
    read()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
