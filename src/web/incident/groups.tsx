/** Shows groups of similar alerts, one expandable row per group, and the affected services. */

import type { FC } from 'hono/jsx'
import { firingMs } from '../../domain/alert/groups.ts'
import { BREAKS } from '../../domain/incident/lasted.ts'
import {
  formatDuration,
  formatEnd,
  formatLasted,
  formatMoment,
  formatWhen,
  type Reader,
} from '../../domain/shown-time.ts'
import { countOf, formatCount, formatTimes } from '../../domain/text.ts'
import { Sparkbars } from '../drawing/strip.tsx'
import { getFrame } from '../kit/frame.ts'
import { Command, Icon, Mark, RepeatCount, ServiceName, Words } from '../kit/mark.tsx'
import { sentText } from '../kit/penalty.ts'
import { Card, Section } from '../kit/section.tsx'
import { SilencedMark, SilenceLink, silencedPart } from '../kit/silenced.tsx'
import { Time } from '../kit/time.tsx'
import type { AffectedView, GroupView, IncidentView, ServiceLink } from './view.ts'

/** The maximum number of alerts to list in a group, and in all groups together. */
const MAX_MEMBERS = 20
const MAX_LISTED = 20
const LEAST_MEMBERS = 3

type Props = {
  readonly groups: readonly GroupView[]
  /** The service to name in silence links. */
  readonly service: Pick<ServiceLink, 'name' | 'namespace'>
  /** Whether what fires was last reported long ago. */
  readonly isQuiet?: boolean
}

/** Counts the alerts of the groups that are not listed separately. */
export function unlisted(groups: readonly Pick<GroupView, 'isMixed' | 'count'>[]): number {
  return groups.reduce((sum, { isMixed, count }) => sum + (isMixed ? count : 0), 0)
}

/** Returns ` in 3 groups`, or `: 100 groups and 900 more` if there are more groups than a page lists. */
export function groupsText(groups: readonly Pick<GroupView, 'isMixed' | 'count'>[]): string {
  const more = unlisted(groups)
  const listed = countOf(groups.filter(({ isMixed }) => !isMixed).length, 'group')
  return more === 0 ? ` in ${listed}` : `: ${listed} and ${formatCount(more)} more`
}

/** Renders the rows. A group's name links to the list of its alerts. */
export const Groups: FC<Props> = ({ groups, service, isQuiet = false }) => (
  <ul class="rows groups">
    {groups.map((group) => (
      <li class="item group">
        <Mark level={group.severity} label={group.severity} />
        <div class="grow group-body">
          <p class="row group-name">
            <a class="ink" href={group.href}>
              <Words in="b" class="break" text={group.name} />
            </a>
            <RepeatCount count={group.count} />
            {group.of ? (
              <span class="second">
                <ServiceName {...group.of} />
              </span>
            ) : null}
            <SilencedMark silenced={group.silenced} of={silencedPart(group.silenced, group.firing)} />
            {getFrame().canWrite && group.firing > 0 && !group.isMixed ? (
              <SilenceLink
                matched={{
                  alertname: group.name,
                  service: (group.of ?? service).name,
                  namespace: (group.of ?? service).namespace,
                }}
                what={group.name}
                class="silence end"
              />
            ) : null}
          </p>
          <p class="second break">
            <Words text={/[.!?]$/.test(group.summary) ? group.summary : `${group.summary}.`} />
            {group.seen > group.count ? ` Seen ${formatTimes(group.seen)}.` : ''}
            {group.sentAs ? ` ${sentText(group)}` : ''}
          </p>
          {group.hint ? (
            <p class="second group-hint">
              {group.hint.text} <Command text={group.hint.command} />
            </p>
          ) : null}
          {group.count > 1 ? <Members group={group} most={mostOf(groups)} /> : null}
        </div>
        {group.counts.length > 0 ? (
          <Sparkbars counts={group.counts} level={group.severity} label={`${group.name}, how often it was reported`} />
        ) : null}
        <span class="group-time second">
          {group.firing === 0
            ? endedText(group, getFrame())
            : isQuiet && group.source !== 'ci'
              ? 'no end reported'
              : ongoingText(group, getFrame())}{' '}
          <br />
          <span class="quiet">{group.source}</span>
        </span>
      </li>
    ))}
  </ul>
)

/**
 * Returns `firing for 10 min, with breaks`, or `330 of 440 still firing after 10 min` if some have ended. A failed
 * pipeline is not counted as a firing alert, so its text is `failed 10 min ago`.
 */
