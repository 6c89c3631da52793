/** Checks whether messages are delivered, and whether they contain links. */
import { type ChannelFact, type DoctorFacts, type Finding, ok, warn } from './facts.ts'

/** Returns no findings if there are no channels. */
export function diagnoseChannels({ content, publicUrl }: DoctorFacts): Finding[] {
  const channels = content?.state === 'read' ? (content.history?.channels ?? []) : []
  if (channels.length === 0) return []
  const troubles = channels.flatMap(diagnoseChannel)
  if (publicUrl === '') {
    const text = 'messages have no links, not even one to acknowledge an incident'
    troubles.push(warn('channel', text, 'set public-url to the address at which people reach this server'))
  }
  return troubles.length > 0 ? troubles : [ok('channel', 'no channel fails, and messages have links')]
}

function diagnoseChannel({ organization, name, enabled, failing }: ChannelFact): Finding[] {
  if (failing === null) return []
  const test = `correct its address, then run "incmon channel test ${name}"`
  if (enabled) return [warn('channel', `${name} of ${organization} fails: ${failing}`, test)]
  const text = `${name} of ${organization} was disabled, because its receiver no longer exists: ${failing}`
  return [warn('channel', text, `run "incmon channel set ${name} --enable" with a new --url, or remove it`)]
}
