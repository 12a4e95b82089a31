// Cases 83 and 90, and what ends when a person says so: many calls, large folders, a search that is under way.
import fs from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Said } from '../speakers.ts'
import { openStand, secret } from './stand.ts'
import type { Agent, Stand } from './stand.ts'

let stand: Stand
let agent: Agent
beforeAll(async () => {
  // One agent makes all the calls here; how many it may have under way is another rule.
  stand = await openStand({ 'server.limits.calls_in_flight': 1000 })
  agent = await stand.connect('http')
})
afterAll(() => stand.close())

/** The file workers of this process, by their command line. */
function workers(): string[] {
  const children = fs.readdirSync('/proc/self/task').flatMap((thread) => {
    const file = `/proc/self/task/${thread}/children`
    return fs.readFileSync(file, 'utf8').split(' ').filter(Boolean)
  })
  return children.filter((pid) => readProc(pid, 'cmdline').includes('files/worker/main'))
}

/** Returns an empty string if the process has ended. */
function readProc(pid: string, name: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

const rssOf = (pid: string) =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readProc(pid, 'status'))?.[1]) * 1024
/** Without connections, which come and go with those who call. */
const descriptorsOf = (pid: string) =>
  fs
    .readdirSync(`/proc/${pid}/fd`)
    .map((fd) => readLink(`/proc/${pid}/fd/${fd}`))
    .filter((target) => target !== '' && !target.startsWith('socket:')).length

/** Empty for one that is closed again, as the one that looked. */
function readLink(path: string): string {
  try {
    return fs.readlinkSync(path)
  } catch {
    return ''
  }
}

async function onlyWorker(): Promise<string> {
  await expect.poll(workers).toHaveLength(1)
  return workers()[0] ?? ''
}

/** As many files as are asked for, in folders of a thousand. */
function fillTree(root: string, count: number, content: (n: number) => string): void {
  for (let n = 0; n < count; n++) {
    const folder = join(root, `folder-${Math.floor(n / 1000)}`)
    if (n % 1000 === 0) fs.mkdirSync(folder, { recursive: true })
    fs.writeFileSync(join(folder, `file-${n}.txt`), content(n))
  }
}

/** Measured: about 0.7 s for each megabyte, so that there is time to change one's mind. */
const slowText = (n: number) => `line ${n}\n`.repeat(4000)
const slowSearch = {
  query: '(l|ine|in|e| |[0-9]){1,8}[!?]',
  search_in: 'granted',
  search_type: 'regex',
}

test('GR4 a search under way ends within a second of the revocation, others are answered', async () => {
  const path = join(stand.base, 'searched')
  fillTree(path, 500, slowText)
  const grant = await stand.grant(path, 'read')
  const other = await stand.connect('stdio')
  let isEnded = false
  const searching = agent
    .call('search_files', { ...slowSearch, path })
    .finally(() => (isEnded = true))
  const reading = Promise.all(
    Array.from({ length: 20 }, () => other.call('read_file', { path: 'alive.txt' })),
  )
  await reading
  expect(isEnded).toBe(false)

  const revoking = stand.owner.call('revoke_grant', { grant_id: grant })
  const written = other.call('create_file', { path: 'meanwhile.txt', content: 'written' })
  expect(await revoking).toMatchObject({ success: true })
  const committed = performance.now()
  const { code, wire } = await searching
  expect(performance.now() - committed).toBeLessThan(1000)
  expect(code).toBe('no_grant')
  expect(wire).not.toContain('line 1')

  expect(await agent.call('read_file', { path: join(path, 'folder-0/file-0.txt') })).toMatchObject({
    code: 'no_grant',
  })
  // A write of others is done, or said not to be known; never half of it.
  const { code: fate } = await written
  expect([undefined, 'interrupted']).toContain(fate)
  const file = join(stand.workspace, 'meanwhile.txt')
  if (fate === undefined) expect(fs.readFileSync(file, 'utf8')).toBe('written')
  expect((await other.call('read_file', { path: 'alive.txt' })).text).toBe('alive')
})

