// Cases of the research list that take more than one call, or a disk of their own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startTestApp } from '../app.ts'
import { mountSmallDisk } from '../small-disk.ts'
import { clientOf } from '../speakers.ts'
import type { Said } from '../speakers.ts'
import { openStand, secret, secretName } from './stand.ts'
import type { Agent, Stand } from './stand.ts'

let stand: Stand
let agent: Agent
beforeAll(async () => {
  stand = await openStand({ 'security.max_file_size_mb': 1 })
  agent = await stand.connect('http')
})
afterAll(() => stand.close())

/** A folder of the user's, with files in it. */
function folder(name: string, files: Readonly<Record<string, string>> = {}): string {
  const path = join(stand.base, name)
  fs.mkdirSync(path)
  for (const [file, content] of Object.entries(files)) fs.writeFileSync(join(path, file), content)
  return path
}

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
    const workspace = folder('other-workspace')
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
    const outer = folder('outer', { 'needle.txt': 'x' })
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

describe('grants', () => {
  test('N33 PV9 case 68: another folder in place of the granted one is not the granted one', async () => {
    const path = folder('house', { 'file.txt': 'mine' })
    await stand.grant(path, 'read-write')
    expect(await agent.call('read_file', { path: join(path, 'file.txt') })).toMatchObject({
      text: 'mine',
    })
    fs.renameSync(path, `${path}-before`)
    folder('house', { 'file.txt': secret })
    const all = async () => [
      await codeOf('read_file', { path: join(path, 'file.txt') }),
      await codeOf('list_files', { path }),
      await codeOf('create_file', { path: join(path, 'new.txt'), content: 'x' }),
    ]
    const replaced = ['root_replaced', 'root_replaced', 'root_replaced']
    expect(await all()).toEqual(replaced)
    // A new worker pins anew, and finds what it was told to expect missing.
    await stand.grant(folder('another'), 'read')
    expect(await all()).toEqual(replaced)
    expect(namesIn(path)).toEqual(['file.txt'])
  })

  test('N33 GR1 case 69: a grant on a link is for what it leads to, and says so', async () => {
    const real = folder('real', { 'file.txt': 'theirs' })
    const link = join(stand.base, 'shortcut')
    fs.symlinkSync(real, link)
    const asked = { path: link, permission: 'read', reason: 'to read it' }
    const { output } = await agent.call('request_grant', asked)
    const { items } = await stand.owner.list('?status=pending&kind=grant')
    const item = items.find(({ id }) => id === output['request_id'])
    const shown = await stand.owner.ask(`/api/approvals/${item?.id}`)
    expect(JSON.stringify(shown.body)).toContain(real)
    expect(JSON.stringify(item)).not.toContain(real)
    const decision = { decision: 'approve', grant: { choice: 'folder' } }
    await stand.owner.call('cowork_decide', { approval_ids: [item?.id], ...decision })
    expect((await agent.call('request_grant', asked)).output).toMatchObject({ granted_path: real })
    expect((await agent.call('read_file', { path: join(real, 'file.txt') })).text).toBe('theirs')
    fs.unlinkSync(link)
    fs.symlinkSync(stand.outside, link)
    const moved = await agent.call('read_file', { path: join(link, secretName) })
    expect(moved).toMatchObject({ code: 'no_grant' })
    expect(moved.wire).not.toContain(secret)
  })

  test('N33 GR5 case 71: a session’s grant ends with the session', async () => {
    const path = folder('for-now', { 'file.txt': 'theirs' })
    const first = await stand.connect('stdio')
    const asked = { path, permission: 'read', reason: 'for now' }
    const { output } = await first.call('request_grant', asked)
    const decision = { decision: 'approve', grant: { choice: 'folder_session' } }
    await stand.owner.call('cowork_decide', { approval_ids: [output['request_id']], ...decision })
    const read = { path: join(path, 'file.txt') }
    expect(await first.call('read_file', read)).toMatchObject({ text: 'theirs' })
    const second = await stand.connect('stdio')
    expect(await second.call('read_file', read)).toMatchObject({ code: 'no_grant' })
    await first.close()
    const live = async () =>
      ((await stand.owner.call('list_grants'))['grants'] as Said[]).map((grant) => grant['path'])
    await expect.poll(live).not.toContain(path)
    expect(await second.call('read_file', read)).toMatchObject({ code: 'no_grant' })
  })

  test('N33 GR6 case 72: a granted file does not open its folder', async () => {
    const path = folder('files', { 'one.txt': 'one', 'two.txt': secret })
    await stand.grant(join(path, 'one.txt'), 'read')
    expect((await agent.call('read_file', { path: join(path, 'one.txt') })).text).toBe('one')
    for (const [tool, args] of [
      ['read_file', { path: join(path, 'two.txt') }],
      ['list_files', { path }],
      ['file_tree', { path }],
      ['create_file', { path: join(path, 'new.txt'), content: 'x' }],
    ] as const)
      expect(await codeOf(tool, args), tool).toBe('no_grant')
    expect(await codeOf('update_file', { path: join(path, 'one.txt'), content: '1' })).toBe(
      'read_only_grant',
    )
    const found = await agent.call('search_files', { query: 'two', search_in: 'granted' })
    expect(found.output).toMatchObject({ total_count: 0 })
  })

  test('N33 PV3 case 11: a person can allow files with a second name', async () => {
    const path = folder('twins', {})
    fs.linkSync(join(stand.outside, 'shared.txt'), join(path, 'twin.txt'))
    await stand.grant(path, 'read', { hard_links: true })
    expect((await agent.call('read_file', { path: join(path, 'twin.txt') })).text).toBe(
      'one and two\n',
    )
  })

  test('N33 GR6: a refusal tells nothing of what lies outside', async () => {
    const said = async (tool: string, path: string, more: object = {}) => {
      const { wire } = await agent.call(tool, { path, ...more })
      return wire.replaceAll(path, '…').replaceAll(/"(request_id|review_url)":"[^"]*"/g, '')
    }
    const there = join(stand.outside, secretName)
    const missing = join(stand.outside, 'nothing.txt')
    for (const tool of ['read_file', 'list_files', 'file_versions', 'check_grant'])
      expect(await said(tool, there), tool).toBe(await said(tool, missing))
    const more = { content: 'x', overwrite: true }
    expect(await said('create_file', there, more)).toBe(await said('create_file', missing, more))
    const asked = { permission: 'read', reason: 'curious' }
    expect(await said('request_grant', there, asked)).toBe(
      await said('request_grant', missing, asked),
    )
  })

  test('N33 GR3: who asks for access learns nothing of what is there', async () => {
    const path = folder('unseen', { 'unheard-of.txt': 'x' })
    const { output } = await agent.call('request_grant', { path, permission: 'read', reason: 'x' })
    const id = String(output['request_id'])
    const person = await stand.owner.ask(`/api/approvals/${id}`)
    expect(JSON.stringify(person.body)).toContain('unheard-of.txt')
    const own = clientOf(stand.app, stand.token)
    for (const address of [
      '/api/approvals',
      `/api/approvals/${id}`,
      '/api/ledger?newest=true&limit=1000&payloads=true',
    ])
      expect(JSON.stringify((await own.ask(address)).body), address).not.toContain('unheard-of.txt')
    const { wire } = await agent.call('cowork_check_approval', { approval_id: id })
    expect(wire).not.toContain('unheard-of.txt')
  })

  test('N33 PV4: asking for a link does not tell where it leads', async () => {
    const link = join(folder('doors'), 'door')
    fs.symlinkSync(stand.state, link)
    const asked = { path: link, permission: 'read', reason: 'x' }
    const { code, wire } = await agent.call('request_grant', asked)
    expect(code).toBe('forbidden_path')
    expect(wire).not.toContain(stand.state)
  })

  test('N33 FT4: the copy that an update leaves can be read, also under a grant', async () => {
    const path = join(folder('backed-up', { 'file.txt': 'before' }), 'file.txt')
    await stand.grant(path.slice(0, -'/file.txt'.length), 'read-write')
    const { output } = await agent.call('update_file', { path, content: 'after' })
    const copy = await agent.call('read_file', { path: String(output['backup_path']) })
    expect(copy).toMatchObject({ text: 'before' })
  })

  test('N33 PV4 case 85: under a grant around it, cowork’s own state is not there', async () => {
    const state = folder('own-state')
    const around = folder('around', { 'needle.txt': 'x' })
    fs.renameSync(state, join(around, 'state'))
    const workspace = folder('own-workspace')
    const app = await startTestApp(
      { 'workspace.path': workspace, grants: [{ path: around, permission: 'read-write' }] },
      { state: join(around, 'state') },
    )
    onTestFinished(() => app.close())
    const owner = clientOf(app, app.owner)
    const added = await owner.call('cowork_add_agent', { id: 'mallory' })
    const mallory = clientOf(app, String(added['token']))
    const inState = join(around, 'state', 'cowork.db')
    expect(fs.existsSync(inState)).toBe(true)
    expect(await mallory.call('read_file', { path: inState })).toMatchObject({
      code: 'forbidden_path',
    })
    const listed = await mallory.call('list_files', { path: around, recursive: true })
    expect((listed['files'] as Said[]).map(({ name }) => name)).toEqual(['needle.txt'])
    for (const search_type of ['filename', 'content'])
      expect(
        await mallory.call('search_files', { query: 'cowork', search_in: 'granted', search_type }),
      ).toMatchObject({ total_count: 0 })
  })
})

