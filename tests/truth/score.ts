/** Scores predictions against the truth. */
import type { Case } from './cases.ts'
import type { Prediction } from './replay.ts'

/** One row of the table: `right` of `total` are correct. `target` is the required share, or null. */
export type Figure = {
  readonly name: string
  readonly right: number
  readonly total: number
  readonly target: number | null
  /** `case: expected and actual` for each wrong prediction. */
  readonly wrong: readonly string[]
}

type Judged = { readonly truth: Case; readonly prediction: Prediction }

/** Returns the figures of one data set. Figures that do not apply to its cases are omitted. */
export function figuresOf(judged: readonly Judged[]): Figure[] {
  const withHealth = judged.filter(({ truth }) => truth.truth.health)
  const withChange = judged.filter(({ truth }) => truth.truth.rootCause.change)
  const withObject = judged.filter(({ truth }) => !truth.truth.rootCause.change)
  const named = withObject.filter(namesObject)
  const figures = [
    found('faulty and unavailable workload has an incident', withHealth, 0.9),
    precision('incidents: precision', withHealth, ({ openedFor }) => openedFor, 0.85),
    recall('incidents: recall', withHealth, ({ openedFor }) => openedFor, 0.85),
    ...nodeAware('incidents with nodes', withHealth, (prediction) => prediction),
    ...nodeAware('incidents with nodes, ten minutes later', withHealth, ({ later }) => later),
    oneForEachNode(judged),
    precision('critical: precision', withHealth, ({ critical }) => critical, 0.85),
    recall('critical: recall', withHealth, ({ critical }) => critical, 0.9),
    ranked('root-cause object: first', withObject, ({ objects }) => objects, objectOf, 1, 0.84),
    ranked('root-cause object: in the first three', withObject, ({ objects }) => objects, objectOf, 3, 0.92),
    ranked('root-cause object named by a request: first', named, ({ objects }) => objects, objectOf, 1, null),
    ranked(
      'root-cause object named by a request: in the first three',
      named,
      ({ objects }) => objects,
      objectOf,
      3,
      null,
    ),
    ranked('root-cause change: first', withChange, ({ changes }) => changes, changeOf, 1, 0.88),
    ranked('root-cause change: in the first three', withChange, ({ changes }) => changes, changeOf, 3, null),
  ]
  return figures.filter(({ total }) => total > 0)
}

/** Returns the names of workloads with fewer available than desired replicas. */
function unavailable({ truth }: Case): ReadonlySet<string> {
  const workloads = Object.entries(truth.health ?? {})
  return new Set(
    workloads.filter(([, one]) => (one.desired ?? 0) > (one.available ?? 0)).map(([name]) => lastPart(name)),
  )
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1)
}

function found(name: string, judged: readonly Judged[], target: number): Figure {
  const faulty = judged.filter(({ truth }) => unavailable(truth).has(lastPart(truth.truth.rootCause.object)))
  const missed = faulty.filter(
    ({ truth, prediction }) => !prediction.openedFor.includes(lastPart(truth.truth.rootCause.object)),
  )
  const wrong = missed.map(({ truth }) => `${truth.name}: ${truth.truth.rootCause.object}`)
  return { name, right: faulty.length - missed.length, total: faulty.length, target, wrong }
}

type Opened = Pick<Prediction, 'openedFor' | 'onNodes'>

/**
 * Counts with nodes: the incident of a node is right if the node is the cause or owns the condition of an unavailable
 * workload, which then has an incident. Only workloads whose state was recorded are judged.
 */
function nodeAware(name: string, judged: readonly Judged[], of: (prediction: Prediction) => Opened): Figure[] {
  const all = judged.map(({ truth, prediction }) => ({ truth, bad: unavailable(truth), ...of(prediction) }))
  const said = all.flatMap(({ truth, bad, openedFor, onNodes }) => {
    const known = new Set(Object.keys(truth.truth.health ?? {}).map(lastPart))
    return openedFor
      .filter((one) => one.startsWith('node/') || known.has(one))
      .map((one) => {
        const isRight = bad.has(one) || objectOf(truth) === one || (onNodes[one] ?? []).some((it) => bad.has(it))
        return { text: `${truth.name}: ${one}`, isRight }
      })
  })
  const asked = all.flatMap(({ truth, bad, openedFor, onNodes }) => {
    const covered = new Set([...openedFor, ...Object.values(onNodes).flat()])
    return [...bad].map((one) => ({ text: `${truth.name}: ${one}`, isRight: covered.has(one) }))
  })
  return [share(`${name}: precision`, said, 0.9), share(`${name}: recall`, asked, 0.9)]
}

/** Counts the nodes that died, and on how many of them exactly one incident opened for the node and what it runs. */
function oneForEachNode(judged: readonly Judged[]): Figure {
  const dead = judged.filter(
    ({ truth }) => truth.truth.rootCause.object.startsWith('node/') && hasLost(truth, objectOf(truth).slice(5)),
  )
  const all = dead.map(({ truth, prediction: { openedFor, onNodes } }) => {
    const node = objectOf(truth)
    const own = new Set([node, ...(onNodes[node] ?? [])])
    const opened = openedFor.filter((one) => own.has(one))
    return { text: `${truth.name}: ${opened.join(', ') || 'nothing'}`, isRight: opened.length === 1 }
  })
  return share('one incident for each dead node', all, 1)
}

function hasLost({ requests }: Case, node: string): boolean {
  return requests.some(({ body }) => {
    const { reason, podName } = body as { readonly reason?: string; readonly podName?: string }
    return reason === 'NodeNotReady' && podName === node
  })
}

/** Returns whether a request of the case names the root-cause object at all. */
function namesObject({ truth }: Judged): boolean {
  const name = lastPart(truth.truth.rootCause.object)
  return truth.requests.some(({ body }) => JSON.stringify(body).includes(name))
}

type Said = (prediction: Prediction) => readonly string[]

function precision(name: string, judged: readonly Judged[], said: Said, target: number): Figure {
  const all = judged.flatMap(({ truth, prediction }) => {
    const bad = unavailable(truth)
    return said(prediction).map((one) => ({ text: `${truth.name}: ${one}`, isRight: bad.has(one) }))
  })
  return share(name, all, target)
}

function recall(name: string, judged: readonly Judged[], said: Said, target: number): Figure {
  const all = judged.flatMap(({ truth, prediction }) => {
    const names = new Set(said(prediction))
    return [...unavailable(truth)].map((one) => ({ text: `${truth.name}: ${one}`, isRight: names.has(one) }))
  })
  return share(name, all, target)
}

function ranked(
  name: string,
  judged: readonly Judged[],
  said: Said,
  expected: (one: Case) => string,
  most: number,
  target: number | null,
): Figure {
  const all = judged.map(({ truth, prediction }) => {
    const first = said(prediction)
      .slice(0, most)
      .map((one) => one.toLowerCase())
    return {
      text: `${truth.name}: ${expected(truth)}, found ${first.join(', ') || 'nothing'}`,
      isRight: first.includes(expected(truth)),
    }
  })
  return share(name, all, target)
}

function share(name: string, all: readonly { text: string; isRight: boolean }[], target: number | null): Figure {
  const wrong = all.filter(({ isRight }) => !isRight).map(({ text }) => text)
  return { name, right: all.length - wrong.length, total: all.length, target, wrong }
}

function objectOf({ truth }: Case): string {
  return truth.rootCause.object.toLowerCase()
}

function changeOf({ truth }: Case): string {
  return (truth.rootCause.change ?? '').toLowerCase()
}
