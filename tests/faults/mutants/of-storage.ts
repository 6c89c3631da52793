/** Mutants of the store, commits, startup and shutdown. */
import type { Mutant } from './run.ts'

const STORE = 'src/store/sqlite'
const LOST = 'tests/store/log-file.test.ts'
const PATH = 'tests/store/path.test.ts'
const KILL = 'tests/faults/kill.test.ts'

export const STORAGE_MUTANTS: readonly Mutant[] = [
  {
    name: 'no-sync',
    file: `${STORE}/log-file.ts`,
    from: 'fdatasync(handle, (error) => {',
    to: 'setImmediate((error: Error | null = null) => {',
    test: 'tests/faults/power-loss.test.ts',
  },
  {
    name: 'no-full-sync',
    file: `${STORE}/file.ts`,
    from: "sqlite.pragma('synchronous = FULL')",
    to: "sqlite.pragma('synchronous = NORMAL')",
    test: 'tests/store/open.test.ts',
  },
  {
    name: 'ignored-sync-error',
    file: `${STORE}/log-file.ts`,
    from: 'if (error) throw error',
    to: 'if (error) return resolve()',
    test: 'tests/faults/disk-errors.test.ts',
  },
  {
    name: 'unwatched-log',
    file: `${STORE}/log-file.ts`,
    from: 'if (now.nlink === 0 || inodeOf(log) !== inode)',
    to: 'if (now.nlink === -1)',
    test: LOST,
  },
  {
    name: 'unwatched-size',
    file: `${STORE}/log-file.ts`,
    from: 'now.size < Math.min(size, LOG_LIMIT) || hasGap',
    to: 'hasGap',
    test: LOST,
  },
  {
    name: 'unseen-gap',
    file: `${STORE}/log-file.ts`,
    from: 'const hasGap = !isCompressed &&',
    to: 'const hasGap = isCompressed &&',
    test: LOST,
  },
  {
    name: 'no-rescue',
    file: `${STORE}/rescue.ts`,
    from: "sqlite.pragma('wal_checkpoint(PASSIVE)')",
    to: "sqlite.pragma('wal_checkpoint(NOOP)')",
    test: LOST,
  },
  {
    name: 'unresolved-link',
    file: `${STORE}/path.ts`,
    from: 'return real === resolve(file) ? file : real',
    to: 'return real === resolve(file) ? real : file',
    test: PATH,
  },
  { name: 'hard-links', file: `${STORE}/path.ts`, from: 'links.nlink > 1', to: 'links.nlink > 9', test: PATH },
  {
    name: 'lock-by-name',
    file: `${STORE}/lock.ts`,
    from: 'realNameOf(file)}.lock',
    to: 'file}.lock',
    test: PATH,
  },
  {
    name: 'foreign-file',
    file: `${STORE}/file.ts`,
    from: "if (application === 'empty' || application === APPLICATION_ID) return",
    to: 'return',
    test: 'tests/store/open.test.ts',
  },
  {
    name: 'any-schema',
    file: `${STORE}/restore.ts`,
    from: 'if (difference)\n',
    to: 'if (difference === name)\n',
    test: 'tests/cli/restore-refusals.test.ts',
  },
  {
    name: 'uuid-follows-clock',
    file: 'src/domain/clock.ts',
    from: 'if (ms > time)',
    to: 'if (ms !== time)',
    test: 'tests/domain/increasing-ids.test.ts',
  },
  {
    name: 'answer-before-commit',
    file: 'src/store/engine-store.ts',
    from: 'db.transactionAhead(() => saveBatch(db, changes, newId)),',
    to: '(setTimeout(() => db.transactionAhead(() => saveBatch(db, changes, newId)), 200), []),',
    test: KILL,
  },
  {
    name: 'migration-in-pieces',
    file: `${STORE}/schema/migrate.ts`,
    from: 'return db.transaction(() => {',
    to: 'return ((work: () => Result) => work())(() => {',
    test: 'tests/faults/migrate-kill.test.ts',
  },
  {
    name: 'left-log',
    file: 'src/server/signals.ts',
    from: '    finish(db, log)\n    release()',
    to: '    release()',
    test: 'tests/faults/start-and-stop.test.ts',
    only: 'SIGTERM',
  },
  {
    name: 'full-disk-as-bug',
    file: `${STORE}/fault.ts`,
    from: '/^SQLITE_(BUSY|FULL|',
    to: '/^SQLITE_(BUSY|',
    test: 'tests/faults/full-disk.test.ts',
  },
  {
    name: 'naive-backup',
    file: `${STORE}/backup.ts`,
    from: 'if (writeRefusal(file) !== null) return copyUnwritable(file, part, tell)',
    to: "if (file !== '') return void (await import('node:fs')).copyFileSync(file, part.path)",
    test: 'tests/cli/backup-under-load.test.ts',
  },
  {
    name: 'log-never-copied',
    file: 'src/workers/checkpointer.ts',
    from: 'if (log - copied < CHECKPOINT_PAGES) return',
    to: 'if (log - copied < CHECKPOINT_PAGES * 1e6) return',
    test: 'tests/workers/checkpointer.test.ts',
  },
  {
    name: 'page-that-scans',
    file: 'sql/0001_create_tables.sql',
    from: 'CREATE INDEX alerts_by_organization ON alerts (organization_id, starts_at);',
    to: '',
    test: 'tests/store/plans.test.ts',
  },
  {
    name: 'pruned-at-once',
    file: 'src/actions/pruning/survey.ts',
    from: 'const ROWS = { events: 200,',
    to: 'const ROWS = { events: 1_000_000,',
    test: 'tests/actions/prune.test.ts',
  },
  {
    name: 'pruned-too-soon',
    file: 'src/domain/retention.ts',
    from: 'return event.at <= events && event.receivedAt <= events',
    to: 'return event.at >= 0 || event.receivedAt <= events',
    test: 'tests/faults/soak.test.ts',
  },
]
