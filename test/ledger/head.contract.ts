import { describe, expect, test } from 'vitest'
import { acceptEntries } from '../../src/ledger/check-head.ts'
import { createKey } from '../../src/ledger/checkpoint.ts'
import { buildDraft, forge, setupLedger, unlockEntries } from './ledger.fixture.ts'
import type { Engine } from './ledger.fixture.ts'
import { createHeadMac } from '../../src/ledger/head-mac.ts'
import type { Entry } from '../../src/ledger/model.ts'
import { decodeFrontier, computeRoot } from '../../src/ledger/tree.ts'

type World = Awaited<ReturnType<typeof setupLedger>>

const refused = { code: 'ledger_unproven', hint: expect.stringContaining('cowork ledger accept') }

/** Attacks by someone with write access to the store but without the key, on both engines (L14). */
export function headContract(engine: Engine) {
  const { dialect } = engine

  async function record(world: World, count: number, end: 'stop' | 'crash' = 'stop') {
    const running = await world.start()
    for (let i = 0; i < count; i++)
      await running.ledger.record(buildDraft('thing.done', { subject: `n${i}` }))
    const entries = await running.ledger.find({ limit: 1000 })
    await running[end]()
    return entries
  }
  const setup = () => setupLedger(engine)
  const invented = (entries: readonly Entry[], count: number) =>
    entries
      .slice(0, 1)
      .flatMap((entry) => Array<Entry>(count).fill({ ...entry, subject: 'invented' }))
  const rewrite = (entries: readonly Entry[]) =>
    entries.map((entry) => (entry.seq === 3 ? { ...entry, subject: 'rewritten' } : entry))
  const withoutMac = 'UPDATE ledger_head SET mac = NULL'
  const withoutCheckpoints = 'DELETE FROM ledger_checkpoint'

  /** Verifies with and without the private key, and starts the daemon. */
  async function attempts(world: World) {
    const results = [await world.verify(true, world.headMac()), await world.verify()]
    const start = await world.start().then(
      () => 'started',
      (error: unknown) => error,
    )
    return { found: results.map(({ ok, firstBad }) => ({ ok, seq: firstBad?.seq })), start }
  }
  const refusedFrom = (seq: number) => ({
    found: [
      { ok: false, seq },
      { ok: false, seq },
    ],
    start: expect.objectContaining(refused),
  })

  describe(`the head of the ledger on ${dialect}`, () => {
    test('RS1 L14 an unsigned tail with a valid MAC is intact, and the next start signs it', async () => {
      const world = await setup()
      await record(world, 5)
      await record(world, 3, 'crash')
      expect(await world.verify(true, world.headMac())).toMatchObject({
        ok: true,
        signed: 5,
        unsigned: { from: 6, to: 8, intact: true },
      })
      expect(await world.verify()).toMatchObject({
        ok: false,
        firstBad: { seq: 6 },
        unsigned: { from: 6, to: 8, intact: false },
      })
      await record(world, 0)
      const { unsigned, ...result } = await world.verify()
      expect(result).toMatchObject({ ok: true, signed: 8 })
      expect(unsigned).toBeUndefined()
    })

    test('RS1 L14 a crash before the first checkpoint does not stop the next start', async () => {
      const world = await setup()
      await record(world, 2, 'crash')
      await record(world, 1)
      expect(await world.verify()).toMatchObject({ ok: true, signed: 3 })
    })

    test.each([
      ['with its old MAC', []],
      ['without a MAC', [withoutMac]],
      ['with the MAC of another key', []],
    ])('RS1 a store rewritten without the key, %s, is refused', async (how, more) => {
      const world = await setup()
      const entries = await record(world, 300)
      world.copies.length = 0
      await world.tamper(...forge(dialect, rewrite(entries)), withoutCheckpoints, ...more)
      if (how.includes('another key')) await forgeMac(world)
      expect(await attempts(world)).toEqual(refusedFrom(1))
    })

    async function forgeMac(world: World) {
      const snapshot = await world.snapshot()
      const [head = { size: 0, frontier: '' }] = await snapshot.all<{
        size: number
        frontier: string
      }>({
        sql: 'SELECT size, frontier FROM ledger_head',
        parameters: [],
      })
      await snapshot.close()
      const { size, frontier } = head
      const mac = createHeadMac(createKey().key).compute(
        size,
        computeRoot(decodeFrontier(size, frontier)),
      )
      await world.tamper(`UPDATE ledger_head SET mac = '${mac}'`)
    }

    test.each([
      ['its old MAC', []],
      ['no MAC', [withoutMac]],
    ])('RS1 invented entries after the last checkpoint are refused, with %s', async (_, more) => {
      const world = await setup()
      const entries = await record(world, 5)
      await world.tamper(...forge(dialect, [...entries, ...invented(entries, 50)]), ...more)
      expect(await attempts(world)).toEqual(refusedFrom(6))
    })

    test('RS1 a rewritten tail under an unchanged head is refused', async () => {
      const world = await setup()
      await record(world, 5)
      await record(world, 3, 'crash')
      await world.tamper(
        ...unlockEntries(dialect),
        `UPDATE ledger_entry SET body = replace(body, '"n1"', '"n9"'), subject = 'n9' WHERE seq = 7`,
      )
      expect(await attempts(world)).toEqual(refusedFrom(7))
    })

    test('RS1 L14 a store of an older version starts if a checkpoint signs its head', async () => {
      const world = await setup()
      await record(world, 5)
      await world.tamper(withoutMac)
      expect(await world.verify()).toMatchObject({ ok: true, signed: 5 })
      await record(world, 2, 'crash')
      expect(await world.verify(true, world.headMac())).toMatchObject({ ok: true, signed: 5 })
    })

    test('RS1 L14 the unsigned tail of an older version is refused until it is accepted', async () => {
      const world = await setup()
      await record(world, 5)
      await record(world, 3, 'crash')
      await world.tamper(withoutMac)
      expect(await attempts(world)).toEqual(refusedFrom(6))
      expect(await world.verify()).toMatchObject({ acceptable: true })
    })

    test('RS1 L14 a running daemon does not extend or sign a forged head', async () => {
      const world = await setup()
      const entries = await record(world, 5)
      const { ledger, stop } = await world.start()
      await world.tamper(...forge(dialect, [...entries, ...invented(entries, 1)]))
      await expect(ledger.record(buildDraft('thing.done'))).rejects.toMatchObject({
        code: 'ledger_head_changed',
      })
      await stop()
      expect(await attempts(world)).toEqual(refusedFrom(6))
    })

    /** Copies the head with its valid MAC, to restore it later. */
    async function replayOf(world: World) {
      const snapshot = await world.snapshot()
      const [head = {}] = await snapshot.all<Record<string, string | number>>({
        sql: 'SELECT size, at, hash, frontier, mac FROM ledger_head',
        parameters: [],
      })
      await snapshot.close()
      const set = Object.entries(head).map(([name, value]) => `${name} = '${value}'`)
      return [
        ...unlockEntries(dialect),
        `DELETE FROM ledger_entry WHERE seq > ${head['size']}`,
        `DELETE FROM ledger_checkpoint WHERE size > ${head['size']}`,
        `UPDATE ledger_head SET ${set.join(', ')}`,
      ]
    }

    test('RS1 L14 a running daemon does not extend a restored older head', async () => {
      const world = await setup()
      await record(world, 5)
      const replay = await replayOf(world)
      const { ledger, stop } = await world.start()
      await ledger.record(buildDraft('thing.done', { subject: 'hidden' }))
      await ledger.record(buildDraft('thing.done'))
      await world.tamper(...replay)
      await expect(ledger.record(buildDraft('thing.done'))).rejects.toMatchObject({
        code: 'ledger_cut',
      })
      await stop()
      expect(await world.verify()).toMatchObject({ ok: true, size: 5 })
    })

    test('RS1 L14 a running daemon does not extend a head from before its last checkpoint', async () => {
      const world = await setup()
      await record(world, 5)
      const replay = await replayOf(world)
      const { ledger, stop } = await world.start()
      await ledger.record(buildDraft('thing.done', { subject: 'hidden' }))
      await ledger.prove(6)
      await world.tamper(...replay)
      await expect(ledger.record(buildDraft('thing.done'))).rejects.toMatchObject({
        code: 'ledger_cut',
      })
      await stop()
      expect(world.copies.map(({ size }) => size)).toEqual([5, 6])
    })

    test.each([
      ['is missing', 'DELETE FROM ledger_head', 1],
      ['has another time', 'UPDATE ledger_head SET at = at + 864000000', 5],
    ])('RS1 L14 a head that %s is refused, even if checkpoints sign every entry', async (...of) => {
      const [, change, seq] = of
      const world = await setup()
      await record(world, 5)
      await world.tamper(change)
      expect(await attempts(world)).toEqual(refusedFrom(seq))
    })

    test('RS1 L14 accepted entries verify, and every verification shows the range and the reason', async () => {
      const world = await setup()
      const entries = await record(world, 5)
      await world.tamper(...forge(dialect, [...entries, ...invented(entries, 3)]))
      expect(await attempts(world)).toEqual(refusedFrom(6))
      await acceptAll(world)
      await record(world, 1)
      expect(await world.verify()).toMatchObject({
        ok: true,
        signed: 10,
        accepted: [{ seq: 9, from: 6, to: 8, reason: 'I wrote these' }],
      })
    })

    async function acceptAll(world: World) {
      const mac = world.headMac()
      const { unsigned, acceptable } = await world.verify(true, mac)
      if (!mac || !unsigned || !acceptable) throw new Error('nothing to accept')
      const { db, close } = await world.openUnchecked()
      await acceptEntries(db, mac, {
        ...unsigned,
        reason: 'I wrote these',
        actor: { kind: 'human', id: 'owner' },
      })
      await close()
    }

    test('RS1 a rewritten ledger that contradicts a known checkpoint cannot be accepted', async () => {
      const world = await setup()
      const entries = await record(world, 5)
      await world.tamper(...forge(dialect, rewrite(entries)), withoutCheckpoints, withoutMac)
      expect(await world.verify()).toMatchObject({ ok: false, acceptable: false })
    })
  })
}
