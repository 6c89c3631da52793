/** Migrates a file with an additional migration that rewrites every row of a large table. */

import { migrationText } from '../../src/assets.ts'
import { bringUpToDate } from '../../src/cli/commands/migrate.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { MIGRATIONS } from '../../src/store/sqlite/schema/migrate.ts'

const NEWER = '9999_of_a_test'
const TEXT = `CREATE TABLE weighed (id INTEGER PRIMARY KEY, label TEXT NOT NULL, weight INTEGER NOT NULL) STRICT;
  INSERT INTO weighed SELECT id, label, length(label) FROM ballast;
  DROP TABLE ballast;
  ALTER TABLE weighed RENAME TO ballast;`

const db = openStore(process.argv[2] ?? '')
process.stdout.write('begins\n')
const textOf = (name: string) => (name === NEWER ? TEXT : migrationText(name))
bringUpToDate(db, Date.now(), { names: [...MIGRATIONS, NEWER], textOf })
process.stdout.write('done\n')
db.close()
