import fs from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { granted, inWorkspace, openTestOps } from '../../../test/ops.ts'
import type { TestOps } from '../../../test/ops.ts'
import { fill, testFolders } from '../../../test/roots.ts'
import { mountSmallDisk } from '../../../test/small-disk.ts'
import type { RunOp } from '../worker/context.ts'
import type { OpRequest } from '../worker/protocol.ts'
import { ops } from './index.ts'

const sha256 = (bytes: string) => createHash('sha256').update(bytes).digest('hex')

let files: TestOps
beforeEach(() => {
  files = openTestOps()
})
afterEach(() => files.close())

const trashPath = (path: string) => join(files.top, 'trash', path)
const inside = (path: string) => join(files.workspace, path)
const trash = (path: string, id: string) =>
  files.run('trash', { at: inWorkspace(path), id, record: { path, by: 'sales' } })

test('TR1 a deleted file is in the trash with a record beside it', async () => {
  files.put({ 'a/b.md': 'text' })
  const answer = await trash('a/b.md', 'id-1')
  expect(answer).toMatchObject({ stat: { type: 'file', size: 4 }, sha256: sha256('text') })
  expect(fs.existsSync(inside('a/b.md'))).toBe(false)
  expect(fs.readFileSync(trashPath('id-1/content'), 'utf8')).toBe('text')
  expect(JSON.parse(fs.readFileSync(trashPath('id-1/record.json'), 'utf8'))).toEqual({
    path: 'a/b.md',
    by: 'sales',
    type: 'file',
    size: 4,
    sha256: sha256('text'),
    origin: inside('a/b.md'),
  })
  expect((await files.run('listTrash', {})).records).toMatchObject([
    { id: 'id-1', record: { by: 'sales' } },
  ])
})

test('TR1 restores a file to its path or another one, and never overwrites', async () => {
  files.put({ 'a.md': 'old' })
  await trash('a.md', 'id-1')
  files.put({ 'a.md': 'new' })
  expect(await files.refusal('restore', { id: 'id-1', to: inWorkspace('a.md') })).toBe('exists')
  expect(await files.refusal('restore', { id: 'id-1', to: inWorkspace('a.exe') })).toBe(
    'forbidden_extension',
  )
  await files.run('restore', { id: 'id-1', to: inWorkspace('back/a.md') })
  expect(fs.readFileSync(inside('a.md'), 'utf8')).toBe('new')
  expect(fs.readFileSync(inside('back/a.md'), 'utf8')).toBe('old')
  expect(fs.readdirSync(trashPath(''))).toEqual([])
  expect(await files.refusal('restore', { id: 'id-1', to: inWorkspace('b.md') })).toBe('not_found')
})

test('TR1 deletes and restores whole folders, and deletes links without following them', async () => {
  files.put({ 'f/a.md': 'a', 'f/g/b.md': 'b' })
  fs.symlinkSync(files.outside, inside('f/out'))
  fs.symlinkSync(files.outside, inside('link'))
  expect((await trash('link', 'id-1')).stat.type).toBe('link')
  expect((await trash('f', 'id-2')).sha256).toBeUndefined()
  expect(fs.readdirSync(files.workspace)).toEqual([])
  await files.run('restore', { id: 'id-2', to: inWorkspace('f') })
  expect(fs.readFileSync(inside('f/g/b.md'), 'utf8')).toBe('b')
  await trash('f', 'id-3')
  expect((await files.run('purge', { ids: ['id-1', 'id-3'] })).purged).toEqual(['id-1', 'id-3'])
  expect(fs.readdirSync(trashPath(''))).toEqual([])
  expect(fs.readFileSync(join(files.outside, 'secret.txt'), 'utf8')).toBe('SECRET')
})

test('F5 deletes files that run later, and restores them only after approval', async () => {
  files.put({ 'p/.git/hooks/pre-commit': 'x', 'a.desktop': 'x', 'server.pem': 'x' })
  await trash('p/.git/hooks/pre-commit', 'id-1')
  await trash('a.desktop', 'id-2')
  await trash('server.pem', 'id-3')
  await trash('p', 'id-4')
  const to = { 'id-1': 'p/.git/hooks/pre-commit', 'id-2': 'a.desktop', 'id-3': 'server.pem' }
  for (const [id, path] of Object.entries(to)) {
    expect(await files.refusal('restore', { id, to: inWorkspace(path) }), path).toBe(
      'forbidden_path',
    )
    await files.run('restore', { id, to: inWorkspace(path), reviewed: true })
  }
  expect(fs.readFileSync(inside('a.desktop'), 'utf8')).toBe('x')
})

