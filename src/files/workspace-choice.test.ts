import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Call } from '#base/tool.ts'
import { setupTools } from './tools/setup.ts'
import { mountSmallDisk } from '../../test/small-disk.ts'
import {
  checkConfiguredWorkspace,
  checkWorkspaceChoice,
  createConfiguredWorkspaceReader,
} from './workspace-choice.ts'

function place(createIfMissing = true) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'cowork-choice-')))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const state = join(home, '.cowork')
  mkdirSync(state)
  mkdirSync(join(home, '.ssh'))
  mkdirSync(join(home, 'Work'))
  const rules = {
    guard: {
      home,
      forbidden: [join(home, '.ssh'), state, join(home, 'closed')],
      except: [],
      readOnly: [join(home, 'work-data')],
      sensitive: [],
      forbiddenExtensions: [],
      workspace: join(home, 'AI'),
    },
    state,
    createIfMissing,
  }
  return { home, state, rules, choose: (path: string) => checkWorkspaceChoice(path, rules).path }
}

test('F1, C9 an existing or creatable folder is chosen by its real path', () => {
  const { home, choose } = place()
  symlinkSync(join(home, 'Work'), join(home, 'link'))
  expect(choose(join(home, 'Work'))).toBe(join(home, 'Work'))
  expect(choose('~/new/deep/')).toBe(join(home, 'new', 'deep'))
  expect(choose(join(home, 'link', 'new'))).toBe(join(home, 'Work', 'new'))
})

test('F1, PV4 what is closed, or would open more than a workspace, cannot be one', () => {
  const { home, state, choose } = place()
  symlinkSync(state, join(home, 'harmless'))
  const closed = ['~/.ssh', '~/.ssh/new', '~/closed/x', '~/work-data', '~/.cowork', '~/harmless/w']
  for (const path of [...closed, join(state, 'w')])
    expect(() => choose(path), path).toThrow(
      expect.objectContaining({ code: 'forbidden_path' }) as Error,
    )
  const empty = place()
  rmSync(empty.state, { recursive: true })
  for (const name of ['.ssh', 'Work']) rmSync(join(empty.home, name), { recursive: true })
  expect(() => empty.choose('~')).toThrow(
    expect.objectContaining({ code: 'forbidden_path' }) as Error,
  )
})

test('F1, C9 a folder that holds something stays its owner’s: agents get one of their own inside it', () => {
  const { home, rules, choose } = place()
  const work = join(home, 'Work')
  writeFileSync(join(work, '.hidden'), '')
  const inside = join(work, 'AI-Workspace')
  expect(checkWorkspaceChoice('~/Work', rules)).toEqual({ path: inside, namedFolder: work })
  // The same choice keeps the files that agents have since created there.
  mkdirSync(inside)
  writeFileSync(join(inside, 'theirs.md'), '')
  expect(choose('~/Work')).toBe(inside)
  expect(checkWorkspaceChoice(inside, rules)).toEqual({ path: inside })
  for (const path of ['~', home]) expect(choose(path)).toBe(join(home, 'AI-Workspace'))
})

test.each(['.cowork/trash', '.fileops'])(
  'F1, F6 a workspace of before, known by its %s, may be chosen again',
  (own) => {
    const { home, rules } = place()
    const work = join(home, 'Work')
    mkdirSync(join(work, own), { recursive: true })
    writeFileSync(join(work, 'theirs.md'), '')
    expect(checkWorkspaceChoice('~/Work', rules)).toEqual({ path: work })
  },
)

test('F1 where an AI-Workspace leads back to files of the person, none of both is taken', () => {
  const { home, choose } = place()
  const work = join(home, 'Work')
  symlinkSync(work, join(work, 'AI-Workspace'))
  for (const path of ['~/Work', '~/Work/AI-Workspace'])
    expect(() => choose(path), path).toThrow(
      expect.objectContaining({ code: 'forbidden_path' }) as Error,
    )
})

test('F1 a folder of the person’s is said to be one where no other may be made in it', () => {
  const { home, choose } = place(false)
  writeFileSync(join(home, 'Work', 'mine'), '')
  expect(() => choose('~/Work')).toThrow(expect.objectContaining({ code: 'not_found' }) as Error)
})

