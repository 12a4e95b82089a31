import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyInclusion } from '../../src/ledger/proof.ts'
import { verifyCheckpoint } from '../../src/ledger/checkpoint.ts'
import { buildDraft as entry, setupLedger, unlockEntries } from './ledger.fixture.ts'
import type { Engine } from './ledger.fixture.ts'
import type { Ledger } from '../../src/ledger/service.ts'
import { leafHash } from '../../src/ledger/tree.ts'

/** Tests of the ledger on both engines. */
export function ledgerContract(engine: Engine) {
  describe(`ledger on ${engine.dialect}`, () => {
    const setup = () => setupLedger(engine)

    async function fill(ledger: Ledger, count: number) {
      await Promise.all(
        Array.from({ length: count }, (_, i) =>
          ledger.record(entry('thing.done', { subject: `n${i}`, payload: { argument: i } })),
        ),
      )
    }

    describe('in one store', () => {
      let world: Awaited<ReturnType<typeof setup>>
      let running: Awaited<ReturnType<typeof world.start>>
      beforeAll(async () => {
        world = await setup()
        running = await world.start()
      })
      afterAll(() => running.stop())

      test('L3 entries are stored in order and without secrets', async () => {
        await running.ledger.record(
          entry('grant.made', {
            domain: 'files',
            subject: '/a',
            ids: { call: 'c1', proposal: 'p1' },
            outcome: 'done',
            data: { tool: 'request_grant', password: 'hunter2', note: 'Bearer abcdefghijk' },
          }),
        )
        const [found] = await running.ledger.find({ proposal: 'p1', limit: 10 })
        expect(found).toMatchObject({
          type: 'grant.made',
          actor: { kind: 'system', id: 'cowork' },
          ids: { call: 'c1', proposal: 'p1' },
          data: { tool: 'request_grant', password: '[redacted]' },
        })
        expect(JSON.stringify(found)).not.toMatch(/hunter2|abcdefghijk/)
      })

      test('L4 each entry contains the hash of the previous entry', async () => {
        await fill(running.ledger, 5)
        const entries = await running.ledger.find({ limit: 1000 })
        for (const [i, { seq }] of entries.entries()) expect(seq).toBe(i + 1)
        const { entry: body } = await running.ledger.prove(1)
        expect(entries[1]?.prev).toBe(leafHash(body).toString('hex'))
      })

      test('L6 any entry can be proven against a signed checkpoint', async () => {
        await fill(running.ledger, 300)
        for (const seq of [1, 2, 255, 256, 257, 300]) {
          const proof = await running.ledger.prove(seq)
          const { size, root } = verifyCheckpoint(proof.checkpoint, proof.vkey)
          const path = proof.path.map((hash) => Buffer.from(hash, 'base64'))
          expect(verifyInclusion(leafHash(proof.entry), seq - 1, size, path, root)).toBe(true)
          expect(verifyInclusion(leafHash(`${proof.entry} `), seq - 1, size, path, root)).toBe(
            false,
          )
        }
        await expect(running.ledger.prove(100_000)).rejects.toMatchObject({ code: 'not_found' })
      })

      test('L2 the database refuses to change or delete an entry', async () => {
        for (const sql of [
          `UPDATE ledger_entry SET type = 'other.done' WHERE seq = 1`,
          'DELETE FROM ledger_entry WHERE seq = 1',
        ])
          await expect(
            running.db.transact((tx) => tx.run({ sql, parameters: [] })),
          ).rejects.toThrow('never changed')
      })

      test('SV9 the views timeline and audit_log show entries and are read-only', async () => {
        await running.ledger.record({
          ...entry('call.done', { domain: 'granted', subject: '/b/\u0000', outcome: 'done' }),
          actor: { kind: 'agent', id: 'sales', session: 's7' },
          ids: { call: 'c7', grant: 'g7', approval: 'a7' },
          data: { tool: 'read_file', size_bytes: 2 ** 40, note: 'odd \u0000 text' },
        })
        const { seq, at } = (await running.ledger.find({ call: 'c7', limit: 1 }))[0] ?? {}
        const time = new Date(at ?? 0).toISOString()
        const all = (sql: string) => running.db.all({ sql, parameters: [] })
        expect(await all(`SELECT * FROM audit_log WHERE agent_id = 'sales'`)).toEqual([
          {
            seq,
            timestamp: time,
            operation: 'read_file',
            path: '/b/\u2400',
            domain: 'granted',
            grant_id: 'g7',
            agent_id: 'sales',
            session_id: 's7',
            success: 1,
            size_bytes: 2 ** 40,
          },
        ])
        await running.ledger.record({
          ...entry('proposal.created', { subject: 'deal-1', outcome: 'suggest' }),
          actor: { kind: 'agent', id: 'ops' },
          data: { tool: 'cowork_propose' },
        })
        await running.ledger.record({
          ...entry('proposal.created', { subject: 'deal-2', outcome: 'suggest' }),
          actor: { kind: 'agent', id: 'ops' },
        })
        expect(
          await all(`SELECT operation, path, success FROM audit_log WHERE agent_id = 'ops'`),
        ).toEqual([{ operation: 'cowork_propose', path: 'deal-1', success: 1 }])
        expect(await all(`SELECT * FROM timeline WHERE call = 'c7'`)).toEqual([
          expect.objectContaining({
            seq,
            time,
            type: 'call.done',
            actor_kind: 'agent',
            actor: 'sales',
            session_id: 's7',
            outcome: 'done',
            approval: 'a7',
          }),
        ])
        const [{ rows } = { rows: 0 }] = await running.db.all<{ rows: number }>({
          sql: 'SELECT count(*) AS rows FROM timeline',
          parameters: [],
        })
        expect(rows).toBe(await running.ledger.size())
        for (const sql of [
          'DELETE FROM timeline',
          `INSERT INTO timeline (seq, type) VALUES (9999, 'x.y')`,
          `UPDATE audit_log SET agent_id = 'other'`,
        ])
          await expect(
            running.db.transact((tx) => tx.run({ sql, parameters: [] })),
          ).rejects.toThrow(/view/)
      })

      test('L12 a deferred entry is committed soon', async () => {
        running.ledger.appendDeferred(entry('thing.read', { subject: 'noted' }))
        await expect
          .poll(async () => (await running.ledger.find({ types: ['thing.read'], limit: 9 })).length)
          .toBe(1)
      })

      test('L3 an invalid entry is refused when it is appended', async () => {
        const loop: Record<string, unknown> = {}
        loop['self'] = loop
        expect(() => running.ledger.appendDeferred(entry('bad.noted', { data: loop }))).toThrow(
          /cannot be recorded|not recordable|recorded/i,
        )
        await expect(
          running.ledger.record(entry('bad.recorded', { data: loop })),
        ).rejects.toMatchObject({
          code: 'not_recordable',
        })
        expect(running.ledger.outage()).toBeUndefined()
      })

      test('L11 a follower sees every entry once and in order, including later ones', async () => {
        const stop = new AbortController()
        const seen: number[] = []
        const following = (async () => {
          for await (const entries of running.ledger.follow(10, stop.signal))
            seen.push(...entries.map(({ seq }) => seq))
        })()
        await fill(running.ledger, 50)
        const size = await running.ledger.size()
        await expect.poll(() => seen.length).toBe(size - 10)
        stop.abort()
        await following
        expect(seen).toEqual(Array.from({ length: size - 10 }, (_, i) => i + 11))
      })

      test('L11 a follower with a stored cursor continues there', async () => {
        const seen: number[] = []
        const run = async (until: number) => {
          const stop = new AbortController()
          await running.ledger.runFollower(
            'test',
            async (_, entries) => {
              seen.push(...entries.map(({ seq }) => seq))
              if (seen.length >= until) stop.abort()
            },
            stop.signal,
          )
        }
        const size = await running.ledger.size()
        await run(size)
        await fill(running.ledger, 20)
        await run(size + 20)
        expect(seen).toEqual(Array.from({ length: size + 20 }, (_, i) => i + 1))
      })

      test('L11 a follower may start with the next entry, and its effects run after the commit', async () => {
        await fill(running.ledger, 3)
        const stop = new AbortController()
        const seen: string[] = []
        const committed: (string | undefined)[] = []
        const following = running.ledger.runFollower(
          'latecomer',
          async (tx, entries) => {
            seen.push(...entries.map(({ type }) => type))
            tx.append(entry('thing.told'))
            return () => void committed.push(seen.at(-1))
          },
          stop.signal,
          'next entry',
        )
        await running.ledger.record(entry('thing.next'))
        // The follower sees its own entries, so it would run forever.
        await expect.poll(() => committed.length).toBeGreaterThan(1)
        stop.abort()
        await following
        expect(seen.slice(0, 2)).toEqual(['thing.next', 'thing.told'])
        expect(committed.slice(0, 2)).toEqual(['thing.next', 'thing.told'])
        const handled = await running.ledger.find({ types: ['thing.told'], limit: 1000 })
        expect(handled).toHaveLength(committed.length)
      })

      test('A11 a large backward clock step is refused, a small one is corrected', async () => {
        world.move(-60_000)
        await running.ledger.record(entry('thing.done', { subject: 'a minute ago' }))
        world.move(-10 * 60_000)
        await expect(running.ledger.record(entry('thing.done'))).rejects.toMatchObject({
          code: 'clock_went_back',
        })
        world.move(11 * 60_000)
        await running.ledger.record(entry('thing.done'))
        const { problems } = await world.verify(true, world.headMac())
        expect(problems).toEqual([])
      })

      test('L12 calls are refused while deferred entries cannot be committed', async () => {
        world.move(-10 * 60_000)
        running.ledger.appendDeferred(entry('thing.read', { subject: 'stuck' }))
        await expect
          .poll(() => running.ledger.outage())
          .toMatchObject({ code: 'ledger_unwritable' })
        world.move(10 * 60_000)
        await expect.poll(() => running.ledger.outage(), { timeout: 5000 }).toBeUndefined()
        await expect
          .poll(async () => (await running.ledger.find({ types: ['thing.read'], limit: 9 })).length)
          .toBe(2)
      })
    })

    test('L5 checkpoints are signed within a second or 256 entries, at the end, and copied outside', async () => {
      const world = await setup()
      const { ledger, stop } = await world.start()
      await ledger.record(entry('thing.done'))
      await expect.poll(() => world.copies.length, { timeout: 3000 }).toBe(1)
      await fill(ledger, 300)
      await expect.poll(() => world.copies.length).toBe(2)
      await ledger.record(entry('thing.done'))
      await stop()
      expect(world.copies.at(-1)?.size).toBe(302)
      for (const { size, note } of world.copies)
        expect(verifyCheckpoint(note, ledger.vkey).size).toBe(size)
      const result = await world.verify()
      expect(result).toMatchObject({ ok: true, entries: 302, signed: 302 })
    })

    test('L8 an erasure is recorded, and every proof stays valid', async () => {
      const world = await setup()
      const { ledger, stop } = await world.start()
      await fill(ledger, 300)
      const before = await ledger.prove(7)
      const erase = (seq: number) =>
        ledger.transact((tx) => ledger.erase(tx, seq, 'asked to', { kind: 'human', id: 'ann' }))
      await erase(7)
      expect(await ledger.payloads([6, 7, 8])).toHaveLength(2)
      await expect(erase(7)).rejects.toMatchObject({ code: 'not_found' })
      await expect(erase(301)).rejects.toMatchObject({ code: 'not_found' })
      expect(await ledger.find({ after: 300, limit: 9 })).toEqual([
        expect.objectContaining({
          type: 'payload.erased',
          subject: '7',
          actor: { kind: 'human', id: 'ann' },
          data: { reason: 'asked to' },
        }),
      ])
      expect(await ledger.prove(7)).toEqual(before)
      await stop()
      expect(await world.verify()).toMatchObject({ ok: true, entries: 301, signed: 301 })
      await world.tamper('DELETE FROM ledger_payload WHERE seq = 9')
      expect((await world.verify()).firstBad).toEqual({ seq: 9, why: 'the payload is missing' })
    })

    test('L8 expired payloads are erased in batches, each with an entry', async () => {
      const world = await setup()
      const { ledger, stop } = await world.start()
      await ledger.transact(async (tx) => {
        for (let i = 0; i < 2300; i++) tx.append(entry('thing.done', { payload: i }))
      })
      const time = world.move(1000)
      await fill(ledger, 10)
      expect(await ledger.eraseBefore(time)).toBe(2300)
      expect(await ledger.eraseBefore(time)).toBe(0)
      const entries = await ledger.find({ types: ['payload.expired'], limit: 9 })
      expect(entries.map(({ data }) => data)).toEqual([
        { up_to_seq: 1000, payloads: 1000 },
        { up_to_seq: 2000, payloads: 1000 },
        { up_to_seq: 2300, payloads: 300 },
      ])
      expect(await ledger.payloads([1, 2300, 2301])).toHaveLength(1)
      await stop()
      expect(await world.verify()).toMatchObject({ ok: true, entries: 2313 })
    })

    test('L5 a daemon with another key, or none, does not start', async () => {
      const world = await setup()
      await (await world.start()).stop()
      const other = await setup()
      await (await other.start()).stop()
      Object.assign(world.files, other.files)
      await expect(world.start()).rejects.toMatchObject({ code: 'ledger_key_differs' })
      world.files.ledgerKey += '.gone'
      await expect(world.start()).rejects.toMatchObject({ code: 'ledger_key_missing' })
    })

    const unlock = unlockEntries(engine.dialect)
    const swap = (from: string, to: string) =>
      `UPDATE ledger_entry SET body = replace(body, '${from}', '${to}') WHERE seq = 7`
    test.each([
      ['a changed byte of an entry', 7, [swap('"n6"', '"n5"')]],
      [
        'a changed byte with a new hash',
        7,
        [swap('"n6"', '"n5"'), `UPDATE ledger_entry SET hash = '${'0'.repeat(64)}' WHERE seq = 7`],
      ],
      ['a changed column', 7, [`UPDATE ledger_entry SET subject = 'n99' WHERE seq = 7`]],
      ['a removed entry', 7, ['DELETE FROM ledger_entry WHERE seq = 7']],
      ['a cut tail', 15, ['DELETE FROM ledger_entry WHERE seq > 14']],
      [
        'a tail cut with its checkpoints',
        15,
        ['DELETE FROM ledger_entry WHERE seq > 14', 'DELETE FROM ledger_checkpoint'],
      ],
      [
        'a swap of two entries',
        7,
        [
          'UPDATE ledger_entry SET seq = 1000 WHERE seq = 7',
          'UPDATE ledger_entry SET seq = 7 WHERE seq = 8',
          'UPDATE ledger_entry SET seq = 8 WHERE seq = 1000',
        ],
      ],
      [
        'a changed payload',
        7,
        [`UPDATE ledger_payload SET body = replace(body, '6', '5') WHERE seq = 7`],
      ],
      ['a removed payload', 7, ['DELETE FROM ledger_payload WHERE seq = 7']],
      [
        'a changed checkpoint',
        20,
        [`UPDATE ledger_checkpoint SET note = replace(note, '20', '19')`],
      ],
    ])('L7 %s is found, and the first bad entry is named', async (_, seq, sql) => {
      const world = await setup()
      const { ledger, stop } = await world.start()
      for (let i = 0; i < 20; i++)
        await ledger.record(entry('thing.done', { subject: `n${i}`, payload: { argument: i } }))
      await stop()
      expect(await world.verify()).toMatchObject({ ok: true })
      await world.tamper(...unlock, ...sql)
      const result = await world.verify(false)
      expect(result.ok).toBe(false)
      expect(result.firstBad?.seq).toBe(seq)
    })
  })
}
