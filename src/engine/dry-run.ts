/** Completes the receipt of a dry run. */
import type { Receipt } from './changes/receive/receipt.ts'
import type { Changes } from './state/journal.ts'
import type { EngineStore } from './store.ts'

/** Adds to the decisions of a dry run the links that each alert would have, and the suspects of its incident. */
export async function withCauses(
  { store, newId }: { readonly store: Pick<EngineStore, 'tryCauses'>; readonly newId: () => string },
  receipt: Receipt,
  changes: Changes,
  at: { readonly organizationId: number; readonly now: number },
): Promise<Receipt> {
  const tried = receipt.decisions ?? []
  const causes = await store.tryCauses(changes, tried, at, newId)
  const decisions = tried.map(({ alertRowId: _alert, asked: _asked, ...decision }, index) => ({
    ...decision,
    ...causes[index],
  }))
  return { ...receipt, decisions }
}