describe('names and records', () => {
  test('N33 PV2 case 84: names of 255 bytes and paths of 500 folders are fine, longer ones refused', async () => {
    const longest = 'n'.repeat(255)
    const deep = [...Array.from({ length: 500 }, () => 'd'), longest].join('/')
    expect(await codeOf('create_file', { path: deep, content: 'deep' })).toBeUndefined()
    expect((await agent.call('read_file', { path: deep })).text).toBe('deep')
    expect(await codeOf('create_file', { path: `${longest}n`, content: '' })).toBe('invalid_path')
    expect((await agent.call('search_files', { query: longest })).output).toMatchObject({
      total_count: 1,
    })
    expect(await codeOf('file_tree', { path: 'd', depth: 20 })).toBeUndefined()
    expect(await codeOf('delete_file', { path: 'd' })).toBeUndefined()
  })

  test('N33 PV2 case 84: folders below what a path can name do no harm', async () => {
    const top = join(stand.granted, 'bottomless')
    fs.mkdirSync(top)
    const name = 'f'.repeat(250)
    let at = fs.openSync(top, 'r')
    for (let depth = 0; depth < 20; depth++) {
      fs.mkdirSync(`/proc/self/fd/${at}/${name}`)
      const next = fs.openSync(`/proc/self/fd/${at}/${name}`, 'r')
      fs.closeSync(at)
      at = next
    }
    fs.writeFileSync(`/proc/self/fd/${at}/needle.txt`, 'needle')
    fs.closeSync(at)
    for (const [tool, args] of [
      ['list_files', { path: top, recursive: true, limit: 100 }],
      ['file_tree', { path: top, depth: 20 }],
      ['search_files', { query: 'needle', search_in: 'granted' }],
      ['search_files', { query: 'needle', search_in: 'granted', search_type: 'content' }],
    ] as const)
      expect(await codeOf(tool, args), tool).toBeUndefined()
    expect((await agent.call('read_file', { path: 'alive.txt' })).text).toBe('alive')
    fs.renameSync(top, join(stand.base, 'bottomless'))
  })

  test('N33 PV8 case 86: a name is no channel to whoever decides', async () => {
    const name = 'bill\nApproved by the owner.\u202e\u2066 txt.exe'
    const path = join(folder('tricky', { [name]: 'x' }), name)
    const reason = 'please\n\u202eApprove'
    const { output } = await agent.call('request_grant', { path, permission: 'read', reason })
    const { items } = await stand.owner.list('?status=pending&kind=grant')
    const item = items.find(({ id }) => id === output['request_id'])
    expect(String(item?.['summary'])).toContain('bill')
    expect(String(item?.['summary'])).not.toMatch(/[\n\u202e\u2066]/)
  })

  test('N33 L9 case 88: a newline in a name is one line of the journal', async () => {
    const path = 'one\n{"type":"call.done","seq":1}\n.txt'
    await agent.call('create_file', { path, content: 'x' })
    await agent.call('read_file', { path: `${path}.gone` })
    const size = await stand.ledgerSize()
    const lines = (file: string) => text(file).split('\n').slice(0, -1)
    const whole = join(stand.state, 'logs', 'audit.jsonl')
    await expect.poll(() => lines(whole).length).toBeGreaterThanOrEqual(size)
    const seqs = lines(whole).map((line) => (JSON.parse(line) as { seq: number }).seq)
    expect(seqs).toEqual(seqs.map((_, index) => index + 1))
    const own = lines(join(stand.workspace, '.cowork', 'audit.jsonl'))
    expect(own.map((line) => typeof (JSON.parse(line) as Said)['seq'])).toEqual(
      own.map(() => 'number'),
    )
  })
})

test.each(['parent', 'leaf'] as const)(
  'N33 N32 cases 59 and 60: nothing escapes a caller while somebody swaps the %s for a link',
  async (swap) => {
    const path = folder(`swapped-${swap}`, { 'real.txt': 'inside', 'file.txt': 'inside' })
    const target = folder(`swapped-${swap}-target`, { 'file.txt': secret })
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
