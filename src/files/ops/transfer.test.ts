import fs from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { granted, inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { fill } from '../../../test/roots.ts'
import { unprivileged } from '../../../test/unprivileged.ts'

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
