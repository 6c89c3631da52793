/** The migration of the sentences that said whether a silence began or ended. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrationText } from '../../src/assets.ts'
import { makeIncident, makeOrganization, makeService } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

for (const [kind, text, code] of [
  ['silence', 'the silence “Upgrade” applies to CartDown', 'silenced'],
  ['silence', 'the silence “Upgrade” no longer applies to CartDown', 'unsilenced'],
  [
    'silence',
    'the silence “A”\nB” no longer applies to 2 alerts; Ada set it from 2026-03-14 12:00:00 UTC',
    'unsilenced',
  ],
  ['silence', 'the silence “The freeze no longer applies to shop” applies to CartDown', 'silenced'],
  ['silence', 'a silence no longer applies to CartDown', 'unsilenced'],
  ['note', 'a silence no longer applies to CartDown', null],
] as const) {
  test(`the ${kind} “${text}” gets the code ${code}`, (t) => {
    const db = temporaryStore(t)
    const acme = makeOrganization(db, 'Acme', 'Team')
    const { key } = makeIncident(db, acme, makeService(db, acme, 'cart'))
    db.run(db.sql.insertInto('timeline').values({ incident_id: key, at: 0, kind, text }))
    db.execute(migrationText('0024_add_code_of_silences'))
    assert.deepEqual(db.all(db.sql.selectFrom('timeline').select(['code', 'ref', 'text']).where('at', '=', 0)), [
      { code, ref: null, text },
    ])
  })
}
