import type { Client } from '../client.ts'
import { plain } from '../plain.ts'
import { readProjects } from '../work/asking.ts'
import type { ProjectBrief } from '../work/wire.ts'
import { fail } from './finding.ts'
import type { Finding } from './finding.ts'

/** Plans of work that cannot be read, or do not say what was acknowledged. */
export const planFaults = async (client: Client): Promise<Finding[]> =>
  (await readProjects(client)).flatMap(faultsOf)

function faultsOf({ project, broken = [], unwritten }: ProjectBrief): Finding[] {
  const name = plain(project)
  const [first] = broken
  const findings: Finding[] = []
  if (first)
    findings.push(
      fail(
        'work',
        `The plan of ${name} cannot be read at ${first.line}:${first.column}: ${plain(first.message)}`,
        `Mend the file; \`cowork work projects ${name}\` says in which folder it is.`,
      ),
    )
  if (unwritten)
    findings.push(
      fail(
        'work',
        `The files of ${name} lack what changed since ${unwritten.since}: ${plain(unwritten.message)}`,
        'Take away what is in the way. Nothing is lost, and it is tried again every two seconds.',
      ),
    )
  return findings
}
