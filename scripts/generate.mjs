// Writes the committed files that are generated from the sources; `--check` only lists those that are out of date.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

// `make` returns the text of a file, or {name: text} for a folder with nothing else. It imports its source itself, so
// that one broken source does not stop the others.
const generated = [
  {
    path: 'docs/config.schema.json',
    make: async () => json((await import('../src/base/config/schema.ts')).configJsonSchema()),
  },
  {
    path: 'docs/openapi.json',
    make: async () => json((await import('./openapi.ts')).openApiPage()),
  },
  { path: 'docs/entries.md', make: async () => (await import('./entry-docs.ts')).entriesPage() },
  { path: 'docs/tools.md', make: async () => (await import('./tool-docs.ts')).toolsPage() },
  { path: 'test/__tools__', make: async () => (await import('./tool-docs.ts')).toolSnapshots() },
]

const json = (value) => `${JSON.stringify(value, null, 2)}\n`

function wantedFiles(path, made) {
  if (typeof made === 'string') return new Map([[path, made]])
  const files = new Map(Object.entries(made).map(([name, text]) => [join(path, name), text]))
  const present = existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : []
  for (const file of present) if (!files.has(file)) files.set(file, undefined)
  return files
}

function write(file, text) {
  if (text === undefined) return rmSync(file)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const isCheck = process.argv.includes('--check')
for (const { path, make } of generated) {
  try {
    for (const [file, text] of wantedFiles(path, await make())) {
      const current = existsSync(file) ? readFileSync(file, 'utf8') : undefined
      if (current === text) continue
      console.log(isCheck ? `${file} is out of date; run: npm run docs` : `wrote ${file}`)
      if (isCheck) process.exitCode = 1
      else write(file, text)
    }
  } catch (error) {
    console.log(`Cannot generate ${path}: ${error.message}`)
    process.exitCode = 1
  }
}
