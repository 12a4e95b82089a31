import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EntryDraft } from '../../../src/base/entry.ts'
import { systemActor } from '../../../src/base/entry.ts'
import { migrate } from '../../../src/base/db/migrate.ts'
import type { Migration } from '../../../src/base/db/migrate.ts'
import type { Db, Sealer } from '../../../src/base/db/port.ts'
import { builder, query, statement } from '../../../src/base/db/statement.ts'

type Tables = { item: { id: string; count: number; text: string | null } }

const items: Migration = {
  name: 'item-001',
  up: (schema) => [
    schema
      .createTable('item')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('count', 'bigint', (c) => c.notNull())
      .addColumn('text', 'text'),
  ],
}

/** Tests of both engines. */
export function storeContract(dialect: string, open: (sealer: Sealer<EntryDraft>) => Promise<Db>) {
  describe(`store on ${dialect}`, () => {
    const sealed: EntryDraft[][] = []
    const sealer: Sealer<EntryDraft> = {
      prepare(draft) {
        if (draft.type === 'not.recordable') throw new Error('not recordable')
        return draft
      },
      seal: async (_, drafts) => void sealed.push([...drafts]),
    }
    let db: Db
    beforeAll(async () => {
      db = await open(sealer)
      await migrate(db, [items], 0)
    })
    afterAll(() => db.close())

    const sql = () => builder<Tables>(db.dialect)
    const add = (id: string, count = 0) =>
      query(sql().insertInto('item').values({ id, count, text: null }))
    const get = (id: string) => query(sql().selectFrom('item').selectAll().where('id', '=', id))
    const entry = (type: string): EntryDraft => ({ type, actor: systemActor })

    test('SV7 a write is visible when transact resolves', async () => {
      await db.transact((tx) => tx.run(add('a', 2 ** 40)))
      expect(await db.first(get('a'))).toEqual({ id: 'a', count: 2 ** 40, text: null })
    })

    test('RS4 an urgent body runs before queued bodies', async () => {
      const order: string[] = []
      const body = (name: string) => async () => void order.push(name)
      await Promise.all([
        db.transact(body('first')),
        db.transact(body('second')),
        db.transact(body('urgent'), { isUrgent: true }),
      ])
      expect(order).toEqual(['urgent', 'first', 'second'])
    })

    test('RS4 bodies that take long run in several transactions, in order', async () => {
      sealed.length = 0
      const ran = Array.from({ length: 6 }, (_, at) =>
        db.transact(async (tx) => {
          const { user } = process.threadCpuUsage()
          while (process.threadCpuUsage().user - user < 10_000);
          tx.append(entry(`slow.n_${at}`))
        }),
      )
      await Promise.all(ran)
      expect(sealed.flat().map(({ type }) => type)).toEqual(ran.map((_, at) => `slow.n_${at}`))
      expect(sealed.length).toBeGreaterThan(1)
    })

    test('L12 bodies that arrive together share one commit, in order', async () => {
      sealed.length = 0
      await db.transact(async (tx) => tx.append(entry('warm.up')))
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          db.transact(async (tx) => {
            await tx.run(add(`shared-${i}`))
            tx.append(entry(`shared.n_${i}`))
          }),
        ),
      )
      expect(sealed.length).toBeLessThanOrEqual(3)
      expect(sealed.flat().map((d) => d.type)).toEqual([
        'warm.up',
        ...Array.from({ length: 20 }, (_, i) => `shared.n_${i}`),
      ])
    })

    test('L1 a failed body loses only its own writes and entries', async () => {
      sealed.length = 0
      const [good, bad, late] = await Promise.allSettled([
        db.transact(async (tx) => {
          await tx.run(add('good'))
          tx.append(entry('good.done'))
        }),
        db.transact(async (tx) => {
          await tx.run(add('bad'))
          tx.append(entry('bad.done'))
          throw new Error('changed my mind')
        }),
        db.transact(async (tx) => {
          await tx.run(add('late'))
          tx.append(entry('late.done'))
        }),
      ])
      expect([good.status, bad.status, late.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(await db.first(get('bad'))).toBeUndefined()
      expect(await db.first(get('late'))).toBeDefined()
      expect(sealed.flat().map((d) => d.type)).toEqual(['good.done', 'late.done'])
    })

    test('L1 a single body that violates a constraint is rolled back', async () => {
      await db.transact((tx) => tx.run(add('once')))
      const twice = db.transact(async (tx) => {
        await tx.run(add('before-once'))
        await tx.run(add('once'))
      })
      await expect(twice).rejects.toThrow(/unique/i)
      expect(await db.first(get('before-once'))).toBeUndefined()
    })

    const row = (id: string, text: string | null = null) => ({ id, count: 0, text })

    test('L12 inserts of several bodies are batched and visible to queries of the table', async () => {
      const found = await Promise.all([
        db.transact((tx) => tx.insert('item', [row('kept-a'), row('kept-b')])),
        db.transact((tx) => tx.insert('item', [{ id: 'kept-c', count: 3 }])),
        db.transact((tx) => tx.first(get('kept-a'))),
        db.transact(async (tx) => {
          await tx.insert('item', [row('kept-d')])
          return tx.run(
            query(sql().updateTable('item').set({ count: 7 }).where('id', '=', 'kept-d')),
          )
        }),
        db.transact((tx) =>
          tx.all(
            query(
              sql().selectFrom('item').select('id').where('id', 'like', 'kept-%').orderBy('id'),
            ),
          ),
        ),
      ])
      const ids = ['kept-a', 'kept-b', 'kept-c', 'kept-d'].map((id) => ({ id }))
      expect(found.slice(2)).toEqual([row('kept-a'), 1, ids])
      expect(await db.first(get('kept-c'))).toEqual({ id: 'kept-c', count: 3, text: null })
      expect(await db.first(get('kept-d'))).toMatchObject({ count: 7 })
    })

    test.each(['asked for', 'not asked for'])(
      'L1 an insert that violates a constraint fails only its own body, with the table %s',
      async (asked) => {
        const id = (name: string) => `${name} ${asked}`
        const outcomes = await Promise.allSettled([
          db.transact((tx) => tx.insert('item', [row(id('first'))])),
          db.transact((tx) => tx.insert('item', [row(id('first'), 'again')])),
          db.transact(async (tx) => {
            // A body must not hide an error that another body caused.
            if (asked === 'asked for') await tx.first(get(id('first'))).catch(() => undefined)
            await tx.insert('item', [row(id('third'))])
          }),
        ])
        expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
        expect(await db.first(get(id('first')))).toEqual(row(id('first')))
        expect(await db.first(get(id('third')))).toEqual(row(id('third')))
      },
    )

    test('L3 an invalid entry fails only its own body', async () => {
      const [bad, good] = await Promise.allSettled([
        db.transact(async (tx) => {
          await tx.run(add('unrecorded'))
          tx.append(entry('not.recordable'))
        }),
        db.transact((tx) => tx.run(add('recorded'))),
      ])
      expect([bad.status, good.status]).toEqual(['rejected', 'fulfilled'])
      expect(await db.first(get('unrecorded'))).toBeUndefined()
      expect(await db.first(get('recorded'))).toBeDefined()
    })

    test('L12 a body that awaits something else is rolled back and its tx rejects', async () => {
      let wokeUp: unknown
      const left = db.transact(async (tx) => {
        await tx.run(add('left'))
        await sleep(20)
        wokeUp = await tx.run(add('left-later')).catch((error: unknown) => error)
      })
      const neighbour = db.transact((tx) => tx.run(add('neighbour')))
      await expect(left).rejects.toMatchObject({ code: 'transaction_left_the_store' })
      await neighbour
      await sleep(40)
      expect(wokeUp).toMatchObject({ code: 'transaction_left_the_store' })
      expect(await db.first(get('left'))).toBeUndefined()
      expect(await db.first(get('left-later'))).toBeUndefined()
      expect(await db.first(get('neighbour'))).toBeDefined()
    })

    test('L12 only the body of a batch that awaits something else is rolled back', async () => {
      for (const leaver of [0, 1, 2]) {
        const names = [0, 1, 2].map((place) => `batch-${leaver}-${place}`)
        const bodies = names.map((name, place) =>
          db.transact(async (tx) => {
            await tx.run(add(name))
            if (place === leaver) await sleep(20)
          }),
        )
        const ends = await Promise.allSettled(bodies)
        for (const [place, name] of names.entries()) {
          expect(ends[place]?.status).toBe(place === leaver ? 'rejected' : 'fulfilled')
          const kept = await db.first(get(name))
          expect(kept === undefined).toBe(place === leaver)
        }
      }
    })

    test('L12 a body may await as many statements as it needs', async () => {
      const read = statement((p: { id: string }) =>
        sql().selectFrom('item').select('count').where('id', '=', p.id),
      )
      const seen = await db.transact(async (tx) => {
        let sum = 0
        for (let i = 0; i < 500; i++) sum += (await tx.first(read({ id: 'a' })))?.count ?? 0
        return sum
      })
      expect(seen).toBe(500 * 2 ** 40)
    })

    test('L1 a failed seal fails the whole batch', async () => {
      const failing = { ...sealer, seal: () => Promise.reject(new Error('disk full')) }
      const broken = await open(failing)
      const lost = broken.transact(async (tx) => {
        await tx.run(add('unsealed'))
        tx.append(entry('never.sealed'))
      })
      await expect(lost).rejects.toMatchObject({ code: 'store_unavailable' })
      expect(await broken.first(get('unsealed'))).toBeUndefined()
      await broken.close()
    })

    test('L11 listeners are called for commits with entries only', async () => {
      let notified = 0
      const stop = db.onAppend(() => notified++)
      await db.transact((tx) => tx.run(add('silent')))
      expect(notified).toBe(0)
      await db.transact(async (tx) => tx.append(entry('loud.told')))
      await expect.poll(() => notified).toBeGreaterThan(0)
      stop()
    })

    test('SV7 one statement inserts many rows, including special characters and nulls', async () => {
      const text = 'line\nquote " back\\slash \\u0000 🙂 \u2028'
      const rows = Array.from({ length: 50 }, (_, i) => ({
        id: `many-${i}`,
        count: i,
        text: i ? text : null,
      }))
      await db.transact((tx) => tx.insert('item', rows))
      expect(await db.first(get('many-0'))).toMatchObject({ text: null })
      expect(await db.first(get('many-49'))).toEqual({ id: 'many-49', count: 49, text })
    })

    test('SV8 migrations run once and only forward; a newer store is refused', async () => {
      expect(await migrate(db, [items], 1)).toEqual({ applied: [] })
      await expect(migrate(db, [], 1)).rejects.toMatchObject({ code: 'store_is_newer' })
    })

    test('SV8 a migration that fails leaves the store as it was', async () => {
      const broken: Migration = {
        name: 'item-002',
        up: (schema) => [
          schema.alterTable('item').addColumn('extra', 'text'),
          schema.alterTable('nothing').addColumn('x', 'text'),
        ],
      }
      await expect(migrate(db, [items, broken], 2)).rejects.toThrow(/nothing/)
      const whole: Migration = {
        name: 'item-002',
        up: (schema) => [schema.alterTable('item').addColumn('extra', 'text')],
      }
      const { applied, backup } = await migrate(db, [items, whole], 3)
      expect(applied).toEqual(['item-002'])
      expect(backup).toMatch(/before/)
    })
  })
}
