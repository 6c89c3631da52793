/** Shows one alert: its content, its service and how the service was determined, its events, and related changes. */
import type { FC } from 'hono/jsx'
import { formatCount } from '../../domain/text.ts'
import { GraphSection } from '../drawing/graph-section.tsx'
import { OverdueSince } from '../incident/cause.tsx'
import { Action } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { External, Icon, Mark, RepeatCount, ServiceName, safeUrl, Words } from '../kit/mark.tsx'
import { sentText } from '../kit/penalty.ts'
import { Card, Crumbs, Head, Section } from '../kit/section.tsx'
import { SilencedMark, SilenceMenu } from '../kit/silenced.tsx'
import { Time } from '../kit/time.tsx'
import { AlertDuration } from './alerts.tsx'
import type { AlertPageView } from './data.ts'

export const AlertPage: FC<{ view: AlertPageView }> = ({ view }) => {
  const reader = getFrame()
  const { alert, labels, annotations, rules, links, changes, node, overdue } = view
  return (
    <>
      <Crumbs path={[['Alerts', '/alerts'], [alert.source]]} />
      <div class="title">
        <div class="incident-title">
          <h1>
            <Mark level={alert.severity} label={alert.severity} />
            <Words in="span" text={alert.name} />
          </h1>
          <p class="facts">
            <AlertDuration {...alert} /> <SilencedMark silenced={alert.silenced} />
            <span>
              {alert.endsAt === null ? 'since' : 'from'} <Time at={alert.startsAt} style="moment" />
            </span>
            <a href={alert.service.href}>
              <ServiceName namespace={alert.service.namespace} name={alert.service.name} />
            </a>
            {node ? (
              <span>
                on <a href={node.href}>{node.name}</a>
              </span>
            ) : null}
            {alert.incident ? <a href={alert.incident.href}>incident {alert.incident.number}</a> : null}
            <span>
              seen {alert.occurrences === 1 ? 'once' : `${alert.occurrences} times`}, last{' '}
              <Time at={alert.lastSeenAt} />
            </span>
            <OverdueSince overdue={overdue} />
          </p>
        </div>
        {reader.canWrite && alert.endsAt === null ? (
          <div class="row actions">
            <SilenceMenu
              matched={{ alertname: alert.name, service: alert.service.name, namespace: alert.service.namespace }}
              what={`${alert.name} of ${alert.service.name}`}
              {...{ back: `/alerts/${alert.id}`, mutes: view.mutes }}
            />
            <Action action={`/alerts/${alert.id}/end`}>Resolve manually</Action>
          </div>
        ) : null}
      </div>
      <p class="card empty break">
        <Words text={alert.summary} /> {sentText(alert)}
      </p>
      <GraphSection found={view.graph} startsAt={alert.startsAt} />
      <div class="columns">
        <div>
          <Pairs title="Labels" pairs={labels} second={labelsText(view)} />
          <Pairs title="Annotations" pairs={annotations} />
          <Events view={view} />
        </div>
        <div>
          <Pairs title="How incmon decided" pairs={rules} />
          <Section id="changes" title="Linked changes">
            <Card empty={changes.length === 0 ? 'No change is linked to this alert.' : null}>
              <ul class="rows">
                {changes.map(({ ref, text }) => (
                  <li class="item group">
                    <Icon name="link" class="change" />
                    <div class="grow group-body">
                      <Words in="b" class="break" text={ref} />
                      <Words in="p" class="second break" text={text} />
                    </div>
                  </li>
                ))}
              </ul>
            </Card>
          </Section>
          {links.length === 0 ? null : (
            <Section id="links" title="Links from the sender">
              <ul class="card rows">
                {links.map(({ name, address }) => (
                  <li class="break">
                    <Address name={name} address={address} />
                  </li>
                ))}
              </ul>
            </Section>
          )}
        </div>
      </div>
    </>
  )
}

/** Renders a link only if the value is an http or https URL. */
const Address: FC<{ name: string; address: string }> = ({ name, address }) => {
  const url = safeUrl(address)
  return url === null ? (
    <>
      {name}: {address}
    </>
  ) : (
    <External href={url} text={name} />
  )
}

/**
 * If the alert is about several objects, says that the labels are from the first event. The summary is from the newest
 * event.
 */
function labelsText({ events }: AlertPageView): string {
  return new Set(events.map(({ object }) => object)).size > 1 ? 'of the first event' : ''
}

type Pair = readonly [string, string]

const Pairs: FC<{ title: string; pairs: readonly Pair[]; second?: string }> = ({ title, pairs, second = '' }) =>
  pairs.length === 0 ? null : (
    <section aria-label={title}>
      <Head title={title} {...(second === '' ? {} : { second })} />
      <dl class="card pairs">
        {pairs.map(([name, value]) => (
          <>
            <dt class="break">{name}</dt>
            <dd class="mono">
              <Words text={value} />
            </dd>
          </>
        ))}
      </dl>
    </section>
  )

/** Returns `30`, or `newest 50 of 440` if the page does not show all events. */
function eventsText({ events, alert: { occurrences } }: AlertPageView): string {
  const shown = events.reduce((sum, { count }) => sum + count, 0)
  return shown < occurrences ? `newest ${formatCount(shown)} of ${formatCount(occurrences)}` : formatCount(shown)
}

const Events: FC<{ view: AlertPageView }> = ({ view }) => (
  <Section id="events" title="Events" second={eventsText(view)}>
    <Card empty={view.events.length === 0 ? 'The events of this alert have expired.' : null}>
      <ol class="entries">
        {view.events.map(({ at, name, text, object, count, firstAt }) => (
          <li class="entry">
            <Time at={at} style="moment" />
            <span class="entry-icon">
              <Icon name="pulse" />
            </span>
            <p class="break">
              <Words text={text === name ? name : `${name}: ${text}`} /> <span class="quiet">{object}</span>{' '}
              <RepeatCount count={count} />
              {count === 1 ? null : (
                <span class="quiet">
                  {' '}
                  since <Time at={firstAt} style="moment" />
                </span>
              )}
            </p>
          </li>
        ))}
      </ol>
    </Card>
  </Section>
)
