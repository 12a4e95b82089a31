import { createInterface } from 'node:readline/promises'
import { readDetail } from './approvals.ts'
import type { Item } from './approvals.ts'
import type { Client } from './client.ts'
import { detailLines } from './inbox/detail.ts'
import { painted, wrapped } from './inbox/lines.ts'

const { stdin, stderr } = process

/** Shows each check with what follows from it, and asks. Gives the ids of those that the person confirms (T14). */
export async function confirmEach(
  client: Client,
  checks: readonly Item[],
): Promise<ReadonlySet<string>> {
  const confirmed = new Set<string>()
  if (checks.length === 0) return confirmed
  const terminal = createInterface({ input: stdin, output: stderr })
  try {
    for (const { id } of checks) {
      const detail = await readDetail(client, id)
      const lines = detailLines(detail, Date.now()).flatMap((line) => wrapped(line, stderr.columns))
      stderr.write(`${lines.map((line) => painted(line, stderr)).join('\n')}\n\n`)
      const said = await terminal.question('Confirm it? [y/N] ')
      if (/^y(es)?$/i.test(said.trim())) confirmed.add(id)
    }
  } finally {
    terminal.close()
  }
  return confirmed
}
