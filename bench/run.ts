// `npm run bench [name…] [--write]`: runs the scripts of this folder in turn and prints one table.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os'
import { basename } from 'node:path'
import { markdownTable, plainTable } from './harness.ts'
import type { Finding } from './harness.ts'

/** A script should take at most a minute; one that hangs must not block the others. */
const scriptTimeoutMs = 180_000

const args = process.argv.slice(2)
const isWriting = args.includes('--write')
const filters = args.filter((arg) => arg !== '--write').map((arg) => arg.toLowerCase())

/** Matches `n6`, `N06` or part of a name, such as `ledger`. */
function isWanted(file: string): boolean {
  const name = basename(file, '.ts')
  const matchesName = (word: string) =>
    /^n\d+$/.test(word)
      ? name.startsWith(`n${word.slice(1).padStart(2, '0')}-`)
      : name.includes(word)
  return filters.length === 0 || filters.some(matchesName)
}

const load = () =>
  loadavg()
    .map((value) => value.toFixed(1))
    .join(' ')

function machine(): string {
  const [cpu] = cpus()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  const system = `${platform()} ${release()} ${arch()}`
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown'}, ${memory}, ${system}, Node ${process.version}`
}

let endScript = () => {}
let isStopped = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    isStopped = true
    endScript()
  })

async function runScript(file: string): Promise<Finding[] | undefined> {
  console.log(`── ${basename(file, '.ts')}: ${/^\/\/ (.*)/m.exec(readFileSync(file, 'utf8'))?.[1]}`)
  // In a separate process group: child processes of a script must not outlive it.
  const child = fork(file, { detached: true })
  endScript = () => process.kill(-(child.pid ?? NaN), 'SIGKILL')
  const timer = setTimeout(endScript, scriptTimeoutMs)
  let findings: Finding[] | undefined
  child.on('message', (message) => (findings = message as Finding[]))
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(timer)
  return code === 0 ? findings : undefined
}

const scripts = globSync('bench/n*.ts').toSorted()
const files = scripts.filter(isWanted)
if (files.length === 0) {
  const names = scripts.map((file) => basename(file, '.ts'))
  console.error(`Unknown bench: ${filters.join(', ')}. Available: ${names.join(', ')}`)
  process.exit(1)
}

const before = load()
console.log(`${machine()}\nload ${before}\n`)
const findings: Finding[] = []
const broken: string[] = []
for (const file of files) {
  if (isStopped) break
  const found = await runScript(file)
  if (found) findings.push(...found)
  else broken.push(basename(file, '.ts'))
}

const short = findings.filter(({ met }) => !met)
console.log(
  `${plainTable(findings)}\n\n${findings.length - short.length} pass, ${short.length} fall short; load ${before} before, ${load()} after`,
)
if (broken.length > 0) {
  console.log(`Not measured: ${broken.join(', ')}`)
  process.exitCode = 1
}

if (isWriting && broken.length === 0) {
  const text = `# Benchmarks

Written by \`npm run bench -- --write\` on ${new Date().toISOString().slice(0, 10)}; the goals are in [spec/numbers.md](spec/numbers.md).
Medians of interleaved rounds; "beside" is the peer or the floor measured in the same run.

${machine()}; load ${before} before, ${load()} after.

${markdownTable(findings)}
`
  writeFileSync('docs/benchmarks.md', text)
  console.log('wrote docs/benchmarks.md')
}