function ongoingText(group: GroupView, { now }: Reader): string {
  const { firing, count, gaps, source } = group
  const duration = `${formatDuration(firingMs(group, now))}${gaps.length > 0 ? BREAKS : ''}`
  if (source === 'ci') return `failed ${duration} ago`
  if (firing === count) return `firing for ${duration}`
  return `${formatCount(firing)} of ${formatCount(count)} still firing after ${duration}`
}

/** Returns `ended after 24 min`, `fired 3 times, for 24 min in all`, or `fired for at least 9 min, last reported at 03:12`. */
function endedText(group: GroupView, reader: Reader): string {
  const { endsAt, firstStartsAt, gaps, isGuess, source } = group
  const end = endsAt ?? firstStartsAt
  const ms = firingMs(group, end)
  const times = gaps.length === 0 ? '' : ` ${gaps.length + 1} times,`
  const least = isGuess && source !== 'ci'
  const last = least ? `last reported ${formatWhen(end, reader)}` : ''
  if (ms < 1000) return last === '' ? 'ended' : last
  const lasted = `${least ? 'at least ' : ''}${formatLasted(ms)}`
  const fired = gaps.length === 0 && !least ? `ended after ${lasted}` : `fired${times} for ${lasted}`
  return `${fired}${times === '' ? '' : ' in all'}${last === '' ? '' : `, ${last}`}`
}

/** In a storm of many conditions, each lists fewer of its alerts. */
function mostOf(groups: readonly GroupView[]): number {
  const large = groups.filter(({ count }) => count > LEAST_MEMBERS).length
  return Math.max(LEAST_MEMBERS, Math.min(MAX_MEMBERS, Math.floor(MAX_LISTED / Math.max(1, large))))
}

const Members: FC<{ group: GroupView; most: number }> = ({ group, most }) => {
  const members = group.members.slice(0, most)
  const [first] = members
  const differing = Object.keys(first?.labels ?? {}).find((name) =>
    members.some(({ labels }) => labels[name] !== first?.labels[name]),
  )
  return (
    <details class="second">
      <summary>
        {group.count > most ? `The newest ${most} of ${formatCount(group.count)}` : `All ${formatCount(group.count)}`}
      </summary>
      <ul class="members">
        {members.map(({ href, startsAt, labels, summary }) => (
          <li>
            <Time at={startsAt} style="moment" />{' '}
            <a href={href}>
              <Words text={labels.pod ?? labels.instance ?? labels.name ?? labels[differing ?? ''] ?? summary} />
            </a>
          </li>
        ))}
      </ul>
      {group.count > most ? <a href={group.href}>All {countOf(group.count, 'alert')}</a> : null}
    </details>
  )
}

/** Services without alerts here that are affected for the same reason share one row. */
export const Affected: FC<Pick<IncidentView, 'affected'>> = ({ affected }) => (
  <Section id="affected" title="Affected" second={affected.length === 0 ? null : countOf(affected.length, 'service')}>
    <Card empty={affected.length === 0 ? 'No affected service is known.' : null}>
      <ul class="rows groups">
        {[...Map.groupBy(affected, (one) => (one.severity === null ? one.detail : one)).values()].map((alike) =>
          alike.slice(0, 1).map(({ severity, detail, ...one }) => (
            <li class="item group">
              {severity === null ? <Icon name="workload" /> : <Mark level={severity} label={severity} />}
              <div class="grow group-body break">
                {alike.length === 1 ? <AffectedName {...one} /> : <b>{countOf(alike.length, 'service')}</b>}
                {detail === '' ? null : <Words in="p" class="second" text={detail} />}
                {alike.length === 1 ? null : (
                  <ul class="members affected">
                    {alike.map((other) => (
                      <li>
                        <AffectedName {...other} /> <span class="quiet nowrap">{timeText(other, getFrame())}</span>
                      </li>
                    ))}
                  </ul>
                )}
              </div>
              {alike.length === 1 ? <span class="group-time second">{timeText(one, getFrame())}</span> : null}
            </li>
          )),
        )}
      </ul>
    </Card>
  </Section>
)

const AffectedName: FC<ServiceLink> = ({ href, namespace, name }) => (
  <a class="ink" href={href}>
    <ServiceName namespace={namespace} name={name} />
  </a>
)

/** Returns `since 03:02`, `03:02 to 03:20` if the problem has ended, or `at 03:02` if it lasted less than a minute. */
function timeText({ since, until }: Pick<AffectedView, 'since' | 'until'>, reader: Reader): string {
  const from = formatMoment(since, reader)
  if (until === undefined) return `began ${from}`
  if (until === null) return `since ${from}`
  const to = formatEnd(until, since, reader)
  return from === to ? formatWhen(since, reader) : `${from} to ${to}`
}