test('GR4 after a revocation no process is left that could read the files', async () => {
  const path = join(stand.base, 'revoked')
  fs.mkdirSync(path)
  fs.writeFileSync(join(path, 'file.txt'), secret)
  const before = await onlyWorker()
  const grant = await stand.grant(path, 'read')
  expect((await agent.call('read_file', { path: join(path, 'file.txt') })).text).toBe(secret)
  const during = await onlyWorker()
  expect(during).not.toBe(before)
  await stand.owner.call('revoke_grant', { grant_id: grant })
  expect(workers()).not.toContain(during)
  expect((await agent.call('read_file', { path: 'alive.txt' })).text).toBe('alive')
})

test('N33 PV3 case 90: of 200 calls at once each is answered, and no descriptor is left open', async () => {
  const path = join(stand.granted, 'many')
  fillTree(path, 3000, (n) => `number ${n}`)
  fs.symlinkSync(stand.outside, join(path, 'out'))
  const round = () =>
    Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const file = join(path, 'folder-0', `file-${n}.txt`)
        const calls = [
          () => agent.call('read_file', { path: file }),
          () => agent.call('create_file', { path: `many-${n}.txt`, content: 'x', overwrite: true }),
          () => agent.call('list_files', { path }),
          () => agent.call('search_files', { query: 'number 99', search_in: 'granted' }),
          () => agent.call('read_file', { path: join(path, 'out', 'x') }),
          () => agent.call('read_file', { path: join(path, 'none') }),
          () => agent.call('update_file', { path: file, edits: [{ old: 'none', new: '' }] }),
          () => agent.call('copy_file', { source: file, destination: 'alive.txt' }),
        ]
        return calls[n % calls.length]?.()
      }),
    )
  const refused = ['path_escape', 'not_found', 'no_match', 'exists']
  const expected = ['done', 'done', 'done', 'done', ...refused]
  await round()
  const worker = await onlyWorker()
  const before = descriptorsOf(worker)
  const own = descriptorsOf('self')
  for (let turn = 0; turn < 3; turn++) {
    const codes = (await round()).map((reply) => reply?.code ?? 'done')
    expect(codes).toEqual(codes.map((_, n) => expected[n % expected.length]))
  }
  expect(await onlyWorker()).toBe(worker)
  await expect.poll(() => descriptorsOf(worker)).toBeLessThanOrEqual(before)
  await expect.poll(() => descriptorsOf('self')).toBeLessThanOrEqual(own)
})

test('N33 PV7 case 90: a small read does not wait for a slow expression in a large file', async () => {
  const path = join(stand.granted, 'long')
  fillTree(path, 1, (n) => slowText(n).repeat(100))
  let isEnded = false
  const searching = agent.call('search_files', slowSearch).finally(() => (isEnded = true))
  for (let n = 0; n < 3; n++)
    expect((await agent.call('read_file', { path: 'alive.txt' })).text).toBe('alive')
  expect(isEnded).toBe(false)
  expect((await searching).code).toBeUndefined()
})

test('N33 FT3 case 83: a folder of 100,000 files is listed page by page in little memory', async () => {
  const path = join(stand.granted, 'large')
  fs.mkdirSync(path)
  const count = 100_000
  for (let n = 0; n < count; n++) {
    fs.closeSync(fs.openSync(join(path, `file-${n}`), 'w'))
    // The daemon lives in this process, and so do its connections.
    if (n % 1000 === 0) await setImmediate()
  }
  const worker = await onlyWorker()
  await agent.call('list_files', { path, limit: 1000 })
  const before = rssOf(worker)
  let most = before
  const seen = new Set<string>()
  let cursor: unknown
  do {
    const args = { path, limit: 10_000, ...(cursor !== undefined && { cursor }) }
    const { output } = await agent.call('list_files', args)
    for (const { name } of output['files'] as Said[]) seen.add(String(name))
    cursor = output['next_cursor']
    most = Math.max(most, rssOf(worker))
  } while (cursor !== undefined)
  expect(seen.size).toBe(count)
  expect(await onlyWorker()).toBe(worker)
  expect(most - before).toBeLessThan(100 * 2 ** 20)
})
