/** What a demo needs in addition to its history. */
import { globSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'

/** Returns the default settings and a silent log, and lists the directories of running demos. */
export function defaultConfig() {
  const read = readConfig({ flags: {} })
  if ('faults' in read) throw new Error(read.faults.join('\n'))
  const directories = () => globSync(join(tmpdir(), 'incmon-demo-*'))
  return { settings: read.config, log: pino({ level: 'silent' }), directories }
}
