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
const readMode = (path: string) => fs.statSync(path).mode & 0o777
const toMove = (from: string, to: string) => ({ from: inWorkspace(from), to: inWorkspace(to) })

/** Creates an executable in the workspace, optionally with another owner. */
function putExecutable(path: string, account?: number): void {
  files.put({ [path]: 'x' })
  fs.chmodSync(inside(path), 0o755)
  if (account !== undefined) fs.chownSync(inside(path), account, account)
}

describe('an executable with another owner', () => {
  test('FT5 F5 is moved without its execute bits', async () => {
    putExecutable('a.py', 1234)
    await unprivileged(() => files.run('move', toMove('a.py', 'b.py')))
    expect(fs.readdirSync(files.workspace)).toEqual(['b.py'])
    expect(readMode(inside('b.py'))).toBe(0o644)
  })

  test('FT5 F5 is moved inside a folder without its execute bits', async () => {
    putExecutable('Code/f/a.py')
    putExecutable('Code/f/m/their.py', 1234)
    await unprivileged(() => files.run('move', toMove('Code/f', 'g')))
    expect(fs.readdirSync(inside('Code'))).toEqual([])
    for (const name of ['a.py', 'm/their.py'])
      expect(readMode(inside(`g/${name}`)), name).toBe(0o644)
  })

  test('TR1 F5 keeps the bits in the trash, and after a restore only in Code/', async () => {
    for (const id of ['1', '2']) {
      putExecutable(`Code/${id}.py`, 1234)
      const at = inWorkspace(`Code/${id}.py`)
      await files.run('trash', { at, id, record: { path: 'a' } })
    }
    await unprivileged(() => files.run('restore', { id: '1', to: inWorkspace('1.py') }))
    expect(readMode(inside('1.py'))).toBe(0o644)
    await unprivileged(() => files.run('restore', { id: '2', to: inWorkspace('Code/2.py') }))
    expect(readMode(inside('Code/2.py'))).toBe(0o755)
  })
})

test.each(['a.py', 'k'])('F5 loses its execute bits before it leaves Code/: %s', async (name) => {
  putExecutable('Code/a.py')
  putExecutable('Code/k/deep/b.py')
  const rename = fs.renameSync
  let before: number | undefined
  vi.spyOn(fs, 'renameSync').mockImplementationOnce((from, to) => {
    before = readMode(name === 'k' ? join(String(from), 'deep/b.py') : String(from))
    rename(from, to)
  })
  const { stat } = await files.run('move', toMove(`Code/${name}`, name))
  expect(before).toBe(0o644)
  expect(stat.mode & 0o777).toBe(name === 'k' ? 0o755 : 0o644)
})

test.each(['a.py', 'k'])(
  'F5 keeps its execute bits if the move out of Code/ fails: %s',
  async (name) => {
    putExecutable('Code/a.py')
    putExecutable('Code/k/deep/b.py')
    vi.spyOn(fs, 'renameSync').mockImplementationOnce(() => {
      throw Object.assign(new Error('busy'), { code: 'EBUSY' })
    })
    expect(await files.refusal('move', toMove(`Code/${name}`, name))).toBe('no_permission')
    expect(readMode(inside('Code/a.py'))).toBe(0o755)
    expect(readMode(inside('Code/k/deep/b.py'))).toBe(0o755)
  },
)

describe('an executable with several hard links', () => {
  test.each(['Code/k', 'Code/k/a.py'])(
    'F5 PV3 leaves Code/ without execute bits, and its other link keeps them: %s',
    async (path) => {
      putExecutable('Code/k/a.py')
      const tool = join(files.outside, 'tool')
      fs.linkSync(inside('Code/k/a.py'), tool)
      await files.run('move', toMove(path, 'Documents/k'))
      expect(fs.existsSync(inside(path))).toBe(false)
      expect(readMode(tool)).toBe(0o755)
      expect(readMode(inside(path === 'Code/k' ? 'Documents/k/a.py' : 'Documents/k'))).toBe(0o644)
    },
  )

  test('F5 moves with all its links in one folder, without execute bits', async () => {
    putExecutable('Code/k/a.py')
    fs.linkSync(inside('Code/k/a.py'), inside('Code/k/b.py'))
    await files.run('move', toMove('Code/k', 'k'))
    expect(readMode(inside('k/b.py'))).toBe(0o644)
  })
})

test('F5 FT8 keeps execute bits until the result of the move is announced', async () => {
  putExecutable('Code/k/a.py')
  const seen: number[] = []
  const waitForEntry = async () => void seen.push(readMode(inside('Code/k/a.py')))
  const context = { ...files.context, waitForEntry }
  await ops.move(context, toMove('Code/k', 'k'), Buffer.alloc(0), () => false)
  expect(seen).toEqual([0o755])
})

test('F5 changes nothing if the target exists', async () => {
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
