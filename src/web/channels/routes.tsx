/** /settings/notifications: the notification channels. */

import { removeChannel, rotateSecret } from '../../actions/channels.ts'
import { CHANNEL_KINDS, type ChannelKind } from '../../domain/notification/format.ts'
import {
  addChannel,
  channelChangeBody,
  editChannel,
  listChannelWarnings,
  newChannelBody,
} from '../../http/api/channels/bodies.ts'
import { required } from '../../http/middleware/problem.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { type ChannelRecord, findChannel, listRecipients } from '../../store/notification/channels.ts'
import { listMessages } from '../../store/notification/messages.ts'
import type { Fault } from '../kit/form.tsx'
import type { Banner } from '../kit/frame.ts'
import { type PageRoute, page, type Visit } from '../page.ts'
import { showSection } from '../settings/section-routes.tsx'
import { validated, withFormErrors } from '../visit/apply.ts'
import { choiceOf } from '../visit/choice.ts'
import { redirect } from '../visit/reply.ts'
import { ChannelPage, NewChannel } from './channel.tsx'
import {
  type ChannelForm,
  type ChannelView,
  channelBody,
  channelFields,
  channelForm,
  readChannelForm,
  ruleForm,
} from './input.ts'
import { ChannelList } from './list.tsx'

const PATH = '/settings/notifications'
const LAST_MESSAGES = { page: 1, limit: 20 }

export const channelPages: readonly PageRoute[] = [
  page(`GET ${PATH}`, 'admin', showChannels),
  page(`GET ${PATH}/new`, 'admin', (visit) => showNew(visit, null, [])),
  page(`POST ${PATH}/new`, 'admin', create),
  page(`GET ${PATH}/:id`, 'admin', async (visit) => showChannel(visit, await requireChannel(visit))),
  page(`POST ${PATH}/:id`, 'admin', act),
]

async function showChannels(visit: Visit): Promise<Reply> {
  const { own } = visit
  const items = await own.read(listRecipients)
  const channels = await Promise.all(items.map((channel) => viewOf(visit, channel)))
  const content = <ChannelList channels={channels} />
  return showSection(visit, { current: 'notifications', title: 'Notifications', content })
}

function showNew(visit: Visit, typed: ChannelForm | null, faults: readonly Fault[]): Promise<Reply> {
  const { viewer, server } = visit
  const kind = kindOf(visit)
  const form = typed ?? channelForm(viewer.zone)
  const sendsMail = server.notifier.hasMailServer()
  const content = <NewChannel {...{ kind, sendsMail, form, faults }} />
  return showSection(visit, { current: 'notifications', title: 'New channel', content, faults })
}

async function create(visit: Visit): Promise<Reply> {
  const kind = kindOf(visit)
  const typed = readChannelForm(visit.form)
  const changed = changedRules(visit, typed)
  if (changed) return showNew(visit, changed, [])
  const attempt = await withFormErrors(channelFields(kind), () =>
    addChannel(visit, validated(newChannelBody, channelBody(kind, typed))),
  )
  if (!('done' in attempt)) return showNew(visit, typed, attempt.faults)
  const { id, secret, warnings } = attempt.done
  if (secret === null && warnings.length === 0) return redirect(visit, `${PATH}/${id}`, 'channel-created')
  return showChannel(visit, await requireChannel({ ...visit, id }), { secret, banner: bannerOf(warnings) })
}

/** Returns a warning about the stored URL, or null if it looks right. */
function bannerOf(warnings: readonly string[]): Banner | null {
  return warnings.length === 0 ? null : { text: `Saved. Warning: ${warnings.join('; ')}.`, level: 'warning' }
}

/** Returns the form with a rule added or removed; null if a different button was used. */
function changedRules({ form, viewer }: Visit, typed: ChannelForm): ChannelForm | null {
  const wanted = form.text('do')
  if (wanted === 'add-rule') return { ...typed, rules: [...typed.rules, ruleForm(viewer.zone)] }
  const removed = /^remove-rule-(\d{1,3})$/.exec(wanted)?.[1]
  if (removed === undefined) return null
  const rest = typed.rules.filter((_, index) => index !== Number(removed))
  return { ...typed, rules: rest.length === 0 ? [ruleForm(viewer.zone)] : rest }
}

