import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { anna } from '../../../test/acts.ts'
import { sqliteStore } from '../../../test/governed.ts'
import { createWorld } from '../../../test/granted.ts'

const world = () => createWorld(sqliteStore())

test('GR3 the answer is the same whether something is there or not; people are told', async () => {
  const { start, docs } = await world()
  const here = await start()
  const there = await here.ask(join(docs, 'report.txt'), here.sales)
  const missing = await here.ask(join(docs, 'nothing.txt'), here.sales)
  expect(Object.keys(there)).toEqual(Object.keys(missing))
  expect(missing).toMatchObject({ status: 'pending', message: there['message'] })
  const { inbox } = here.governance
  const detail = (id: unknown, by = anna) => inbox.detail(by, String(id))
  expect(await detail(missing['request_id'])).toMatchObject({
    summary: `AI wants to read files in: ${join(docs, 'nothing.txt')}`,
    grant: { missing: true, is_folder: false, folder: docs, inside: null },
  })
  const asAgent = await detail(missing['request_id'], here.sales)
  expect(asAgent).toMatchObject({ kind: 'grant' })
  expect(asAgent).not.toHaveProperty('grant')
  const theirs = await detail(there['request_id'], here.sales)
  expect(Object.keys(theirs ?? {})).toEqual(Object.keys(asAgent ?? {}))
  expect(await here.allow(missing['request_id'], 'file')).toMatchObject({
    error: { code: 'not_found' },
  })
  expect(await here.allow(missing['request_id'], 'folder')).toMatchObject({
    status: 'approved',
  })
  expect(await here.check(docs, here.sales)).toMatchObject({ has_access: true })
})

test('GR3 people see what is inside and what is sensitive before they open it', async () => {
  const { start, docs } = await world()
  const here = await start()
  const { request_id: id } = await here.ask(docs, here.sales, { reason: 'to sort it' })
  expect(await here.governance.inbox.detail(anna, String(id))).toMatchObject({
    kind: 'grant',
    domain: 'files',
    target: docs,
    reasoning: 'to sort it',
    change: { path: docs, permission: 'read', reason: 'to sort it' },
    grant: {
      path: docs,
      real: docs,
      permission: 'read',
      is_folder: true,
      missing: false,
      inside: { files: 3, folders: 1, bytes: 15, capped: false },
      sensitive: ['credentials.json'],
    },
  })
})

test('GR3, PV4 of what no grant opens nothing is shown as if this one did', async () => {
  const { start, home } = await world()
  mkdirSync(join(home, '.aws'))
  writeFileSync(join(home, '.aws', 'credentials.json'), '{}')
  const here = await start()
  const { request_id: id } = await here.ask(home, here.sales)
  expect(await here.governance.inbox.detail(anna, String(id))).toMatchObject({
    grant: {
      inside: {
        files: 3,
        sample: [
          'AI/',
          'Documents/',
          'Documents/credentials.json',
          'Documents/report.txt',
          'Documents/Work/',
          'Documents/Work/plan.md',
        ],
      },
      sensitive: ['Documents/credentials.json'],
    },
  })
})

test('GR3 a request for a missing path or a file directly in the home does not offer the home', async () => {
  const { start, home } = await world()
  const here = await start()
  writeFileSync(join(home, 'loose.txt'), 'x')
  symlinkSync(home, join(home, '..', 'me'))
  const missing = await here.ask('~/Dokuments', here.sales)
  const top = await here.ask('/Dokuments', here.sales)
  const linked = await here.ask(join(home, '..', 'me', 'none'), here.sales)
  const loose = await here.ask('~/loose.txt', here.sales)
  for (const { request_id: id } of [missing, top, linked, loose]) {
    expect(await here.governance.inbox.detail(anna, String(id))).toMatchObject({
      risk: 'normal',
      grant: { folder: null },
    })
    for (const choice of ['folder', 'folder_write', 'folder_session'])
      expect(await here.allow(id, choice)).toMatchObject({ status: 'error' })
  }
  expect(Object.keys(missing)).toEqual(Object.keys(loose))
  expect(await here.allow(loose['request_id'], 'file')).toMatchObject({ status: 'approved' })
  expect(await here.listed(anna)).toMatchObject([{ path: join(home, 'loose.txt') }])
})

test('GR3 what holds the home is high risk, and says so plainly', async () => {
  const { start, home, root, docs } = await world()
  const here = await start()
  symlinkSync(home, join(docs, 'everything'))
  for (const [path, summary, warning] of [
    ['~', `AI wants to read your home folder: ${home}`, 'This is your home folder'],
    ['/', 'AI wants to read the entire disk: /', 'This is the entire disk'],
    [root, `AI wants to read files in: ${root}`, 'This contains your home folder'],
    // Where a link leads is for people alone.
    [
      join(docs, 'everything'),
      `AI wants to read files in: ${join(docs, 'everything')}`,
      'This is your home folder',
    ],
  ]) {
    const { request_id: id } = await here.ask(String(path), here.sales)
    const shown = await here.governance.inbox.detail(anna, String(id))
    expect(shown).toMatchObject({
      summary,
      risk: 'high',
      grant: { warning: expect.stringContaining(String(warning)) },
    })
  }
  const { request_id: id } = await here.ask(docs, here.sales)
  const plain = await here.governance.inbox.detail(anna, String(id))
  expect(plain).toMatchObject({ risk: 'normal' })
  expect(plain?.grant).not.toHaveProperty('warning')
})

test('GR3 people see the first names in order, and how many more there are', async () => {
  const { start, docs } = await world()
  const here = await start()
  const names = ['m.txt', 'b.txt', 'zz.txt', 'k.txt', 'a.txt', 'Inbox.txt', 'x10.txt', 'x9.txt']
  for (const name of names) writeFileSync(join(docs, 'Work', name), '')
  const { request_id: id } = await here.ask(join(docs, 'Work'), here.sales)
  const shown = await here.governance.inbox.detail(anna, String(id))
  expect(shown?.grant).toMatchObject({
    inside: {
      files: 9,
      sample: ['a.txt', 'b.txt', 'Inbox.txt', 'k.txt', 'm.txt', 'plan.md', 'x9.txt', 'x10.txt'],
    },
  })
})
