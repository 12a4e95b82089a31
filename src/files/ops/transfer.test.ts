import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { granted, inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { fill } from '../../../test/roots.ts'
import { unprivileged } from '../../../test/unprivileged.ts'
import { ops } from './index.ts'

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await files.close()
})

const inside = (path: string) => join(files.workspace, path)
const modeOf = (path: string) => fs.statSync(path).mode & 0o777
const between = (from: string, to: string) => ({ from: inWorkspace(from), to: inWorkspace(to) })

/** A program in the workspace; of another account where one is named. */
function program(path: string, account?: number): void {
  files.put({ [path]: 'x' })
  fs.chmodSync(inside(path), 0o755)
  if (account !== undefined) fs.chownSync(inside(path), account, account)
}

describe('a program whose mode is not ours to change', () => {
  test('FT5 F5 it is moved without its execute bit', async () => {
    program('a.py', 1234)
    await unprivileged(() => files.run('move', between('a.py', 'b.py')))
    expect(fs.readdirSync(files.workspace)).toEqual(['b.py'])
    expect(modeOf(inside('b.py'))).toBe(0o644)
  })

  test('FT5 F5 so is a folder with it', async () => {
    program('Code/f/a.py')
    program('Code/f/m/their.py', 1234)
    await unprivileged(() => files.run('move', between('Code/f', 'g')))
    expect(fs.readdirSync(inside('Code'))).toEqual([])
    for (const name of ['a.py', 'm/their.py']) expect(modeOf(inside(`g/${name}`)), name).toBe(0o644)
  })

  test('TR1 F5 it keeps the bit in the trash, and comes back with it only to Code/', async () => {
    for (const id of ['1', '2']) {
      program(`Code/${id}.py`, 1234)
      const at = inWorkspace(`Code/${id}.py`)
      await files.run('trash', { at, id, record: { path: 'a' } })
    }
    await unprivileged(() => files.run('restore', { id: '1', to: inWorkspace('1.py') }))
    expect(modeOf(inside('1.py'))).toBe(0o644)
    await unprivileged(() => files.run('restore', { id: '2', to: inWorkspace('Code/2.py') }))
    expect(modeOf(inside('Code/2.py'))).toBe(0o755)
  })
})

test.each(['a.py', 'k'])(
  'F5 what leaves Code/ cannot be run any more before it stands elsewhere: %s',
  async (name) => {
    program('Code/a.py')
    program('Code/k/deep/b.py')
    const rename = fs.renameSync
    let before: number | undefined
    vi.spyOn(fs, 'renameSync').mockImplementationOnce((from, to) => {
      before = modeOf(name === 'k' ? join(String(from), 'deep/b.py') : String(from))
      rename(from, to)
    })
    const { stat } = await files.run('move', between(`Code/${name}`, name))
    expect(before).toBe(0o644)
    expect(stat.mode & 0o777).toBe(name === 'k' ? 0o755 : 0o644)
  },
)

test.each(['a.py', 'k'])('F5 what cannot leave Code/ is run as before: %s', async (name) => {
  program('Code/a.py')
  program('Code/k/deep/b.py')
  vi.spyOn(fs, 'renameSync').mockImplementationOnce(() => {
    throw Object.assign(new Error('busy'), { code: 'EBUSY' })
  })
  expect(await files.refusal('move', between(`Code/${name}`, name))).toBe('no_permission')
  expect(modeOf(inside('Code/a.py'))).toBe(0o755)
  expect(modeOf(inside('Code/k/deep/b.py'))).toBe(0o755)
})

describe('a program with more than one name', () => {
  test.each(['Code/k', 'Code/k/a.py'])(
    'F5 PV3 leaves Code/ without the execute bit, and is run by its other name as before: %s',
    async (path) => {
      program('Code/k/a.py')
      const tool = join(files.outside, 'tool')
      fs.linkSync(inside('Code/k/a.py'), tool)
      await files.run('move', between(path, 'Documents/k'))
      expect(fs.existsSync(inside(path))).toBe(false)
      expect(modeOf(tool)).toBe(0o755)
      expect(modeOf(inside(path === 'Code/k' ? 'Documents/k/a.py' : 'Documents/k'))).toBe(0o644)
    },
  )

  test('F5 with all its names in one folder it goes along, and is run no more', async () => {
    program('Code/k/a.py')
    fs.linkSync(inside('Code/k/a.py'), inside('Code/k/b.py'))
    await files.run('move', between('Code/k', 'k'))
    expect(modeOf(inside('k/b.py'))).toBe(0o644)
  })
})

test('F5 FT8 nothing loses its bits before it is told what the move comes to', async () => {
  program('Code/k/a.py')
  const seen: number[] = []
  const entered = async () => void seen.push(modeOf(inside('Code/k/a.py')))
  const context = { ...files.context, waitForEntry: entered }
  await ops.move(context, between('Code/k', 'k'), Buffer.alloc(0), () => false)
  expect(seen).toEqual([0o755])
})

test('F5 where the new name is taken, nothing is changed for a moment either', async () => {
  fill(files.granted, { 'a.py': '', 'k/b.py': '' })
  for (const path of ['a.py', 'k/b.py']) fs.chmodSync(join(files.granted, path), 0o755)
  files.put({ 'a.py': 'mine', 'k/c.py': '' })
  const change = vi.spyOn(fs, 'chmodSync')
  for (const path of ['a.py', 'k'])
    expect(await files.refusal('move', { from: granted(path), to: inWorkspace(path) })).toBe(
      'exists',
    )
  expect(change).not.toHaveBeenCalled()
})
