import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { breaches, consoleBreaches, cycles, fileSystemPlaces, mayImport } from './architecture.ts'

const sources = (pattern: string) =>
  new Map(
    globSync(pattern)
      .map((file) => file.replaceAll('\\', '/'))
      .toSorted()
      .map((file) => [file, readFileSync(file, 'utf8')]),
  )
const src = sources('src/**/*.ts')

const breachesOf = (file: string, source: string) => breaches(new Map([[file, source]]))

test('architecture: every file keeps to the import table and the house rules', () => {
  expect(src.size).toBeGreaterThan(0)
  expect(breaches(src)).toEqual([])
})

test('architecture: the console imports wire files and base, and nothing else of src', () => {
  expect(consoleBreaches(sources('web/src/**/!(*.test).{ts,tsx}'))).toEqual([])
  const source = "import { toolResults } from '#wire'\nimport type { Ledger } from '#ledger'"
  expect(consoleBreaches(new Map([['web/src/api/client.ts', source]]))).toEqual([
    'web/src/api/client.ts: #ledger: the console may import wire files and base',
  ])
})

test('RM1 PV4 architecture: every place that may import node:fs is still needed', () => {
  const users = [...src].filter(([, source]) => /from '(node:)?fs(\/promises)?'/.test(source))
  const unused = fileSystemPlaces.filter(([place]) => !users.some(([file]) => place.test(file)))
  expect(unused.map(([place]) => place.source)).toEqual([])
})

test('architecture: no files import each other in a circle', () => {
  expect(cycles(src)).toEqual([])
})

test('architecture: the table itself has no circle', () => {
  const rows = Object.entries(mayImport).map(
    ([part, others]) =>
      [`src/${part}/index.ts`, others.map((other) => `import '#${other}'`).join('\n')] as const,
  )
  expect(cycles(new Map(rows))).toEqual([])
})

test.each([
  ['src/ledger/store.ts', "import { now } from '#base/clock.ts'"],
  ['src/ledger/store.ts', "import { tree } from './tree.ts'"],
  ['src/governance/trust/store.ts', "import { decide } from '../decide.ts'"],
  ['src/base/config/load.ts', "import { fault } from '../errors.ts'\nprocess.env.HOME"],
  ['src/base/log.ts', "console.error('x')"],
  ['src/dispatch/dispatch.ts', "import type { Ledger } from '#ledger'"],
  ['src/server/mcp.ts', "import { Server } from '@modelcontextprotocol/server'"],
  ['src/cli/up.ts', "const { startApp } = await import('../app.ts')\nconsole.log(process.env)"],
  ['src/app.ts', "import { createLedger } from '#ledger'\nimport './app/store.ts'"],
  ['src/app/store.ts', "import { createLedger } from '#ledger'\nimport './start.ts'"],
  ['src/app/modules.ts', "import { workManifest } from '../work/manifest.ts'"],
  ['src/base/config/schema.ts', "import { modules } from '../../app/modules.ts'"],
  ['src/cli/exit.ts', "import { errorTable } from '../app/errors.ts'"],
  ['src/ledger/store.int.test.ts', "import { postgres } from '../../test/postgres.ts'"],
  ['src/ledger/store.test.ts', "import { Client } from '@modelcontextprotocol/client'"],
  ['src/files/ops/read.ts', "import fs from 'node:fs'"],
  ['src/work/guidance.ts', "import type { Stats } from 'node:fs'"],
  ['src/work/service.test.ts', "import { readFileSync } from 'node:fs'"],
  ['src/governance/wire/trust.ts', "import { modes } from '#approvals/wire.ts'"],
  ['src/wire/index.ts', "import { fileResults } from '#files/wire.ts'"],
  ['src/cli/client.ts', "import { toolResults } from '#wire'"],
  ['src/cli/work/list.ts', "import type { Story } from '#work/wire.ts'"],
])('architecture: %s may say %s', (file, source) => {
  expect(breachesOf(file, source)).toEqual([])
})