test('F5 refuses to restore a folder with entries that could not be created at the target', async () => {
  const deleteItem = (path: string, id: string) =>
    files.run('trash', { at: inWorkspace(path), id, record: { path: inside(path) } })
  const restore = (id: string, path: string) => files.run('restore', { id, to: inWorkspace(path) })
  const refusal = (id: string, path: string) =>
    files.refusal('restore', { id, to: inWorkspace(path) })
  files.put({ 'x/hooks/pre-commit': '', 'Code/bash/s/run.sh': '', 'p/run.sh': '', 'p/.git/x': '' })
  fs.chmodSync(inside('Code/bash/s/run.sh'), 0o755)
  await deleteItem('x', 'id-1')
  await deleteItem('Code/bash/s', 'id-2')
  await deleteItem('p', 'id-3')
  expect(await refusal('id-1', 'r/.git')).toBe('forbidden_path')
  expect(await refusal('id-1', 'r.git')).toBe('forbidden_path')
  expect(await refusal('id-2', 'Documents/s')).toBe('forbidden_extension')
  fs.symlinkSync('Code/bash', inside('scripts'))
  files.put({ 'Code/bash/t/run.sh': '' })
  await deleteItem('scripts/t', 'id-4')
  expect(await refusal('id-4', 'Documents/t')).toBe('forbidden_extension')
  await restore('id-2', 'Code/bash/s')
  expect(fs.statSync(inside('Code/bash/s/run.sh')).mode & 0o777).toBe(0o755)
  // A file that a person created is restored.
  await restore('id-3', 'p')
  expect(fs.readdirSync(inside('p')).toSorted()).toEqual(['.git', 'run.sh'])
})

test('PV5 F5 the original name decides the risk of a restore', async () => {
  const sensitive = ['**/*.pem', '**/private/*']
  const strict = openTestOps({ folders: files, guard: { ...files.setup.guard, sensitive } })
  strict.put({ 'a.pem': '', 'private/x.md': '', 'private/y.md': '', 'p/.git/config': '' })
  fs.symlinkSync('private', inside('plain'))
  const deleted = ['a.pem', 'plain/x.md', 'private', 'p/.git']
  for (const [n, path] of deleted.entries()) {
    const id = `id-${n}`
    await strict.run('trash', { at: inWorkspace(path), id, record: { path: inside(path) } })
    const ask = { id, to: inWorkspace(`out-${n}`) }
    expect(await strict.refusal('restore', ask), path).toBe('forbidden_path')
    await strict.run('restore', { ...ask, reviewed: true })
  }
  await strict.close()
})

test('F5 restores a forbidden extension only to its original path', async () => {
  for (const containment of ['walk', 'checked'] as const) {
    const own = openTestOps({ folders: files, containment })
    own.put({ 'd/run.sh': '' })
    fs.chmodSync(inside('d/run.sh'), 0o755)
    await own.run('trash', { at: inWorkspace('d/run.sh'), id: 'id-1', record: {} })
    for (const path of ['run.sh', 'd/other.sh'])
      expect(await own.refusal('restore', { id: 'id-1', to: inWorkspace(path) })).toBe(
        'forbidden_extension',
      )
    await own.run('restore', { id: 'id-1', to: inWorkspace('d/run.sh') })
    expect(fs.statSync(inside('d/run.sh')).mode & 0o777).toBe(0o644)
    await own.close()
  }
})

test('F5 restores execute bits only in Code/', async () => {
  files.put({ 'Code/a.py': '', 'Code/k/b.py': '' })
  for (const path of ['Code/a.py', 'Code/k/b.py']) fs.chmodSync(inside(path), 0o755)
  await trash('Code/a.py', 'id-1')
  await trash('Code/k', 'id-2')
  await files.run('restore', { id: 'id-1', to: granted('a.py') })
  await files.run('restore', { id: 'id-2', to: granted('k') })
  for (const path of ['a.py', 'k/b.py'])
    expect(fs.statSync(join(files.granted, path)).mode & 0o777, path).toBe(0o644)
})

test('TR1 deletes and purges a folder with invalid UTF-8 names', async () => {
  files.put({ 'f/a.md': '' })
  fs.writeFileSync(Buffer.concat([Buffer.from(`${inside('f')}/caf`), Buffer.of(0xe9)]), '')
  await trash('f', 'id-1')
  expect((await files.run('purge', { ids: ['id-1'] })).purged).toEqual(['id-1'])
  expect(fs.readdirSync(trashPath(''))).toEqual([])
})

