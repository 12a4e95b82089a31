import { globSync, readFileSync } from 'node:fs'
import { parseSync, Visitor } from 'vite'
import type { ESTree } from 'vite'
import { expect, test } from 'vitest'
import { errorTable } from '../src/app/errors.ts'
import { cliErrors } from '../src/cli/errors.ts'

const isCode = (file: string) => !/(fixture|contract|\.test)\.ts$|\/errors\.ts$/.test(file)
const sources = globSync('src/**/*.ts')
  .map((file) => file.replaceAll('\\', '/'))
  .filter(isCode)
  .map((file) => [file, readFileSync(file, 'utf8')] as const)

/** Codes of other systems: zod issues, commander. */
const foreign = ['custom', 'commander.unknownCommand', 'enospc']
const isForeign = (code: string) => foreign.includes(code)
const errorClasses = ['CoworkError', 'FileError', 'RefusedResult']

/** The code that each error and each refusal of a file is made with, where it is written out. */
function codesIn(file: string, source: string): string[] {
  const found: string[] = []
  const add = (node: ESTree.Node | undefined) => {
    if (node?.type === 'Literal' && typeof node.value === 'string') found.push(node.value)
    if (node?.type !== 'ConditionalExpression') return
    add(node.consequent)
    add(node.alternate)
  }
  new Visitor({
    NewExpression({ callee, arguments: [code] }) {
      if (callee.type === 'Identifier' && errorClasses.includes(callee.name)) add(code)
    },
    Property({ key, value }) {
      if (key.type === 'Identifier' && key.name === 'code') add(value)
    },
  }).visit(parseSync(file, source).program)
  return found
}

test('architecture: every error code that the sources name is declared with a status and an exit code', () => {
  const named = sources.flatMap(([file, source]) =>
    codesIn(file, source).map((code) => ({ file, code })),
  )
  expect(named.length).toBeGreaterThan(300)
  const isDeclared = (code: string) => Object.hasOwn(errorTable, code) || code in cliErrors
  expect(named.filter(({ code }) => !isForeign(code) && !isDeclared(code))).toEqual([])
})

test('architecture: no declared code is left over', () => {
  const all = sources.map(([, source]) => source).join('\n')
  const isNamed = (code: string) => new RegExp(`['\`]${code}['\`]|\\b${code}:`).test(all)
  const unused = Object.keys({ ...errorTable, ...cliErrors }).filter((code) => !isNamed(code))
  expect(unused).toEqual([])
})

test('architecture: the table has the codes of every module, and each code has one owner', async () => {
  const tables = globSync('src/*/errors.ts').map((file) => file.replaceAll('\\', '/'))
  const owners = new Map<string, string>()
  for (const file of tables.filter((one) => one !== 'src/app/errors.ts')) {
    const [table] = Object.values((await import(/* @vite-ignore */ `../${file}`)) as object).filter(
      (value) => typeof value === 'object',
    )
    for (const [code, row] of Object.entries(table as Record<string, object>)) {
      expect(owners.get(code), code).toBeUndefined()
      owners.set(code, file)
      if (file !== 'src/cli/errors.ts') expect(errorTable[code], code).toEqual(row)
    }
  }
  expect([...owners.keys()].toSorted()).toEqual(
    Object.keys({ ...errorTable, ...cliErrors }).toSorted(),
  )
})

test.each([
  ['project_unknown', 404],
  ['stale_rev', 409],
  ['stale', 409],
  ['unknown_channel', 404],
  ['auth_required', 401],
  ['tool_excluded', 403],
  ['too_many_requests', 429],
  ['clock_went_back', 503],
])('architecture: %s is answered with %i', (code, status) => {
  expect(errorTable[code]?.status).toBe(status)
})
