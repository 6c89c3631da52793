/** Turns facts about an installation into findings and remedies. Start here. */
import { diagnoseCertificate } from './certificate.ts'
import { diagnoseChannels } from './channels.ts'
import { diagnoseContent } from './content.ts'
import { diagnoseDatabaseFile } from './database-file.ts'
import { type DoctorFacts, type Finding, fail, ok } from './facts.ts'
import { diagnoseServer } from './server.ts'
import { diagnoseRefusedSenders } from './tokens.ts'

/** Returns all findings, in the order in which an operator would check them. */
export function diagnose(facts: DoctorFacts): Finding[] {
  return [
    ...diagnoseConfiguration(facts),
    ...diagnoseDatabaseFile(facts),
    ...diagnoseContent(facts),
    ...diagnoseChannels(facts),
    diagnoseServer(facts),
    ...diagnoseRefusedSenders(facts),
    ...diagnoseCertificate(facts),
  ]
}

function diagnoseConfiguration({ faults }: DoctorFacts): Finding[] {
  if (faults.length === 0)
    return [ok('configuration', 'no errors in the options, environment variables and configuration file')]
  return faults.map((fault) =>
    fail('configuration', fault, 'correct this setting; the other checks use its default value'),
  )
}
