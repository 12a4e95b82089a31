import { expect, test } from 'vitest'
import type { Draft } from '#base/entry.ts'
import type { Db } from '#base/db/port.ts'
import { openSqlite } from '#base/db/sqlite.ts'
import { silentLog } from '#base/log.ts'
import { createNotes } from './notes.ts'
import { storePath } from '../../test/stores.ts'

/** A store that keeps what is sealed, transaction by transaction. */
function store() {
  const sealed: Draft[] = []
  const bodies: number[] = []
  const path = storePath()
  const db = openSqlite<Draft>(path, {
    prepare: (draft) => draft,
    seal: async (_, drafts) => void sealed.push(...drafts),
  })
  const counting: Db = {
    ...db,
    transact: (body, options) =>
      db.transact(async (tx) => {
        const at = bodies.push(0) - 1
        const append = (draft: Draft) => {
          bodies[at] = (bodies[at] ?? 0) + 1
          tx.append(draft)
        }
        return body({ ...tx, append })
      }, options),
  }
  return { db: counting, sealed, bodies }
}

test('RS4 notes are written a few at a time and in order, so that a halt comes in between', async () => {
  const { db, sealed, bodies } = store()
  const notes = createNotes(db, () => undefined, silentLog)
  const names = Array.from({ length: 1000 }, (_, at) => `note-${at}`)
  for (const subject of names)
    notes.note({ type: 'call.done', actor: { kind: 'system', id: 'test' }, subject })
  await notes.flush()
  expect(sealed.map(({ subject }) => subject)).toEqual(names)
  expect(Math.max(...bodies)).toBeLessThanOrEqual(200)
  await notes.close()
  await db.close()
})