async function act(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const channel = await requireChannel(visit)
  const wanted = form.text('do')
  if (wanted === 'test') return showTest(visit, channel)
  if (wanted === 'rotate') return showChannel(visit, channel, { secret: await own.run(rotateSecret, channel.id) })
  if (wanted === 'remove') {
    await own.run(removeChannel, channel.id)
    return redirect(visit, PATH, 'channel-removed')
  }
  if (wanted !== 'enable' && wanted !== 'disable') return save(visit, channel)
  await editChannel(visit, channel, { enabled: wanted === 'enable' })
  return redirect(visit, `${PATH}/${channel.id}`, 'saved')
}

async function save(visit: Visit, channel: ChannelRecord): Promise<Reply> {
  const typed = readChannelForm(visit.form)
  const changed = changedRules(visit, typed)
  if (changed) return showChannel(visit, channel, { typed: changed })
  const attempt = await withFormErrors(channelFields(channel.kind), () =>
    editChannel(visit, channel, validated(channelChangeBody, channelBody(channel.kind, typed))),
  )
  if (!('done' in attempt)) return showChannel(visit, channel, { typed, faults: attempt.faults })
  const { warnings } = attempt.done
  if (warnings.length === 0) return redirect(visit, `${PATH}/${channel.id}`, 'saved')
  return showChannel(visit, await requireChannel(visit), { banner: bannerOf(warnings) })
}

async function showTest(visit: Visit, channel: ChannelRecord): Promise<Reply> {
  const { server } = visit
  const began = server.elapsed()
  const { status, detail } = await server.notifier.test(channel)
  const took = `${((server.elapsed() - began) / 1000).toFixed(1)} s`
  const isDelivered = status !== null && status >= 200 && status < 300
  const answer = detail === null || detail === '' ? '' : `: ${detail}`
  const text =
    status === null
      ? `The test message to “${channel.name}” failed after ${took}${answer}`
      : `Sent a test message to “${channel.name}”. The receiver responded with ${status} in ${took}${answer}`
  const warning = isDelivered ? server.notifier.warning() : null
  const banner: Banner =
    warning === null
      ? { text, level: isDelivered ? 'done' : 'error' }
      : { text: `${text}. Warning: ${warning}.`, level: 'warning' }
  return showChannel(visit, channel, { banner })
}

type Shown = {
  readonly typed?: ChannelForm
  readonly faults?: readonly Fault[]
  readonly secret?: string | null
  readonly banner?: Banner | null
}

async function showChannel(visit: Visit, channel: ChannelRecord, shown: Shown = {}): Promise<Reply> {
  const { own, viewer } = visit
  const { typed, faults = [], secret = null, banner = null } = shown
  const { kind, name, target, settings } = channel
  const view = await viewOf(visit, channel)
  const address = kind === 'mail' ? target : ''
  const form = typed ?? channelForm(viewer.zone, { name, settings, address })
  const ofChannel = { channelId: channel.id }
  const { items } = await own.read(listMessages, ofChannel, LAST_MESSAGES)
  const deliveries = items.map((message) => ({
    ...message,
    title: message.sent?.title ?? null,
    href: message.incidentId === null ? null : `/incidents/${message.incidentId}`,
  }))
  const content = <ChannelPage {...{ channel: view, deliveries, secret, form, faults }} />
  const still = secret !== null || banner !== null
  return showSection(visit, { current: 'notifications', title: name, content, faults, still, banner })
}

async function viewOf(visit: Visit, channel: ChannelRecord): Promise<ChannelView> {
  return { ...channel, warnings: await listChannelWarnings(visit, channel.settings) }
}

function kindOf({ query, form }: Visit): ChannelKind {
  return choiceOf(form.text('kind') || query('kind'), CHANNEL_KINDS, 'slack')
}

function requireChannel({ own, id }: Visit): Promise<ChannelRecord> {
  return required(own.read(findChannel, id), 'channel', 'the page Notifications')
}
