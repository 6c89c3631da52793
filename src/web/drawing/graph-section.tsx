/** The section with the graph of an alert, or why there is none. */
import type { FC } from 'hono/jsx'
import type { GraphRecord } from '../../domain/graph/graph.ts'
import { formatWhen, type Reader } from '../../domain/shown-time.ts'
import { GraphPicture } from './graph.tsx'

type Props = { readonly found: GraphRecord | null; readonly startsAt: number; readonly reader: Reader }

/** Shows nothing if no alert has an expression, or if no Prometheus is configured. */
export const GraphSection: FC<Props> = ({ found, startsAt, reader }) =>
  found === null ? null : (
    <section aria-labelledby="graph">
      <div class="head">
        <h2 id="graph">Graph</h2>
        <span class="second">{secondText(found, reader)}</span>
      </div>
      <div class="card picture">
        {found.graph === null ? null : (
          <>
            <p class="break">
              <code>{found.graph.rule}</code>
            </p>
            {found.graph.series.length === 0 ? (
              <p class="empty">Prometheus has no data for this expression.</p>
            ) : (
              <GraphPicture graph={found.graph} startsAt={startsAt} zone={reader.zone} />
            )}
          </>
        )}
        {found.fault === null ? null : (
          <p class="empty">
            {found.graph === null ? 'There is no graph.' : 'The graph could not be updated.'} incmon could not get it
            from Prometheus: {found.fault}.
          </p>
        )}
      </div>
    </section>
  )

function secondText({ fetchedAt, graph }: GraphRecord, reader: Reader): string {
  return graph === null || fetchedAt === null ? '' : `from Prometheus, ${formatWhen(fetchedAt, reader)}`
}
