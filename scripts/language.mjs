// Fails on names and sentences that docs/glossary.md rules out. With arguments, it checks only those folders and files.
import { globSync, readFileSync } from 'node:fs'
import { checkMarkdown, checkSource } from './language-rules.ts'

/** @type {import('./language-rules.ts').Exception[]} */
const exceptions = [
  {
    file: /^scripts\/language/,
    text: /./,
    reason: 'The patterns and their tests contain the words.',
  },
  { file: /^docs\/glossary\.md$/, text: /./, reason: 'Its last column lists the words to avoid.' },
]

const roots = process.argv.slice(2)
const files = globSync([
  '{src,test,bench,scripts,bin,web}/**/*.{ts,tsx,mjs}',
  'docs/**/*.md',
  '*.md',
])
  .filter((file) => !/node_modules|(^|\/)dist\//.test(file))
  .filter((file) => roots.length === 0 || roots.some((root) => file.startsWith(root)))
  .toSorted()

let count = 0
for (const file of files) {
  const source = readFileSync(file, 'utf8')
  const findings = file.endsWith('.md') ? checkMarkdown(source) : checkSource(file, source)
  for (const { line, text, rule } of findings) {
    if (exceptions.some((one) => one.file.test(file) && one.text.test(text))) continue
    count++
    console.log(`${file}:${line}: ${rule}: ${text}`)
  }
}
console.log(count === 0 ? `${files.length} files follow the guide.` : `${count} findings.`)
if (count > 0) process.exitCode = 1
