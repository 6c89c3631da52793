/** Diagnosis: what the facts about an installation mean, and what to do about each; ok, to be watched, or failing. */
import { diagnoseCertificate } from './certificate.ts'
import { diagnoseContent } from './content.ts'
import { type Facts, type Finding, fail, ok } from './facts.ts'
import { diagnosePlace } from './place.ts'
import { diagnoseServer } from './server.ts'

/** Every finding, in the order in which a person would look. */
export function diagnose(facts: Facts): Finding[] {
  return [
    ...diagnoseConfiguration(facts),
    ...diagnosePlace(facts),
    ...diagnoseContent(facts),
    ...diagnoseServer(facts),
    ...diagnoseCertificate(facts),
  ]
}

function diagnoseConfiguration({ faults }: Facts): Finding[] {
  if (faults.length === 0) return [ok('configuration', 'no fault in flags, variables and file')]
  return faults.map((fault) => fail('configuration', fault, 'mend it; all else is judged by the default of that key'))
}
