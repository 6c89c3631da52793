/** Checks whether messages are delivered, and whether they contain links. */
import { type ChannelFact, type DoctorFacts, type Finding, ok, warn } from './facts.ts'

/** Returns no findings if there are no channels. */
export function diagnoseChannels({ content, publicUrl }: DoctorFacts): Finding[] {
  const channels = content?.state === 'read' ? (content.history?.channels ?? []) : []
  if (channels.length === 0) return []
  const troubles = channels.flatMap(diagnoseChannel)
  if (publicUrl === '') {
    const text = 'messages contain no links to open or acknowledge an incident'
    troubles.push(warn('channel', text, 'set public-url to the URL at which people reach this server'))
  }
  return troubles.length > 0 ? troubles : [ok('channel', 'all channels work, and messages contain links')]
}

function diagnoseChannel({ organization, name, enabled, failing }: ChannelFact): Finding[] {
  if (failing === null) return []
  const test = `correct the URL of the channel, then run "incmon channel test ${name}"`
  if (enabled) return [warn('channel', `${name} of ${organization} is failing: ${failing}`, test)]
  const text = `${name} of ${organization} was disabled because its receiver no longer exists: ${failing}`
  return [warn('channel', text, `run "incmon channel set ${name} --enable" with a new --url, or remove the channel`)]
}
