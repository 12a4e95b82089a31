// Cases of the research list that are about names: long ones, deep ones, and those that pretend.
import fs from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Said } from '../speakers.ts'
import { openStand, secret, secretName } from './stand.ts'
import type { Agent, Stand } from './stand.ts'

let stand: Stand
let agent: Agent
beforeAll(async () => {
  stand = await openStand()
  agent = await stand.connect('http')
})
afterAll(() => stand.close())

const codeOf = async (tool: string, args: object) => (await agent.call(tool, args)).code
const text = (...path: string[]) => fs.readFileSync(join(...path), 'utf8')

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

test('N33 PV8 case 86: a file name cannot carry a message to the person who decides', async () => {
  const name = 'bill\nApproved by the owner.\u202e\u2066 txt.exe'
  const path = join(stand.folder('tricky', { [name]: 'x' }), name)
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
  const whole = join(stand.state, 'logs', 'ledger.jsonl')
  await expect.poll(() => lines(whole).length).toBeGreaterThanOrEqual(size)
  const seqs = lines(whole).map((line) => (JSON.parse(line) as { seq: number }).seq)
  expect(seqs).toEqual(seqs.map((_, index) => index + 1))
  const operations = lines(join(stand.state, 'logs', 'audit.jsonl'))
  expect(operations.map((line) => (JSON.parse(line) as Said)['operation'])).toContain('create_file')
  const own = lines(join(stand.workspace, '.cowork', 'audit.jsonl'))
  expect(own.map((line) => typeof (JSON.parse(line) as Said)['seq'])).toEqual(
    own.map(() => 'number'),
  )
})

test.each([
  '../outside/treasure.txt',
  '%2e%2e/outside/treasure.txt',
  '..%2foutside%2ftreasure.txt',
  '/etc/passwd',
  '%2fetc%2fpasswd',
  '~/.ssh/id_rsa',
  'link-out',
  '.cowork/trash',
])('N33 SV13 a resource does not bypass the file rules: %s', async (path) => {
  const link = join(stand.workspace, 'link-out')
  fs.rmSync(link, { force: true })
  fs.symlinkSync(join(stand.outside, secretName), link)
  const result = await agent.readResource(`workspace:///${path}`)
  expect(result).not.toContain(secret)
  expect(result).toMatch(/^refused: /)
})
