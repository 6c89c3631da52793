/** The golden tables for attribution, and the drafts described by their rows. */

import { readFileSync } from 'node:fs'
import { logicalNames } from '../../src/domain/alert/signal.ts'
import type {
  AlertDraft,
  ClusterDraft,
  Job,
  KubernetesObject,
  Labels,
  PipelineDraft,
} from '../../src/domain/event/event.ts'
import type { Attribution, Name } from '../../src/domain/service/service.ts'

type Expected = { readonly namespace: string; readonly name: string; readonly rule: string; readonly creates: string }
export type Case<Draft> = {
  readonly title: string
  readonly draft: Draft
  readonly known: readonly Name[]
  readonly images: readonly Name[]
  readonly expected: Expected
}

/** Columns: kind, namespace, name, node, known, expected result. */
export function objectCases(): Case<ClusterDraft>[] {
  return rows('service-objects.tsv').map(([kind, ns, name, node, known, namespace, service, rule, creates]) => ({
    title: `${kind} ${ns}/${name} on ${node || 'no node'} with ${known || 'nothing known'}`,
    draft: clusterDraft({ kind: kind!, namespace: ns!, name: name!, node: node || null }),
    known: names(known!, ns!),
    images: [],
    expected: { namespace: namespace!, name: service!, rule: rule!, creates: creates! },
  }))
}

/** Columns: labels, known, expected result. */
export function labelCases(): Case<AlertDraft>[] {
  return rows('service-labels.tsv').map(([labels, known, namespace, name, rule]) => ({
    title: `${labels || 'no labels'} with ${known || 'nothing known'}`,
    draft: alertDraft(labelsOf(labels!)),
    known: names(known!, namespace!),
    images: [],
    expected: { namespace: namespace!, name: name!, rule: rule!, creates: 'alert' },
  }))
}

/** Columns: path, default branch, ref, environment, known, images, expected result. */
export function projectCases(): Case<PipelineDraft>[] {
  return rows('service-projects.tsv').map(
    ([path, defaultBranch, ref, environment, known, images, namespace, name, rule, creates]) => ({
      title: `${path} at ${ref || 'no ref'} to ${environment || 'nowhere'} with ${known || 'nothing known'}`,
      draft: pipelineDraft({
        project: { path: path!, name: 'A display name', defaultBranch: defaultBranch || null },
        ref: ref!,
        jobs: environment ? [job({ environment: { name: environment, action: 'start' } })] : [],
      }),
      known: names(known!, ''),
      images: names(images!, ''),
      expected: { namespace: namespace!, name: name!, rule: rule!, creates: creates! },
    }),
  )
}

export function clusterDraft(object: Partial<KubernetesObject>, rest: Partial<ClusterDraft> = {}): ClusterDraft {
  const full = {
    kind: 'Pod',
    namespace: 'shop',
    name: '',
    labels: {},
    owners: [],
    node: null,
    container: null,
    ...object,
  }
  const common = { at: 0, payload: '{}', startsAt: 0, reason: '', message: '', count: 1, type: null, cluster: null }
  return { source: 'cluster', ...common, ...rest, object: full }
}

/** Returns the labels in an alert's logical key, in the same order. */
export function logicalLabels(draft: AlertDraft, attribution: Attribution): Labels {
  const names = logicalNames(draft, attribution)
  return Object.fromEntries(names.map((name) => [name, draft.labels[name]!]))
}

export function alertDraft(labels: Labels, rest: Partial<AlertDraft> = {}): AlertDraft {
  const times = { at: 0, startsAt: 0, endsAt: null }
  const common = { payload: '{}', annotations: {}, fingerprint: '0', links: {}, name: 'x', nature: 'alert' as const }
  return { source: 'metrics', status: 'firing', ...times, ...common, ...rest, labels }
}

export function pipelineDraft(rest: Partial<PipelineDraft>): PipelineDraft {
  const project = { path: 'team/web', name: 'Web', defaultBranch: 'main' }
  const times = { at: 0, createdAt: null, finishedAt: null, duration: null }
  const common = { payload: '{}', links: {}, pipelineId: '1', sha: null, status: 'success', jobs: [] }
  const git = { project, ref: 'main', tag: false, mergeRequest: false, trigger: null, commit: null }
  return { source: 'ci', kind: 'pipeline', ...times, ...common, ...git, ...rest }
}

export function job(rest: Partial<Job>): Job {
  const times = { startedAt: null, finishedAt: null }
  const common = {
    id: null,
    name: 'a job',
    stage: 'ship',
    status: 'success',
    allowFailure: false,
    failureReason: null,
  }
  return { ...common, ...times, environment: null, ...rest }
}

/** Parses `a=b c=d%20e` to { a: 'b', c: 'd e' }, without a prototype, like intake does. */
export function labelsOf(text: string): Labels {
  const labels: Record<string, string> = Object.create(null)
  for (const pair of text.split(' ').filter(Boolean)) {
    const equals = pair.indexOf('=')
    labels[pair.slice(0, equals)] = pair.slice(equals + 1).replaceAll('%20', ' ')
  }
  return labels
}

export function rows(file: string): string[][] {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8').split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split('\t'))
}

function names(text: string, namespace: string): Name[] {
  return text.split(' ').flatMap((it) => {
    const slash = it.lastIndexOf('/')
    if (it === '') return []
    return [slash < 0 ? { namespace, name: it } : { namespace: it.slice(0, slash), name: it.slice(slash + 1) }]
  })
}
