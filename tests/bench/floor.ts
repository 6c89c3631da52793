/** The least that a page of alerts can cost: its rows by a cursor that is known, read by hand, without HTTP. */
import SQLite from 'better-sqlite3'

export type Floor = {
  /** Milliseconds for the page that begins with that alert; of one service, or of its organization. */
  readonly read: (serviceId: string | null, firstId: string) => number
  readonly close: () => void
}

export function openFloor(database: string, limit: number): Floor {
  const sqlite = new SQLite(database, { readonly: true })
  const page = (column: string) =>
    sqlite.prepare(
      `SELECT * FROM alerts WHERE ${column} = ? AND (starts_at, id) <= (?, ?) ORDER BY starts_at DESC, id DESC LIMIT ${limit}`,
    )
  const [ofOrganization, ofService] = [page('organization_id'), page('service_id')]
  const find = sqlite.prepare<[Buffer], { id: number; starts_at: number; organization_id: number; service_id: number }>(
    'SELECT id, starts_at, organization_id, service_id FROM alerts WHERE uuid = ?',
  )
  return {
    read: (serviceId, firstId) => {
      const first = find.get(Buffer.from(firstId.replaceAll('-', ''), 'hex'))
      if (!first) throw new Error(`no alert ${firstId}`)
      const { id, starts_at, organization_id, service_id } = first
      const started = performance.now()
      const rows =
        serviceId === null
          ? ofOrganization.all(organization_id, starts_at, id)
          : ofService.all(service_id, starts_at, id)
      JSON.stringify(rows)
      return performance.now() - started
    },
    close: () => void sqlite.close(),
  }
}