test('F1, PV4 what config names is checked at start, too, where it would open more than itself', () => {
  const { home, state, rules } = place()
  symlinkSync(home, join(state, 'harmless'))
  const check = (path: string) => checkConfiguredWorkspace(path, rules)
  for (const path of ['/', home, state, join(home, '.ssh', 'new'), join(state, 'harmless')])
    expect(() => check(path), path).toThrow(
      expect.objectContaining({ code: 'forbidden_path' }) as Error,
    )
  for (const path of [join(state, 'workspace'), join(home, 'Work'), join(home, 'new', 'deep')])
    expect(() => check(path), path).not.toThrow()
})

test('F1 a read-only folder is refused as a workspace', () => {
  const { home, choose } = place()
  const disk = mountSmallDisk(join(home, 'Work'), 64)
  onTestFinished(disk.remove)
  disk.setReadOnly()
  expect(() => choose('~/Work/new')).toThrow(
    expect.objectContaining({ code: 'no_permission' }) as Error,
  )
})

test('F1, PV2 a file, a relative path and one that climbs are refused by name', () => {
  const { home, choose } = place()
  writeFileSync(join(home, 'file'), '')
  const codes = { '~/file': 'not_a_folder', '~/file/x': 'not_a_folder', AI: 'invalid_path' }
  for (const [path, code] of Object.entries({ ...codes, '~/a/../b': 'path_traversal' }))
    expect(() => choose(path), path).toThrow(expect.objectContaining({ code }) as Error)
  expect(() => place(false).choose('~/new')).toThrow(
    expect.objectContaining({ code: 'not_found' }) as Error,
  )
})

test('C9, SV5 choosing writes the one setting, keeps comments and the file as it was', async () => {
  const { state, home, rules } = place()
  const configFile = join(state, 'cowork.yaml')
  const before = '# mine\nworkspace:\n  path: ~/AI # here\n'
  writeFileSync(configFile, before)
  const [tool] = setupTools({ ...rules, configFile, now: () => 0 })
  const choose = (path: string) =>
    tool?.run?.({ path }, {} as Call).then(({ output }) => output as object)
  const chosen = await choose('~/Work')
  expect(readFileSync(configFile, 'utf8')).toBe(
    `# mine\nworkspace:\n  path: ${join(home, 'Work')} # here\n`,
  )
  const { backup } = chosen as { backup: string }
  expect(readFileSync(backup, 'utf8')).toBe(before)
  expect(chosen).toMatchObject({ path: join(home, 'Work'), changed: true, restart_needed: true })
  expect(await choose('~/Work')).not.toHaveProperty('backup')
  writeFileSync(join(home, 'Work', 'mine'), '')
  expect(await choose('~/Work')).toMatchObject({
    path: join(home, 'Work', 'AI-Workspace'),
    message: expect.stringContaining(
      `${join(home, 'Work')} contains files and is not changed`,
    ) as string,
  })
  await expect(choose('~/.ssh')).rejects.toMatchObject({ code: 'forbidden_path' })
})

test('C9, FT7 a folder chosen since the start is told until a restart takes it, or it is taken back', () => {
  const { home } = place()
  const config = join(home, 'cowork.yaml')
  const name = (folder: string) => writeFileSync(config, `workspace: { path: ${folder} }\n`)
  const [inUse, other] = [join(home, 'Work'), join(home, 'Other')]
  // As with a variable of the environment: what the file said at the start is not what is in use.
  name(join(home, 'elsewhere'))
  const next = createConfiguredWorkspaceReader(config, inUse)
  expect(next()).toBeUndefined()
  name(other)
  expect(next()).toBe(other)
  name(inUse)
  expect(next()).toBeUndefined()
  writeFileSync(config, 'workspace: { path: [')
  expect(next()).toBeUndefined()
  const fresh = createConfiguredWorkspaceReader(join(home, 'none.yaml'), inUse)
  expect(fresh()).toBeUndefined()
})
