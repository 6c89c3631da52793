/** What a row takes on disk with all its indexes, of every table that holds many. */
import SQLite from 'better-sqlite3'
import { rounded, type Table } from './report.ts'

const ENOUGH = 1_000

/** Of a database that nobody holds open. */
export function bytesPerRow(database: string): Table {
  const sqlite = new SQLite(database, { readonly: true })
  try {
    const sizes = sqlite
      .prepare<[], { name: string; own: number; indexes: number }>(
        `SELECT s.tbl_name AS name, sum(d.pgsize * (s.type = 'table')) AS own, sum(d.pgsize * (s.type = 'index')) AS indexes
         FROM dbstat d JOIN sqlite_schema s ON s.name = d.name WHERE d.aggregate = TRUE
         GROUP BY s.tbl_name ORDER BY own + indexes DESC`,
      )
      .all()
    const counted = sizes.map((size) => ({ ...size, rows: countRows(sqlite, size.name) }))
    return {
      title: 'Bytes on disk for a row',
      columns: ['table', 'rows', 'row', 'its indexes', 'together'],
      rows: counted
        .filter(({ rows }) => rows >= ENOUGH)
        .map(({ name, rows, own, indexes }) => [
          name,
          rounded(rows),
          String(Math.round(own / rows)),
          String(Math.round(indexes / rows)),
          String(Math.round((own + indexes) / rows)),
        ]),
      note: 'Pages of the file, half empty ones with them, after the rounds above.',
    }
  } finally {
    sqlite.close()
  }
}

function countRows(sqlite: SQLite.Database, table: string): number {
  return sqlite.prepare<[], { rows: number }>(`SELECT count(*) AS rows FROM "${table}"`).get()?.rows ?? 0
}
