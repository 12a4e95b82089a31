// `npm test`: runs every check, even after a failure; the last line has the count. Checks that only read the sources run
// at the same time, test projects one after another, because each uses every core. With arguments it runs vitest with
// those arguments; `--quick` skips the slow checks.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { stepAside } from '../bin/node.mjs'
import { chromiumMissing, provideChromium } from './chromium.ts'
import { findUnproved } from './primitives.ts'
import { countResults } from './tally.ts'

const checks = [
  { name: 'format', command: ['oxfmt', '--check'], quick: true },
  { name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings'], quick: true },
  { name: 'types', command: ['tsc', '--noEmit'], quick: true },
  { name: 'types of the console', command: ['tsc', '--noEmit', '-p', 'web'], quick: true },
  { name: 'language', command: ['node', 'scripts/language.mjs'], quick: true },
  { name: 'dead code', command: ['knip'] },
  { name: 'lock file', command: ['node', 'scripts/lock.mjs'] },
  { name: 'generated files', command: ['node', 'scripts/generate.mjs', '--check'] },
  { name: 'rules', command: ['node', 'scripts/spec.mjs'] },
  { name: 'unit tests', vitest: ['--project', 'unit'], quick: true },
  { name: 'component tests', vitest: ['--project', 'component'], quick: true },
  { name: 'integration tests', vitest: ['--project', 'integration'] },
  { name: 'browser tests', vitest: ['--project', 'browser'], needs: provideChromium },
]

const args = process.argv.slice(2)
const isQuick = args[0] === '--quick'
const isWhole = args.length === 0 || isQuick
const selected = isWhole
  ? checks.filter((check) => check.quick || !isQuick)
  : [{ name: 'tests', vitest: args }]
// A name filter skips tests on purpose, so only a full run reports skipped ones.
const mindsSkipped = isWhole && process.env.CI === 'true'

const reports = mkdtempSync(join(tmpdir(), 'cowork-test-'))
const options = { shell: process.platform === 'win32' }
let isStopped = false
const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    isStopped = true
    for (const child of running) child.kill(signal)
  })

/** Runs a command and buffers its output, so that outputs of several commands do not mix. */
function runCommand([command, ...rest]) {
  return new Promise((resolve) => {
    const child = spawn(command, rest, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    const output = []
    const end = (passed) => {
      running.delete(child)
      resolve({ passed: passed ? 1 : 0, failed: passed ? 0 : 1, notRun: [], output })
    }
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => output.push(chunk))
    child.on('error', (error) => {
      output.push(Buffer.from(`Cannot start ${command}: ${error.message}\n`))
      end(false)
    })
    child.on('close', (code) => end(code === 0))
  })
}

/** Runs as many commands at once as there are cores, and prints each output when its command ends. */
async function runCommands(commands) {
  const waiting = [...commands]
  async function work() {
    for (let check = waiting.shift(); check && !isStopped; check = waiting.shift()) {
      const { output, ...result } = await runCommand(check.command)
      console.log(`\n── ${check.name}`)
      process.stdout.write(Buffer.concat(output))
      results.push({ name: check.name, ...result })
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
}

async function runVitest(vitestArgs) {
  const file = join(reports, 'report.json')
  rmSync(file, { force: true })
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`]
  const code = await stepAside('vitest', ['run', ...vitestArgs, ...reporters], options)
  return countResults(readReport(file), code)
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

/** Checks that the test that docs/governance.md names for each primitive passed in this run (G3). */
function checkPrimitives() {
  console.log('\n── primitives')
  const page = readFileSync(new URL('../docs/governance.md', import.meta.url), 'utf8')
  const unproved = findUnproved(
    page,
    results.flatMap(({ names = [] }) => names),
  )
  for (const { number, name, title } of unproved)
    console.log(`${number} ${name}: no test named “${title}” passed`)
  return { passed: unproved.length > 0 ? 0 : 1, failed: unproved.length > 0 ? 1 : 0, notRun: [] }
}

const results = []
await runCommands(selected.filter((check) => check.command))
for (const { name, vitest, needs } of selected.filter((check) => check.vitest)) {
  if (isStopped) break
  console.log(`\n── ${name}`)
  // Otherwise vitest skips the tests one by one, so that they are listed below.
  needs?.()
  results.push({ name, ...(await runVitest(vitest)) })
}
rmSync(reports, { recursive: true })
if (isWhole && !isQuick && !isStopped) results.push({ name: 'primitives', ...checkPrimitives() })

const sum = (count) => results.reduce((total, result) => total + count(result), 0)
const notRun = isWhole ? results.flatMap((result) => result.notRun) : []
const unhappy = results.filter((result) => result.failed > 0).map((result) => result.name)
const passed = sum((result) => result.passed)
const failed = sum((result) => result.failed) + (mindsSkipped ? notRun.length : 0)

console.log('')
if (isStopped) console.log('Interrupted.')
if (notRun.length > 0) console.log(`Not run:\n  ${notRun.join('\n  ')}`)
if (results.some(({ name, notRun: left }) => name === 'browser tests' && left.length > 0))
  console.log(chromiumMissing())
if (unhappy.length > 0) console.log(`Failed: ${unhappy.join(', ')}`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = isStopped || failed > 0 ? 1 : 0
