/** Shows one service: its status and when the status began, the likely causes, and earlier changes. */
import type { FC } from 'hono/jsx'
import { isUnattributed } from '../../domain/alert/signal.ts'
import { BUDGETS } from '../../domain/budgets.ts'
import { firingText } from '../../domain/incident/incident.ts'
import { silencedText } from '../../domain/incident/lasted.ts'
import { formatLasted } from '../../domain/shown-time.ts'
import { capitalized, countOf } from '../../domain/text.ts'
import { Bill } from '../drawing/bill.tsx'
import { CauseLine, LastGoodDeploy } from '../incident/cause.tsx'
import { Groups, groupsText, unlisted } from '../incident/groups.tsx'
import { Picture } from '../incident/picture.tsx'
import { Select } from '../kit/choice.tsx'
import { Form, Input, Submit } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { External, Icon, Mark, Status, Words } from '../kit/mark.tsx'
import { Card, Crumbs, Section } from '../kit/section.tsx'
import { SilencedMark, SilenceMenu } from '../kit/silenced.tsx'
import { Time } from '../kit/time.tsx'
import { InKubernetes } from '../kit/workload.tsx'
import { lengthText, type ServiceView, statusText } from './view.ts'

/** Returns the page title, with the most important fact first, for example `checkout is critical`. */
export function serviceTitle({ name, status, silenced }: ServiceView): string {
  const quiet = silenced === null ? '' : `, ${countOf(silenced.count, 'alert')} silenced`
  return `${name} is ${status}${quiet}`
}

export const ServicePage: FC<{ view: ServiceView }> = ({ view }) => (
  <>
    <Head view={view} />
    <Picture {...view} />
    <div class="columns">
      <div>
        {isUnattributed(view) ? <Unattributed view={view} /> : null}
        <Score view={view} />
        <Firing view={view} />
        <Earlier view={view} />
      </div>
      <div>
        <InKubernetes now={view.workload} gaps={view.gaps} />
        <Changes view={view} />
        {view.aliases.length === 0 && view.cluster === '' ? null : <Names view={view} />}
      </div>
    </div>
  </>
)

/** Labels that say what fires, or that far more alerts have than those of one service. */
const TOO_BROAD = new Set(['alertname', 'severity', 'prometheus', 'receiver', 'monitor', 'namespace', 'cluster'])
const MAX_LABELS = 30

/** The labels of the firing alerts as `name=value`. */
function labelsOf(groups: ServiceView['groups']): readonly string[] {
  const labels = groups.flatMap(({ members }) => members.flatMap((alert) => Object.entries(alert.labels)))
  const found = labels.flatMap(([name, value]) => (TOO_BROAD.has(name) ? [] : [`${name}=${value}`]))
  return [...new Set(found)].sort().slice(0, MAX_LABELS)
}

const Unattributed: FC<{ view: ServiceView }> = ({ view: { groups } }) => {
  const { canWrite } = getFrame()
  const labels = labelsOf(groups)
  return (
    <Section id="unattributed" title="Why these alerts are here">
      <div class="card body stack">
        <p>
          No label of these alerts names a service, and no alias matches. Add a label such as <code>service</code> to
          the alert rule, or assign one of the labels to a service: alerts that fire from then on belong to it.
        </p>
        {canWrite && labels.length > 0 ? (
          <Form action="/services/alias" class="fields">
            <Select
              id="label"
              label="Alerts with the label"
              options={labels.map((label) => [label, label] as const)}
              value={labels[0] ?? ''}
            />
            <Input id="service" label="belong to the service" hint="Its name, or namespace/name." required />
            <p>
              <Submit>Assign</Submit>
            </p>
          </Form>
        ) : null}
      </div>
    </Section>
  )
}

const SERVICES = ['Services', '/'] as const

const Head: FC<{ view: ServiceView }> = ({ view }) => {
  const frame = getFrame()
  const { namespace, name, status, incident, penalties, changes } = view
  const [worst] = penalties
  const shown = incident?.head
  return (
    <>
      <Crumbs
        path={namespace === '' ? [SERVICES] : [SERVICES, [namespace, `/?namespace=${encodeURIComponent(namespace)}`]]}
      />
      <div class="title">
        <div class="incident-title">
          <h1>
            <Mark level={status} label={status} />
            <span>{name}</span>
          </h1>
          <div class="service-state">
            {shown?.status === 'resolved' && shown.firingAlerts > 0 ? (
              <b>
                Incident {shown.number} is resolved, but {firingText(shown.firingAlerts)}.{' '}
              </b>
            ) : null}
            {incident?.recovery ? null : <b>{`${capitalized(status)}${lengthText(view, frame.now)}.`}</b>}{' '}
            <SilencedMark silenced={view.silenced} of={countOf(view.silenced?.count ?? 0, 'alert')} />{' '}
            {incident ? (
              <CauseLine one={incident} />
            ) : worst ? (
              <span>
                <Words text={worst.name} /> costs the most points.
                {changes.some(({ linked }) => linked !== '') ? '' : ' No change is linked to it.'}
              </span>
            ) : null}
          </div>
        </div>
        <div class="row actions">
          {shown ? (
            <a class="button" href={shown.href}>
              Incident {shown.number} <Status status={shown.status} />
            </a>
          ) : null}
          {frame.canWrite ? (
            <SilenceMenu
              matched={{ service: name, namespace }}
              {...{ what: name, back: view.href, mutes: view.mutes }}
              class="button bare"
            />
          ) : null}
        </div>
      </div>
    </>
  )
}