test('TR1 refuses to delete the workspace itself, protected paths and missing paths', async () => {
  files.put({ '.cowork/index.json': '{}', 'f/.env': '' })
  const refusal = (path: string, id = 'id-1') =>
    files.refusal('trash', { at: inWorkspace(path), id, record: {} })
  expect(await refusal('')).toBe('is_a_folder')
  expect(await refusal('.cowork')).toBe('forbidden_path')
  expect(await refusal('f')).toBe('forbidden_path')
  expect(await refusal('none')).toBe('not_found')
  expect(await refusal('f', '../evil')).toBe('not_found')
  expect(await files.refusal('purge', { ids: ['..'] })).toBe('not_found')
  expect(fs.readdirSync(trashPath(''))).toEqual([])
})

test('TR1 ignores a record without content', async () => {
  fill(trashPath(''), {
    'id-1/record.json': '{"path":"a"}',
    'id-2/record.json': 'not json',
    'id-2/content': '',
  })
  fill(trashPath(''), { 'id-3/record.json': '{"path":"c"}', 'id-3/content': '' })
  expect((await files.run('listTrash', {})).records).toEqual([
    { id: 'id-3', record: { path: 'c' } },
  ])
})

test('TR2 refuses a trash folder that is a link, writable by all or owned by another user', async () => {
  files.put({ 'a.md': 'text' })
  const ask = { at: inWorkspace('a.md'), id: 'id-1', record: {} }
  fs.chmodSync(trashPath(''), 0o777)
  expect(await files.refusal('trash', ask)).toBe('no_permission')
  fs.chmodSync(trashPath(''), 0o700)
  fs.chownSync(trashPath(''), 12345, 12345)
  expect(await files.refusal('trash', ask)).toBe('no_permission')
  fs.chownSync(trashPath(''), 0, 0)
  fs.renameSync(trashPath(''), join(files.top, 'moved'))
  await expect(files.run('trash', ask)).rejects.toThrow('The trash is no longer at its path.')
  fs.symlinkSync(files.outside, trashPath(''))
  expect(await files.refusal('trash', ask)).toBe('no_permission')
  const linked = openTestOps({ folders: files })
  expect(await linked.refusal('trash', ask)).toBe('not_a_folder')
  await linked.close()
  expect(fs.readdirSync(files.outside)).toEqual(['secret.txt'])
  expect(fs.readFileSync(inside('a.md'), 'utf8')).toBe('text')
})

test('TR2 copies to a trash on another disk, verifies, then removes the source', async () => {
  const folders = testFolders()
  const disk = mountSmallDisk(join(folders.top, 'disk'), 512)
  try {
    fs.mkdirSync(join(disk.path, 'workspace'))
    const roots = folders.setup.roots.map((root) =>
      root.key === 'workspace' ? { ...root, path: join(disk.path, 'workspace') } : root,
    )
    const guard = { ...folders.setup.guard, workspace: join(disk.path, 'workspace') }
    const two = openTestOps({ folders, roots, guard })
    fill(join(disk.path, 'workspace'), { 'f/a.md': 'a', 'one.md': 'one' })
    for (const [at, path] of ['f', 'one.md'].entries())
      await two.run('trash', { at: inWorkspace(path), id: `id-${at}`, record: {} })
    expect(fs.readdirSync(join(disk.path, 'workspace'))).toEqual([])
    expect(fs.readFileSync(join(folders.top, 'trash/id-0/content/a.md'), 'utf8')).toBe('a')
    await two.run('restore', { id: 'id-0', to: inWorkspace('back') })
    expect(fs.readFileSync(join(disk.path, 'workspace/back/a.md'), 'utf8')).toBe('a')
    expect(fs.readdirSync(join(folders.top, 'trash'))).toEqual(['id-1'])
    await two.close()
  } finally {
    disk.remove()
  }
})

test('TR2 keeps a complete copy in the trash on another disk if the removal fails', async () => {
  const folders = testFolders()
  const disk = mountSmallDisk(join(folders.top, 'trash-disk'), 512)
  try {
    fs.chmodSync(disk.path, 0o700)
    const roots = folders.setup.roots.map((root) =>
      root.key === 'trash' ? { ...root, path: disk.path } : root,
    )
    const two = openTestOps({ folders, roots })
    two.put({ 'f/a/one.md': 'one', 'f/b/two.md': 'two' })
    const isPart = () => fs.readdirSync(join(folders.workspace, 'f')).length === 1
    const turn = async () => {
      if (isPart()) throw new Error('the disk is gone')
    }
    const ask = { at: inWorkspace('f'), id: 'id-1', record: { path: 'f' } }
    const trashing = ops.trash(
      { ...two.context, yieldIfDue: turn },
      ask,
      Buffer.alloc(0),
      () => false,
    )
    await expect(trashing).rejects.toThrow('The copy is complete')
    expect(isPart()).toBe(true)
    const kept = ['a/one.md', 'b/two.md'].map((name) =>
      fs.readFileSync(join(disk.path, 'id-1/content', name), 'utf8'),
    )
    expect(kept).toEqual(['one', 'two'])
    await two.close()
  } finally {
    disk.remove()
  }
})

