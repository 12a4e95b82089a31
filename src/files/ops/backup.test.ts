import fs from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { backupName } from './backup.ts'

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(() => files.close())

test('FT4 the backup of a readable file is readable, for any name', async () => {
  const part = fc.constantFrom(
    '.env',
    '.example',
    '.sample',
    '.template',
    '.bak',
    'id_rsa',
    '.pub',
    'a',
  )
  const end = fc.constantFrom('', '.', ' ', '. .', '\u200c', '.bak.1', 'x'.repeat(245))
  const name = fc
    .tuple(fc.array(part, { minLength: 1, maxLength: 3 }), end, fc.boolean())
    .map(([parts, last, upper]) => {
      const text = parts.join('') + last
      return upper ? text.toUpperCase() : text
    })
  const { guard } = files.context
  const isOpen = (name: string) => guard.checkForbidden(`/srv/${name}`, 'read') === undefined
  fc.assert(
    fc.property(name, fc.nat(3), (one, number) => {
      fc.pre(isOpen(one))
      expect(isOpen(backupName(one, number)), one).toBe(true)
      expect(guard.isForbiddenName(backupName(one, number)), one).toBe(false)
    }),
    { numRuns: 2000 },
  )
})

test('FT4 PV4 the backup of an example env file is readable, and its folder can be deleted', async () => {
  files.put({ 'p/.env.sample': 'A=1' })
  const at = inWorkspace('p/.env.sample')
  const ask = { at, writeMode: 'replace', encoding: 'keep', backup: true } as const
  const { backup } = await files.run('write', ask, 'A=2')
  expect(backup).toBe('p/.env.sample.bak')
  const read = await files.run('read', { at: inWorkspace(String(backup)), maxBytes: 100 })
  expect(String(read.body)).toBe('A=1')
  await files.run('trash', { at: inWorkspace('p'), id: 'id-1', record: {} })
  expect(fs.existsSync(join(files.workspace, 'p'))).toBe(false)
})
