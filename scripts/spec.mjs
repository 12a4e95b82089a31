// Compares rules with tests: prints what is proved, and fails if a rule in docs/spec/done.txt is not.
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { benchIds, doneIds, parseRules, shortIds, specReport, testIds } from './spec-rules.ts'

const read = (pattern) =>
  globSync(pattern)
    .toSorted()
    .map((file) => [file, readFileSync(file, 'utf8')])
const isTest = ([file, source]) => /\.test\.tsx?$/.test(file) || source.includes("from 'vitest'")

const pages = read('docs/spec/*.md').map(([file, text]) => [basename(file), text])
const tests = read('{src,test,scripts,web,extension}/**/*.{ts,tsx}').filter(isTest)
const rules = parseRules(Object.fromEntries(pages))
const tested = new Set(tests.flatMap(([file, source]) => testIds(file, source)))
const benched = new Set(read('bench/*.ts').flatMap(([, source]) => benchIds(source)))
const done = new Set(doneIds(readFileSync('docs/spec/done.txt', 'utf8')))
const short = shortIds(readFileSync('docs/benchmarks.md', 'utf8'))
const report = specReport(rules, { tested, benched, short }, done)

const row = (...cells) =>
  console.log(cells.map((cell, i) => (i ? String(cell).padStart(8) : cell.padEnd(16))).join(''))
row('page', 'rules', 'proved', 'done')
for (const page of report.pages) {
  row(page.page, page.rules, page.rules - page.unproved.length, page.done)
}

console.log('\nWithout a test, or falling short:')
for (const { page, unproved } of report.pages) {
  if (unproved.length > 0) console.log(`${page.padEnd(16)}${unproved.join(' ')}`)
}

const unproved = report.pages.reduce((sum, page) => sum + page.unproved.length, 0)
console.log(
  `\n${rules.length} rules, ${rules.length - unproved} proved, ${done.size} declared done.`,
)
if (report.unknown.length > 0) {
  console.log(`Named by a test or bench, but by no page: ${report.unknown.join(' ')}`)
}
if (report.broken.length > 0) {
  console.log(`Declared done, but without a test or falling short: ${report.broken.join(' ')}`)
  process.exitCode = 1
}