/** Runs an operation that pauses at a point until it is released. */
function runPaused<O extends 'purge' | 'restore' | 'move' | 'copy' | 'trash'>(
  where: 'yieldIfDue' | 'waitForEntry',
  op: O,
  ask: OpRequest<O>,
) {
  const reached = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const halt = () => {
    reached.resolve()
    return go.promise
  }
  const act = ops[op] as RunOp<O>
  const context = { ...files.context, [where]: halt }
  const answer = Promise.resolve(act(context, ask, Buffer.alloc(0), () => false))
  answer.catch(() => undefined)
  return { answer, reached: reached.promise, go: go.resolve }
}

const waitBriefly = () => new Promise((resolve) => setTimeout(resolve, 20))

test('TR1 does not restore a part of an item that is being purged', async () => {
  files.put({ 'f/a.md': 'a', 'f/b.md': 'b', 'f/c.md': 'c' })
  await trash('f', 'id-1')
  const purge = runPaused('yieldIfDue', 'purge', { ids: ['id-1'] })
  await purge.reached
  const restored = files.refusal('restore', { id: 'id-1', to: inWorkspace('f') })
  await waitBriefly()
  purge.go()
  expect(await restored).toBe('not_found')
  expect((await purge.answer).purged).toEqual(['id-1'])
  expect([...fs.readdirSync(trashPath('')), ...fs.readdirSync(files.workspace)]).toEqual([])
})

test('TR1 does not purge an item that is being restored', async () => {
  files.put({ 'f/a.md': 'a', 'f/b.md': 'b' })
  await trash('f', 'id-1')
  const restore = runPaused('waitForEntry', 'restore', { id: 'id-1', to: inWorkspace('f') })
  await restore.reached
  const purge = files.run('purge', { ids: ['id-1'] })
  await waitBriefly()
  restore.go()
  expect((await restore.answer).real).toBe('f')
  expect((await purge).purged).toEqual([])
  expect(fs.readdirSync(inside('f')).toSorted()).toEqual(['a.md', 'b.md'])
})

const back = { id: 'id-1', to: inWorkspace('f/x.md') }
const copied = { from: inWorkspace('y.md'), to: inWorkspace('f/x.md') }
const away = { from: inWorkspace('f'), to: inWorkspace('g') }
const deleted = { at: inWorkspace('f'), id: 'id-2', record: {} }

test.each([
  ['TR1 restored', 'moved', 'restore', back, 'move', away],
  ['TR1 restored', 'deleted', 'restore', back, 'trash', deleted],
  ['FT5 copied', 'moved', 'copy', copied, 'move', away],
  ['FT5 copied', 'deleted', 'copy', copied, 'trash', deleted],
] as const)(
  '%s into a folder that is %s at the same time, the file is where the answer says',
  async (_, __, op, ask, other, goes) => {
    files.put({ 'f/x.md': 'x', 'f/z.md': 'z', 'y.md': 'x' })
    await trash('f/x.md', 'id-1')
    const going = runPaused('waitForEntry', other, goes)
    await going.reached
    const answer = files.run(op, ask)
    await waitBriefly()
    going.go()
    await going.answer
    expect((await answer).real).toBe('f/x.md')
    expect(fs.readFileSync(inside('f/x.md'), 'utf8')).toBe('x')
  },
)

test.each([
  ['TR1 restored', 'restore', back],
  ['FT5 copied', 'copy', copied],
] as const)('%s into a folder before its move, it moves with the folder', async (_, op, ask) => {
  files.put({ 'f/x.md': 'x', 'f/z.md': 'z', 'y.md': 'x' })
  await trash('f/x.md', 'id-1')
  const coming = runPaused('waitForEntry', op, ask)
  await coming.reached
  const done: string[] = []
  const moving = files.run('move', away).then(() => done.push('moved'))
  await waitBriefly()
  expect(done).toEqual([])
  coming.go()
  await Promise.all([coming.answer, moving])
  expect(fs.readFileSync(inside('g/x.md'), 'utf8')).toBe('x')
})

test('TR1 restoring a missing item creates no folder', async () => {
  fill(trashPath(''), { 'id-1/record.json': '{"path":"a"}' })
  expect(await files.refusal('restore', { id: 'id-1', to: inWorkspace('f/a') })).toBe('not_found')
  expect(fs.readdirSync(files.workspace)).toEqual([])
})
