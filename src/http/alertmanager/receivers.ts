/** Presents the channels as Alertmanager's receivers, and their rules as its routes. */
import type { ChannelSettings } from '../../domain/notification/channel.ts'
import { receiverNames, rootReceiver } from '../../domain/notification/receivers.ts'
import type { Rule } from '../../domain/notification/rule.ts'
import { SEVERITIES, SEVERITY_WORDS, type Severity } from '../../domain/severity.ts'
import { formatMatchers } from '../../domain/silence/matcher.ts'
import { findOrganization } from '../../store/organizations.ts'
import { required } from '../middleware/problem.ts'
import type { ApiCall } from './route.ts'

type Channel = { readonly name: string; readonly enabled: boolean; readonly settings: ChannelSettings }

/** Returns the labels by which the organization groups alerts. */
export async function groupByOf({ store, identity }: ApiCall): Promise<readonly string[]> {
  const found = store.read(findOrganization, identity.organizationId)
  const { settings } = await required(found, 'organization', 'incmon org list')
  return settings['group-by']
}

/** Returns a configuration file of Alertmanager. JSON strings are valid YAML. */
export function configOf(channels: readonly Channel[], groupBy: readonly string[]): string {
  const root = JSON.stringify(rootReceiver(channels))
  const routes = channels.filter(({ enabled }) => enabled).flatMap(routesOf)
  return [
    'global:',
    '  resolve_timeout: 5m',
    'route:',
    `  receiver: ${root}`,
    `  group_by: ${JSON.stringify(groupBy)}`,
    ...(routes.length > 0 ? ['  routes:', ...routes] : []),
    'receivers:',
    ...receiverNames(channels).map((name) => `- name: ${JSON.stringify(name)}`),
    '',
  ].join('\n')
}

function routesOf({ name, settings }: Channel): string[] {
  const rules: readonly Rule[] = settings.rules.length === 0 ? [{}] : settings.rules
  return rules.flatMap((rule) => {
    const matchers = matchersOf(rule)
    return [
      `  - receiver: ${JSON.stringify(name)}`,
      ...(matchers.length > 0 ? ['    matchers:', ...matchers.map((one) => `    - ${JSON.stringify(one)}`)] : []),
      '    continue: true',
    ]
  })
}

function matchersOf({ minSeverity, services, namespaces, matchers = [] }: Rule): string[] {
  return [
    ...(minSeverity === undefined ? [] : [matcher('severity', wordsFrom(minSeverity))]),
    ...(services === undefined ? [] : [matcher('service', services)]),
    ...(namespaces === undefined ? [] : [matcher('namespace', namespaces)]),
    ...(matchers.length === 0 ? [] : [formatMatchers(matchers).slice(1, -1)]),
  ]
}

function wordsFrom(least: Severity): readonly string[] {
  return SEVERITIES.slice(0, SEVERITIES.indexOf(least) + 1).flatMap((severity) => SEVERITY_WORDS[severity].split(' '))
}

function matcher(name: string, values: readonly string[]): string {
  const escaped = values.map((value) => value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return `${name}=~${JSON.stringify(escaped.join('|'))}`
}