const Score: FC<{ view: ServiceView }> = ({ view }) => {
  const { score, penalties } = view
  const sum = penalties.reduce((total, { penalty }) => total + penalty, 0)
  // A score has at most as many penalties as a page lists groups.
  const more = penalties.length < BUDGETS['shown-groups'].value ? 0 : unlisted(view.groups)
  const atLeast = more > 0 ? 'at least ' : ''
  return (
    <Section id="score" title={`Why the score is ${score}`}>
      <div class="card body">
        <Bill score={score} lines={penalties} />
        {penalties.length === 0 ? (
          <p class="bill-sum">There are no penalties.</p>
        ) : (
          <ul class="after bill-lines">
            {penalties.map(({ name, rule, penalty, href, since, severity }) => (
              <li>
                <b class={`ink-level level-${severity} number bill-points`}>−{penalty}</b>
                <span class="break">
                  <a class="ink plain" href={href}>
                    <Words in="b" text={name} />
                  </a>{' '}
                  <span class="quiet">{rule}</span>
                </span>
                <span class="quiet nowrap">
                  {since === null ? null : (
                    <>
                      <span class="desk">since </span>
                      <Time at={since} style="moment" />
                    </>
                  )}
                </span>
              </li>
            ))}
            {more > 0 ? (
              <li>
                <a href={`${view.alertsHref}&status=firing`}>{countOf(more, 'more alert')}</a>
              </li>
            ) : null}
          </ul>
        )}
        {view.silenced === null ? null : (
          <p class="bill-sum">
            {countOf(view.silenced.count, 'silenced alert')} {view.silenced.count === 1 ? 'does' : 'do'} not lower the
            score.
          </p>
        )}
        <p class="bill-sum bill-result">
          <b class="number bill-total">{score}</b>{' '}
          <b>{sum > 100 ? `the minimum: the penalties add up to ${atLeast}${sum}` : statusText(view)}</b>
        </p>
      </div>
    </Section>
  )
}

const Firing: FC<{ view: ServiceView }> = ({ view: { groups, alertsHref, name, namespace } }) => {
  const count = groups.reduce((total, group) => total + group.count, 0)
  return (
    <Section
      id="firing"
      title="Firing now"
      second={count === 0 ? '' : `${countOf(count, 'alert')}${groupsText(groups)}`}
      end={[alertsHref, 'All alerts']}
    >
      <Card empty={groups.length === 0 ? 'Nothing is firing.' : null}>
        <Groups groups={groups} service={{ name, namespace }} />
      </Card>
    </Section>
  )
}

const Earlier: FC<{ view: ServiceView }> = ({ view: { earlier, incident } }) => (
  <Section id="earlier" title="Earlier incidents">
    <Card empty={earlier.length === 0 ? `No ${incident ? 'other ' : ''}incident of this service is recorded.` : null}>
      <ul class="rows">
        {earlier.map(({ title, href, startedAt, endedAt, criticalMs, mutedMs, resolvedAt, hasPostmortem, status }) => (
          <li class="item group">
            {resolvedAt === null ? <Status status={status} word={false} /> : <Mark level="done" label="resolved" />}
            <div class="grow group-body">
              <a class="ink plain" href={href}>
                <b class="break">{title}</b>
              </a>
              <p class="second">
                {endedAt === null ? 'Not over yet.' : `Lasted ${formatLasted(criticalMs)}${silencedText(mutedMs)}.`}
                {hasPostmortem ? (
                  <>
                    {' '}
                    <a href={`${href}/postmortem`}>Postmortem</a>
                  </>
                ) : null}
              </p>
            </div>
            <Time at={startedAt} style="moment" />
          </li>
        ))}
      </ul>
    </Card>
  </Section>
)

const Changes: FC<{ view: ServiceView }> = ({ view: { changes, lastGoodDeploy } }) => (
  <Section id="changes" title="Changes" second={lastGoodDeploy && <LastGoodDeploy deploy={lastGoodDeploy} />}>
    <Card empty={changes.length === 0 ? 'No pipelines or rollouts in this period.' : null}>
      <ul class="rows">
        {changes.map(({ kind, name, href, word, detail, linked, changed, at }) => (
          <li class="item group">
            <Icon name={kind === 'pipeline' ? 'branch' : 'layers'} class={changed ? 'change' : ''} />
            <div class="grow group-body">
              <p class="break">
                <b>{href === null ? name : <External href={href} text={name} />}</b> {word}
              </p>
              <p class="second break">
                {detail} {linked === '' ? null : <span class="change">{linked}</span>}
              </p>
            </div>
            <span class="group-time second">
              <Time at={at} style="moment" />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  </Section>
)

const Names: FC<{ view: ServiceView }> = ({ view: { aliases, cluster } }) => (
  <Section id="names" title="Aliases">
    <dl class="card pairs">
      {aliases.map(({ kind, value }) => (
        <>
          <dt>{kind}</dt>
          <dd class="mono">{value}</dd>
        </>
      ))}
      {cluster === '' ? null : (
        <>
          <dt>Cluster</dt>
          <dd>{cluster}</dd>
        </>
      )}
    </dl>
  </Section>
)
