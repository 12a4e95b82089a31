import { mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestApp } from '../app.ts'

/** The files in the home folder of the person. */
const belongings: Readonly<Record<string, number>> = {
  'Documents/Contracts/brandt-2026.pdf': 84_000,
  'Documents/Contracts/signing-key.pem': 1700,
  'Documents/Contracts/terms.docx': 46_000,
  'Documents/Contracts/weber-2025.pdf': 91_000,
  'Pictures/team.jpg': 240_000,
  'Projects/laser/results.csv': 18_000,
}

/** A home folder with a fixed name for pictures; it must not exist yet. */
export function madeUpHome(): string {
  const home = join(tmpdir(), 'mara')
  mkdirSync(home)
  for (const [name, size] of Object.entries(belongings)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), Buffer.alloc(size))
  }
  return home
}

const summary = `# Q3 in brief

Revenue    1.42 M   + 6 %
Renewals     38     2 late: Brandt, Ostrava
Pipeline    612 k   offers above 40,000 need a look

## Next

1. Brandt: contract terms are with legal.
2. Ostrava: call on Thursday, see notes/ostrava.md.
`

/** Plays an agent that creates and deletes files, uses a grant and requests access. */
export async function playFiles(app: TestApp, home: string, token: string): Promise<void> {
  const act = async (tool: string, args: Record<string, unknown>, by = token) => {
    const reply = await app.call(tool, args, by)
    if (!reply.ok) throw new Error(`${tool}: ${await reply.text()}`)
  }
  const made: Readonly<Record<string, string>> = {
    'Documents/reports/q3-summary.md': summary,
    'Documents/reports/churn.csv': 'month,lost\n'.repeat(900),
    'Documents/reports/renewals.md': '- Brandt\n- Ostrava\n'.repeat(60),
    'Documents/notes/ostrava.md': 'Call on Thursday.\n',
    'Code/python/forecast.py': 'print("forecast")\n'.repeat(400),
    'Research/summaries/pricing.md': 'Three of five raise prices.\n'.repeat(120),
    'temp/scratch.txt': 'scratch\n',
  }
  for (const [path, content] of Object.entries(made)) await act('create_file', { path, content })
  await act('delete_file', { path: 'temp/scratch.txt' })
  await act('add_grant', { path: join(home, 'Projects'), permission: 'read-write' }, app.owner)
  await act('request_grant', {
    path: join(home, 'Documents', 'Contracts'),
    permission: 'read',
    reason: 'To check which terms of the Brandt contract changed',
  })
}
