/** Completes the receipt of a dry run. */
import type { Receipt } from './changes/receive/receipt.ts'
import type { Changes } from './state/journal.ts'
import type { EngineStore } from './store.ts'

/** How many incidents of a dry run get their suspects: looking them up takes milliseconds for each. */
const MOST_ASKED = 5

/** Adds to the decisions of a dry run the links that each alert would have, and the suspects of its incident. */
export async function withCauses(
  { store, newId }: { readonly store: Pick<EngineStore, 'tryCauses'>; readonly newId: () => string },
  receipt: Receipt,
  changes: Changes,
  at: { readonly organizationId: number; readonly now: number },
): Promise<Receipt> {
  const tried = receipt.decisions ?? []
  const incidents = new Set([...new Set(tried.flatMap(({ asked }) => asked?.rowId ?? []))].slice(0, MOST_ASKED))
  const isLeftOut = ({ asked }: (typeof tried)[number]) => asked != null && !incidents.has(asked.rowId)
  const causes = await store.tryCauses(
    changes,
    tried.map((one) => (isLeftOut(one) ? { ...one, asked: null } : one)),
    at,
    newId,
  )
  const decisions = tried.map(({ alertRowId: _alert, asked: _asked, ...decision }, index) => ({
    ...decision,
    ...causes[index],
  }))
  const first = tried.find(isLeftOut)
  if (!first) return { ...receipt, decisions }
  const warning = `suspects are shown for the first ${MOST_ASKED} incidents only; send this item alone to see its suspects`
  return { ...receipt, decisions, warnings: [...(receipt.warnings ?? []), { index: first.index, warning }] }
}
