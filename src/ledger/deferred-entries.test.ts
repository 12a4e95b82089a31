import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { EntryDraft } from '#base/entry.ts'
import type { Db } from '#base/db/port.ts'
import { openSqlite } from '#base/db/sqlite.ts'
import { silentLog } from '#base/log.ts'
import { createDeferredEntries } from './deferred-entries.ts'
import { storePath } from '../../test/stores.ts'

/** A store that records sealed entries by transaction, with a configurable commit time. */
function store(commitMs = 0) {
  const sealed: EntryDraft[] = []
  const bodies: number[] = []
  const path = storePath()
  const db = openSqlite<EntryDraft>(path, {
    prepare: (draft) => draft,
    seal: async (_, drafts) => void sealed.push(...drafts),
  })
  const counting: Db = {
    ...db,
    async transact(body, options) {
      await sleep(commitMs)
      return db.transact(async (tx) => {
        const at = bodies.push(0) - 1
        const append = (draft: EntryDraft) => {
          bodies[at] = (bodies[at] ?? 0) + 1
          tx.append(draft)
        }
        return body({ ...tx, append })
      }, options)
    },
  }
  return { db: counting, sealed, bodies }
}

test('RS4 deferred entries are written in small batches and in order, so that a halt can run in between', async () => {
  const { db, sealed, bodies } = store()
  const notes = createDeferredEntries(db, () => undefined, silentLog)
  const names = Array.from({ length: 1000 }, (_, at) => `note-${at}`)
  for (const subject of names)
    notes.appendDeferred({ type: 'call.done', actor: { kind: 'system', id: 'test' }, subject })
  await notes.flush()
  expect(sealed.map(({ subject }) => subject)).toEqual(names)
  expect(Math.max(...bodies)).toBeLessThanOrEqual(200)
  await notes.close()
  await db.close()
})

test('L12 N3 entries that are deferred during a commit share the next commit', async () => {
  const { db, sealed, bodies } = store(3)
  const notes = createDeferredEntries(db, () => undefined, silentLog)
  const count = 200
  for (let at = 0; at < count; at++) {
    notes.appendDeferred({ type: 'call.done', actor: { kind: 'system', id: 'test' } })
    await sleep(1)
  }
  await notes.close()
  expect(sealed).toHaveLength(count)
  // Each commit started right after the previous one.
  expect(bodies.length).toBeLessThan(count / 4)
  await db.close()
})

test('L12 close writes entries that were deferred during a commit', async () => {
  const { db, sealed } = store()
  const notes = createDeferredEntries(db, () => undefined, silentLog)
  const note = () =>
    notes.appendDeferred({ type: 'call.done', actor: { kind: 'system', id: 'test' } })
  note()
  const closing = notes.close()
  note()
  await closing
  expect(sealed).toHaveLength(2)
  await db.close()
})
