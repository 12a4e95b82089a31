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
  test('FT5 F5 it is not moved, and its move is refused', async () => {
    program('a.py', 1234)
    const refused = unprivileged(() => files.refusal('move', between('a.py', 'b.py')))
    expect(await refused).toBe('no_permission')
    expect(fs.readdirSync(files.workspace)).toEqual(['a.py'])
  })

  test('FT5 F5 nor is a folder with it, and all others in there can be run as before', async () => {
    for (const name of ['a.py', 'z.py']) program(`Code/f/${name}`)
    program('Code/f/m/their.py', 1234)
    const refused = unprivileged(() => files.refusal('move', between('Code/f', 'g')))
    expect(await refused).toBe('no_permission')
    expect(fs.readdirSync(files.workspace)).toEqual(['Code'])
    for (const name of ['a.py', 'z.py', 'm/their.py'])
      expect(modeOf(inside(`Code/f/${name}`)), name).toBe(0o755)
  })

  test('TR1 F5 it stays in the trash whole, and comes back where it may be run', async () => {
    program('Code/a.py', 1234)
    await files.run('trash', { at: inWorkspace('Code/a.py'), id: 'id-1', record: { path: 'a' } })
    const restore = (path: string) => ({ id: 'id-1', to: inWorkspace(path) })
    const refused = unprivileged(() => files.refusal('restore', restore('a.py')))
    expect(await refused).toBe('no_permission')
    expect(fs.readdirSync(files.workspace)).toEqual(['Code'])
    expect((await files.run('trashed', {})).records).toMatchObject([{ id: 'id-1' }])
    await unprivileged(() => files.run('restore', restore('Code/a.py')))
    expect(modeOf(inside('Code/a.py'))).toBe(0o755)
  })
})

test.each(['a.py', 'k'])(
  'F5 what leaves Code/ cannot be run any more before it stands elsewhere: %s',
  async (name) => {
    program('Code/a.py')
    program('Code/k/deep/b.py')
    const path = inside(name === 'k' ? 'Code/k/deep/b.py' : 'Code/a.py')
    const rename = fs.renameSync
    let before: number | undefined
    vi.spyOn(fs, 'renameSync').mockImplementationOnce((from, to) => {
      before = modeOf(path)
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
    'F5 PV3 whose other name lies elsewhere does not leave Code/, and is run there as before: %s',
    async (path) => {
      program('Code/k/a.py')
      program('Code/k/b.py')
      const tool = join(files.outside, 'tool')
      fs.linkSync(inside('Code/k/a.py'), tool)
      await expect(files.run('move', between(path, 'Documents/k'))).rejects.toMatchObject({
        code: 'no_permission',
        message: expect.stringContaining('second name'),
        path,
      })
      expect(fs.existsSync(inside('Documents/k'))).toBe(false)
      for (const one of [tool, inside('Code/k/a.py'), inside('Code/k/b.py')])
        expect(modeOf(one), one).toBe(0o755)
      await files.run('move', between(path, 'Code/l'))
    },
  )

  test('F5 with all its names in one folder it goes along, and is run no more', async () => {
    program('Code/k/a.py')
    fs.linkSync(inside('Code/k/a.py'), inside('Code/k/b.py'))
    await files.run('move', between('Code/k', 'k'))
    expect(modeOf(inside('k/b.py'))).toBe(0o644)
  })

  test('F5 what a crash left of its making is no second name', async () => {
    program('Code/a.py')
    const unfinished = inside(`Code/.cowork-${'0'.repeat(24)}.tmp`)
    fs.linkSync(inside('Code/a.py'), unfinished)
    vi.useFakeTimers({ now: Date.now() + 5000, toFake: ['Date'] })
    try {
      await files.run('move', between('Code/a.py', 'a.py'))
    } finally {
      vi.useRealTimers()
    }
    expect(fs.existsSync(unfinished)).toBe(false)
    expect(modeOf(inside('a.py'))).toBe(0o644)
  })
})

test('F5 FT8 nothing loses its bits before it is told what the move comes to', async () => {
  program('Code/k/a.py')
  const seen: number[] = []
  const entered = async () => void seen.push(modeOf(inside('Code/k/a.py')))
  const context = { ...files.context, entered }
  await ops.move(context, between('Code/k', 'k'), Buffer.alloc(0), () => false)
  expect(seen).toEqual([0o755, 0o644])
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
