/** incmon doctor: checks an installation without changing it, and says what to do. */
import { diagnose } from '../../domain/doctor/diagnosis.ts'
import type { Finding } from '../../domain/doctor/facts.ts'
import { countOf } from '../../domain/postmortem/words.ts'
import { type Common, spellCommands } from '../database.ts'
import { gatherFacts } from '../doctor-facts.ts'
import { NegativeAnswer } from '../failure.ts'
import { print, visible } from '../output.ts'
import { showWaiting } from '../progress.ts'

/** Prints the findings. @throws NegativeAnswer if a check fails */
export async function runDoctor(options: Common & { readonly full?: boolean }, now: number): Promise<void> {
  const checked = showWaiting('checking every page of the database')
  const facts = await gatherFacts(options, options.full ?? false, now).finally(checked)
  const findings = diagnose(facts).map((finding) => ({
    ...finding,
    remedy: finding.remedy && spellCommands(finding.remedy, options),
  }))
  const isOk = findings.every(({ state }) => state !== 'fail')
  print(options.json ? JSON.stringify({ ok: isOk, findings }, null, 2) : tableOf(findings))
  if (!isOk) throw new NegativeAnswer()
}

/** One line for each finding, and its remedy below it, because one line for both would be too wide. */
function tableOf(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(({ state, check, text, remedy }) => {
    const line = `${state.padEnd(4)}  ${check.padEnd(width)}  ${visible(text)}`
    return remedy === null ? [line] : [line, `${' '.repeat(width + 8)}→ ${visible(remedy)}`]
  })
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length
  return [...lines, '', `${countOf(count('fail'), 'failure')}, ${countOf(count('warn'), 'warning')}`].join('\n')
}
