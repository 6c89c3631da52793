/** What a server saves after another program took its files away, and what it says. */
import type SQLite from 'better-sqlite3'
import { errorCode } from './fault.ts'
import { asideOf, commandToUse, saveCopy, saveFromCache, saveFromLog, setLogAside } from './rescue.ts'

/** The error code if the data of a missing file cannot be copied. */
export const UNSAVED = 'SQLITE_READONLY_UNSAVED'

/** What happened to the log. */
export type Loss = 'deleted' | 'truncated'

const STOP = 'Stop that program, then start incmon again'
const COPIES = 'The newest backup has the rest: run "incmon restore BACKUP --force"'

/**
 * The database file was deleted, moved or replaced. SQLite still has the file and its log open.
 * @throws an error with the code `UNSAVED` if no copy can be written; the process must not end then
 */
export function lossOfFile(sqlite: SQLite.Database, file: string): string {
  const what = `${file} was deleted, moved or replaced by another program while incmon was running`
  try {
    return `${what}; ${savedTo(saveCopy(sqlite, file), file)}`
  } catch (error) {
    const message = `${what}, and its data cannot be copied (${errorCode(error)}): put the file back, or free some disk space; do not stop incmon before, because only this process can still read the data`
    throw Object.assign(new Error(message), { code: UNSAVED })
  }
}

function savedTo(copy: string, file: string): string {
  return `all stored data was saved to ${copy}. To continue with this data, run "${commandToUse(copy, file)}", then start incmon again`
}

/** The log was deleted or truncated, and the database file is in its place. */
export function lossOfLog(sqlite: SQLite.Database, file: string, loss: Loss): string {
  const what = `${file}-wal was ${loss} by another program while incmon was running`
  if (loss === 'deleted' ? saveFromLog(sqlite, file) : saveFromCache(sqlite, file))
    return `${what}; all stored data was saved to ${file}. ${STOP}`
  if (loss === 'truncated') return `${what}; ${file} lacks the latest data. ${COPIES}, or continue without it`
  try {
    return `${what}; ${savedTo(saveCopy(sqlite, file), file)}`
  } catch (error) {
    return `${what}; the log could not be saved (${errorCode(error)}), so ${file} lacks the latest data. ${COPIES}`
  }
}

/** Another program wrote into the database file. The log must not be applied to its new content. */
export function lossOfContent(sqlite: SQLite.Database, file: string): string {
  sqlite.pragma('query_only = ON')
  const log = setLogAside(file)
  const what = `another program wrote into ${file} while incmon was running, and has overwritten data`
  if (log === null) return `${what}; there was no log. ${COPIES}`
  return `${what}; the log with the newest data was saved to ${log}. ${COPIES}. Then run "${asideOf([log])}", because incmon does not start while the log lies there`
}
