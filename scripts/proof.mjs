// `npm run proof [id…]`: runs the long proofs one after the other, prints a table and writes docs/proof.md. Each step
// returns {result, ok}.
import { writeFileSync } from 'node:fs'
import { crashRounds } from '../test/crash/rounds.ts'
import { editorRounds } from '../test/editors/rounds.ts'
import { startPostgres } from '../test/postgres-server.ts'
import { leaks, race, swaps } from '../test/race/race.ts'
import { proveClients, proveInspector, proveScenes } from './proof-clients.mjs'

const crashes = 50
const races = 100_000
const editors = { rounds: 30, edits: 60 }

const steps = [
  {
    id: 'N30',
    what: `kill -9 of the daemon under load, ${crashes} times, on SQLite`,
    goal: 'no acknowledged write lost, the ledger verifies',
    run: () => crash(),
  },
  {
    id: 'N30',
    what: `kill -9 of the daemon under load, ${crashes} times, on PostgreSQL`,
    goal: 'no acknowledged write lost, the ledger verifies',
    async run() {
      const postgres = await startPostgres()
      try {
        return await crash(await postgres.createDatabase('proof'))
      } finally {
        await postgres.stop()
      }
    },
  },
  {
    id: 'N32',
    what: `a folder, a file or a link swapped for a link that leads out, while the file worker makes ${races} reads and ${races} writes there`,
    goal: 'nothing outside is read or changed, with Landlock and without',
    run: swapRaces,
  },
  {
    id: 'W41',
    what: `a program and an editor (in place, rename, held descriptor) that write the same file, ${editors.rounds} rounds`,
    goal: 'no edit of either side lost',
    run: editorRace,
  },
  {
    id: 'K4',
    what: 'Claude Code, Codex, Gemini CLI and opencode from npm, connected over stdio and HTTP',
    goal: 'each lists our tools, and its call is in the ledger under its own agent',
    run: proveClients,
  },
  {
    id: 'K9',
    what: 'the official MCP Inspector from npm, started with the command of `cowork inspect`',
    goal: 'it lists every tool, and its call is in the ledger under its agent',
    run: proveInspector,
  },
  {
    id: 'SV19',
    what: 'the instructions, a file of 200 kB, a listing of 300 files, an edited approval, a refusal, an image and a restart of the daemon, as the model of each client receives them',
    goal: 'each model can go on from what it received',
    run: proveScenes,
  },
]

async function crash(url) {
  const seed = Date.now() % 2 ** 31
  const onRound = (round, acknowledged) =>
    process.stderr.write(`  round ${round} of ${crashes}, ${acknowledged} writes acknowledged\n`)
  const { acknowledged, entries, faults } = await crashRounds({
    rounds: crashes,
    seed,
    url,
    onRound,
  })
  const count = `${acknowledged} writes acknowledged, ${entries} entries, seed ${seed}`
  return { ok: faults.length === 0, result: [count, ...faults].join('; ') }
}

async function swapRaces() {
  const cells = [true, false].flatMap((landlock) => swaps.map((swap) => ({ landlock, swap })))
  const each = Math.ceil(races / cells.length)
  const found = []
  let escapes = 0
  for (const { landlock, swap } of cells) {
    const cell = await race({ swap, landlock, reads: each, writes: each })
    escapes += cell.escapes
    const { reads, writes } = cell
    found.push(
      `${swap} (${cell.containment}): ${reads.done} reads and ${writes.done} writes done, the others refused`,
    )
    process.stderr.write(`  ${found.at(-1)}, ${cell.escapes} escapes\n`)
  }
  const control = await leaks('leaf', 100)
  found.push(`a reader that checks and then opens leaked ${control.leaked} in ${control.tries}`)
  const calls = 2 * each * cells.length
  return {
    ok: escapes === 0 && control.leaked > 0,
    result: [`${escapes} escapes in ${calls} calls`, ...found].join('; '),
  }
}

async function editorRace() {
  const seed = Date.now() % 2 ** 31
  const { edits, mutations, conflicts, lost } = await editorRounds({
    ...editors,
    seed,
    onRound: (round, one) =>
      process.stderr.write(
        `  round ${round} of ${editors.rounds}: ${one.edits} edits, ${one.mutations} changes, ${one.conflicts} conflicts, ${one.lost.length} lost\n`,
      ),
  })
  const count = `${edits} edits by hand and ${mutations} changes by tools, ${conflicts} conflicts reported, ${lost.length} lost, seed ${seed}`
  return { ok: lost.length === 0, result: [count, ...lost].join('; ') }
}

const ids = process.argv.slice(2).map((arg) => arg.toUpperCase())
const chosen = steps.filter(({ id }) => ids.length === 0 || ids.includes(id))
if (chosen.length === 0) {
  console.error(
    `Unknown proof: ${ids.join(', ')}. Available: ${steps.map(({ id }) => id).join(', ')}`,
  )
  process.exit(1)
}

const rows = []
for (const { id, what, goal, run } of chosen) {
  console.log(`── ${id} ${what}`)
  const { ok, result } = await run().catch((error) => ({ ok: false, result: error.message }))
  console.log(`${ok ? 'holds' : 'FAILS'}: ${result}\n`)
  rows.push([id, what, goal, result, ok ? 'holds' : 'fails'])
  if (!ok) process.exitCode = 1
}

// Write the page only after a complete run without failures.
if (chosen.length === steps.length && !process.exitCode) {
  const line = (cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  const head = ['id', 'what', 'goal', 'found', 'result']
  const table = [head, head.map(() => '---'), ...rows].map(line).join('\n')
  const date = new Date().toISOString().slice(0, 10)
  const place = `${process.platform}-${process.arch}, Node ${process.version}`
  writeFileSync(
    'docs/proof.md',
    `# Proof\n\nWritten by \`npm run proof\` on ${date} (${place}); the rules are in [spec/numbers.md](spec/numbers.md).\n\n${table}\n`,
  )
  console.log('wrote docs/proof.md')
}
