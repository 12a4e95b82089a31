// Cases of the research list that are about the disk: the trash, full and other disks, links that come and go.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startTestApp } from '../app.ts'
import { mountSmallDisk } from '../small-disk.ts'
import { openStand, secret } from './stand.ts'
import type { Agent, Stand } from './stand.ts'

let stand: Stand
let agent: Agent
beforeAll(async () => {
  stand = await openStand({ 'security.max_file_size_mb': 1 })
  agent = await stand.connect('http')
})
afterAll(() => stand.close())

const codeOf = async (tool: string, args: object) => (await agent.call(tool, args)).code
const text = (...path: string[]) => fs.readFileSync(join(...path), 'utf8')
const namesIn = (path: string) => fs.readdirSync(path).toSorted()

describe('what was deleted', () => {
  test('N33 TR1 cases 56 X05 and 79: it comes back, and never over another', async () => {
    const path = 'plan.txt'
    await agent.call('create_file', { path, content: 'the first' })
    const { output } = await agent.call('delete_file', { path })
    const trash_id = String(output['trash_id'])
    await agent.call('create_file', { path, content: 'the second' })
    expect(await codeOf('trash_restore', { trash_id })).toBe('exists')
    expect(await codeOf('trash_restore', { trash_id, destination: 'alive.txt' })).toBe('exists')
    expect(text(stand.workspace, path)).toBe('the second')
    expect(await codeOf('trash_restore', { trash_id, destination: 'plan-1.txt' })).toBeUndefined()
    expect(text(stand.workspace, 'plan-1.txt')).toBe('the first')
  })

  test('N33 F6 case 85: it is not read, listed or found in the trash', async () => {
    await agent.call('create_file', { path: 'gone.txt', content: 'quicksilver' })
    await agent.call('delete_file', { path: 'gone.txt' })
    expect(namesIn(join(stand.workspace, '.cowork', 'trash'))).not.toEqual([])
    for (const search_type of ['filename', 'content'])
      for (const query of ['gone.txt', 'quicksilver', 'record.json'])
        expect((await agent.call('search_files', { query, search_type })).output).toMatchObject({
          results: [],
        })
    const { wire } = await agent.call('list_files', { path: '', recursive: true })
    expect(wire).not.toContain('record.json')
  })

  test.each([
    ['is open to all', (trash: string) => fs.chmodSync(trash, 0o777)],
    [
      'is a link',
      (trash: string) => {
        fs.renameSync(trash, `${trash}-before`)
        fs.symlinkSync(stand.outside, trash)
      },
    ],
    ['belongs to another', (trash: string) => fs.chownSync(trash, 12345, 12345)],
  ])('N33 TR2 case 78: nothing goes into a trash that %s', async (_, spoil) => {
    const trash = join(stand.workspace, '.cowork', 'trash')
    onTestFinished(() => {
      if (fs.lstatSync(trash).isSymbolicLink()) {
        fs.unlinkSync(trash)
        fs.renameSync(`${trash}-before`, trash)
      }
      fs.chmodSync(trash, 0o700)
      fs.chownSync(trash, process.getuid?.() ?? 0, process.getgid?.() ?? 0)
    })
    fs.writeFileSync(join(stand.workspace, 'mine.txt'), 'mine')
    const before = stand.around()
    spoil(trash)
    expect(await codeOf('delete_file', { path: 'mine.txt' })).toMatch(/no_permission|root_replaced/)
    expect(text(stand.workspace, 'mine.txt')).toBe('mine')
    expect(stand.around()).toEqual(before)
  })

  test('N33 TR2 case 78: a daemon does not start on a trash that is a link', async () => {
    const workspace = stand.folder('other-workspace')
    fs.mkdirSync(join(workspace, '.cowork'))
    fs.symlinkSync(stand.outside, join(workspace, '.cowork', 'trash'))
    await expect(startTestApp({ 'workspace.path': workspace })).rejects.toMatchObject({
      code: 'workspace_unusable',
    })
  })
})

