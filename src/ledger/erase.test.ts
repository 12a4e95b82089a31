import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import type { Caller } from '#base/caller.ts'
import { systemActor } from '#base/entry.ts'
import type { Call, Tool } from '#base/tool.ts'
import { openTestLedger } from '../../test/ledger.ts'
import type { TestLedger } from '../../test/ledger.ts'
import { exportNames, folderSource } from './sources.ts'
import { createLedgerStore } from './store.ts'
import { ledgerTools } from './tools.ts'
import { verifyLedger } from './verify.ts'

const person: Caller = {
  kind: 'human',
  id: 'ann',
  session: 's1',
  verified: true,
  scopes: ['*'],
  role: 'owner',
}

let open: TestLedger | undefined
afterEach(async () => {
  vi.useRealTimers()
  await open?.close()
  open = undefined
})

async function setup() {
  open = await openTestLedger()
  const { ledger } = open
  for (let i = 0; i < 5; i++)
    await ledger.record({ type: 'note.taken', actor: systemActor, payload: { i } })
  return open
}

const findTool = ({ ledger }: TestLedger): Tool => {
  const tool = ledgerTools(ledger).find(({ name }) => name === 'cowork_redact')
  if (!tool) throw new Error('there is no cowork_redact')
  return tool
}

/** Writes a folder like `cowork audit export`. */
async function exported({ db, ledger }: TestLedger): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'cowork-export-'))
  const store = createLedgerStore('sqlite')
  await ledger.prove(await ledger.size())
  const rows = await store.page(db, 0, 1000)
  const lines = (values: readonly object[]) => values.map((v) => `${JSON.stringify(v)}\n`).join('')
  const write = (name: keyof typeof exportNames, text: string) =>
    writeFileSync(join(folder, exportNames[name]), text)
  write('entries', rows.map(({ body }) => `${body}\n`).join(''))
  write('payloads', lines(await ledger.payloads(rows.map(({ seq }) => seq))))
  write('checkpoints', lines(await ledger.checkpoints()))
  write('key', ledger.vkey)
  return folder
}

async function verifiedFolder(folder: string) {
  const { source, vkey } = folderSource(folder)
  return verifyLedger(source, vkey, { deep: true })
}

test('L8 cowork_redact requires an owner and a reason and erases the payload', async () => {
  const world = await setup()
  const tool = findTool(world)
  expect(tool).toMatchObject({ by: 'human', role: 'owner', effect: 'destructive' })
  for (const reason of ['', '   ', undefined])
    expect(tool.input.safeParse({ seq: 2, reason }).success).toBe(false)
  const call: Call = {
    id: 'c1',
    caller: person,
    signal: new AbortController().signal,
    progress: () => undefined,
    addDetails: () => undefined,
  }
  const input = tool.input.parse({ seq: 2, reason: ' left the company ' })
  expect(await world.ledger.transact(async (tx) => tool.transact?.(tx, input, call))).toEqual({
    seq: 2,
    erased: true,
  })
  expect(await world.ledger.entry(2)).not.toHaveProperty('payload')
  expect(await world.ledger.entry(3)).toHaveProperty('payload', { i: 2 })
  expect((await world.entries()).at(-1)).toMatchObject({
    type: 'payload.erased',
    actor: { kind: 'human', id: 'ann', session: 's1' },
    data: { reason: 'left the company' },
  })
})

test('L8 an exported folder distinguishes an erased payload from a lost one', async () => {
  const world = await setup()
  await world.ledger.transact((tx) =>
    world.ledger.erase(tx, 2, 'asked to', { kind: 'human', id: 'ann' }),
  )
  const folder = await exported(world)
  expect(await verifiedFolder(folder)).toMatchObject({ ok: true, entries: 6, signed: 6 })
  writeFileSync(join(folder, exportNames.payloads), '')
  expect((await verifiedFolder(folder)).problems.map(({ seq }) => seq)).toEqual([1, 3, 4, 5])
})

test('L8 payloads past their retention are erased at the start and later', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  const { ledger } = await setup()
  const count = async () => (await ledger.payloads([1, 2, 3, 4, 5])).length
  ledger.startPayloadExpiry(2)
  expect(await count()).toBe(5)
  await vi.advanceTimersByTimeAsync(2 * 86_400_000)
  // The next run is scheduled after the first one, which takes real time.
  const later = async () => (await vi.advanceTimersByTimeAsync(3_600_000), count())
  await expect.poll(later).toBe(0)
  const entries = await ledger.find({ types: ['payload.expired'], limit: 9 })
  expect(entries).toHaveLength(1)
})