test.each([
  ['src/base/clock.ts', "import { append } from '#ledger'", 'base may not import ledger'],
  [
    'src/ledger/store.ts',
    "import type { Caller } from '#identity'",
    'ledger may not import identity',
  ],
  ['src/jobs/run.ts', "export { read } from '#files'", 'jobs may not import files'],
  ['src/files/run.ts', "await import('#work')", 'files may not import work'],
  ['src/files/run.ts', "let x: import('#work').Story", 'files may not import work'],
  ['src/cli/up.ts', "import { createDispatch } from '#dispatch'", 'cli may not import dispatch'],
  ['src/identity/service.ts', "import { hash } from '../ledger/hash.ts'", 'enter by #ledger'],
  ['src/identity/service.ts', "import { hash } from '#ledger/store'", 'enter by #ledger'],
  [
    'src/identity/service.ts',
    "import { x } from '#base/../jobs/x.ts'",
    'identity may not import jobs',
  ],
  ['src/app.ts', "import { createLedger } from './ledger/index.ts'", 'enter by #ledger'],
  ['src/app/store.ts', "import { openLedger } from '../ledger/index.ts'", 'enter by #ledger'],
  ['src/app/store.ts', "import { workErrors } from '../work/errors.ts'", 'enter by #work'],
  ['src/app/store.ts', "import { main } from '#cli'", 'app may not import cli'],
  ['src/cli/stores.ts', "import { migrations } from '../app/store.ts'", 'enter by src/app.ts'],
  ['src/ledger/store.ts', "import { startApp } from '../app.ts'", 'ledger may not import app'],
  ['src/ledger/store.ts', "import { now } from '../base/clock.ts'", 'enter by #base'],
  ['src/ledger/store.ts', "import { x } from '../../test/x.ts'", 'it is outside src'],
  ['src/work/tools.ts', "import { Hono } from 'hono'", 'only server may import it'],
  ['src/ledger/store.ts', 'console.log(1)', 'console is for cli and log'],
  ['src/ledger/store.ts', 'process.env.HOME', 'the environment is read by'],
  ['src/ledger/store.ts', 'export default 1', 'exports are named'],
  ['src/ledger/auditStore.ts', '', 'kebab-case'],
  ['src/utils/x.ts', '', 'no row in the import table'],
  ['src/work/guidance.ts', "import { readFileSync } from 'node:fs'", 'through the file worker'],
  ['src/work/prompts.ts', "import { readFile } from 'fs/promises'", 'through the file worker'],
  ['src/governance/x.ts', "export * from 'node:fs/promises'", 'through the file worker'],
  ['src/identity/x.ts', "await import('fs')", 'through the file worker'],
  ['src/identity/x.ts', "process.getBuiltinModule('fs')", 'modules are imported'],
  ['src/identity/x.ts', "process.binding('fs')", 'modules are imported'],
  ['src/ledger/wire.ts', "import type { Tx } from '#base/db/port.ts'", 'wire files and plain'],
  ['src/ledger/wire.ts', "import { z } from 'hono'", 'only server may import it'],
  ['src/work/wire.ts', "import { join } from 'node:path'", 'wire files and plain'],
  ['src/work/wire.ts', "import { files } from '#files/wire.ts'", 'work may not import files'],
  ['src/wire/index.ts', "import { ledgerTools } from '#ledger'", 'wire may not import ledger'],
])('architecture: %s may not say %s', (file, source, reason) => {
  expect(breachesOf(file, source)).toEqual([expect.stringContaining(reason)])
})

test('architecture: a circle is shown once, and type imports make none', () => {
  const circle = new Map([
    ['src/ledger/a.ts', "import './b.ts'"],
    ['src/ledger/b.ts', "import { c } from './c.ts'"],
    ['src/ledger/c.ts', "export * from './b.ts'"],
  ])
  expect(cycles(circle)).toEqual(['src/ledger/b.ts → src/ledger/c.ts → src/ledger/b.ts'])
  circle.set('src/ledger/c.ts', "import type { B } from './b.ts'")
  expect(cycles(circle)).toEqual([])
})