describe('disks', () => {
  test('N33 N31 case 66: a full disk leaves the old content and nothing half done', async () => {
    const disk = mountSmallDisk(join(stand.base, 'small'), 512)
    onTestFinished(() => disk.remove())
    fs.writeFileSync(join(disk.path, 'kept.txt'), 'kept '.repeat(60_000))
    await stand.grant(disk.path, 'read-write')
    const path = join(disk.path, 'kept.txt')
    const content = 'new '.repeat(100_000)
    expect(await codeOf('update_file', { path, content, create_backup: false })).toBe('disk_full')
    expect(await codeOf('update_file', { path, content })).toBe('disk_full')
    expect(await codeOf('create_file', { path: join(disk.path, 'b'), content })).toBe('disk_full')
    expect(namesIn(disk.path)).toEqual(['kept.txt'])
    expect(text(path)).toBe('kept '.repeat(60_000))
  })

  test('N33 N31 case 66: a disk that may not be written', async () => {
    const disk = mountSmallDisk(join(stand.base, 'frozen'), 512)
    onTestFinished(() => disk.remove())
    fs.writeFileSync(join(disk.path, 'kept.txt'), 'kept')
    await stand.grant(disk.path, 'read-write')
    disk.setReadOnly()
    const path = join(disk.path, 'kept.txt')
    expect(await codeOf('update_file', { path, content: 'new' })).toBe('read_only_disk')
    expect(await agent.call('read_file', { path })).toMatchObject({ text: 'kept' })
  })

  test('N33 PV9 case 76: another disk inside a granted folder is another folder', async () => {
    const outer = stand.folder('outer', { 'needle.txt': 'x' })
    const disk = mountSmallDisk(join(outer, 'deep', 'mounted'), 512)
    onTestFinished(() => disk.remove())
    fs.writeFileSync(join(disk.path, 'needle-too.txt'), secret)
    await stand.grant(outer, 'read-write')
    const path = join(disk.path, 'needle-too.txt')
    expect(await codeOf('read_file', { path })).toBe('other_device')
    expect(await codeOf('list_files', { path: disk.path })).toBe('other_device')
    expect(await codeOf('create_file', { path: `${path}.new`, content: 'x' })).toBe('other_device')
    const moved = { source: join(outer, 'deep'), destination: join(outer, 'moved') }
    expect(await codeOf('move_file', moved)).toBe('other_device')
    const found = await agent.call('search_files', { query: 'needle', search_in: 'granted' })
    expect(found.text).toContain('needle.txt')
    expect(found.wire).not.toContain('needle-too')
    const listed = await agent.call('list_files', { path: outer, recursive: true })
    expect(listed.wire).not.toContain('needle-too')
  })

  test('N33 F4 case 67: beyond the limit nothing is written', async () => {
    const content = 'x'.repeat(2 ** 20 + 1)
    const path = 'large.txt'
    expect(await codeOf('create_file', { path, content })).toBe('too_large')
    fs.writeFileSync(join(stand.granted, 'large.txt'), content)
    const copied = { source: join(stand.granted, 'large.txt'), destination: path }
    expect(await codeOf('copy_file', copied)).toBe('too_large')
    fs.writeFileSync(join(stand.workspace, 'small.txt'), 'small')
    expect(await codeOf('update_file', { path: 'small.txt', content })).toBe('too_large')
    const edits = [{ old: 'small', new: content }]
    expect(await codeOf('update_file', { path: 'small.txt', edits })).toBe('too_large')
    expect(fs.existsSync(join(stand.workspace, path))).toBe(false)
    expect(text(stand.workspace, 'small.txt')).toBe('small')
  })

  test('N33 PV9 case 81: what may lie in a cloud only is not copied', async () => {
    fs.writeFileSync(join(stand.granted, 'photo.jpg'), '')
    fs.truncateSync(join(stand.granted, 'photo.jpg'), 500_000)
    const copied = { source: join(stand.granted, 'photo.jpg'), destination: 'photo.jpg' }
    expect(await codeOf('copy_file', copied)).toBe('cloud_placeholder')
    expect(await codeOf('read_file', { path: copied.source })).toBe('cloud_placeholder')
    expect(fs.existsSync(join(stand.workspace, 'photo.jpg'))).toBe(false)
  })
})

test.each(['parent', 'leaf'] as const)(
  'N33 N32 cases 59 and 60: nothing escapes a caller while somebody swaps the %s for a link',
  async (swap) => {
    const path = stand.folder(`swapped-${swap}`, { 'real.txt': 'inside', 'file.txt': 'inside' })
    const target = stand.folder(`swapped-${swap}-target`, { 'file.txt': secret })
    fs.mkdirSync(join(path, 'dir'))
    fs.writeFileSync(join(path, 'dir', 'file.txt'), 'inside')
    fs.symlinkSync(target, join(path, 'dir-link'))
    await stand.grant(path, 'read-write', { hard_links: true })
    const attacker = spawn(
      process.execPath,
      [join(import.meta.dirname, '..', 'race', 'attacker.ts'), swap, path, target],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const ended = once(attacker, 'exit')
    await once(attacker.stdout, 'data')
    const file = join(path, swap === 'parent' ? 'dir/file.txt' : 'file.txt')
    const codes = new Set<string | undefined>()
    for (let round = 0; round < 200; round++) {
      const read = await agent.call('read_file', { path: file })
      expect(read.wire).not.toContain(secret)
      const content = `written ${round}`
      const wrote = await agent.call('create_file', { path: file, content, overwrite: true })
      codes.add(read.code).add(wrote.code)
    }
    attacker.kill('SIGKILL')
    await ended
    expect(codes).toContain('path_escape')
    expect(namesIn(target)).toEqual(['file.txt'])
    expect(text(target, 'file.txt')).toBe(secret)
  },
)
