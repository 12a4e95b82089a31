import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query, statement } from '#base/db/statement.ts'
import type { Algorithm, Verifier } from './verify.ts'

type Row = {
  id: string
  person: string
  name: string
  public_key: string
  algorithm: Algorithm
  sign_count: number
  created_at: number
  last_used_at: number | null
}

export type Passkey = Verifier & {
  /** As the browser names it: base64url of the credential id. */
  readonly id: string
  readonly person: string
  readonly name: string
  readonly createdAt: number
  readonly lastUsedAt?: number
}

export type PasskeyStore = ReturnType<typeof createPasskeyStore>

/** The only SQL about passkeys. */
export function createPasskeyStore(dialect: Dialect) {
  const sql = builder<{ passkey: Row }>(dialect)
  const all = query(sql.selectFrom('passkey').selectAll().orderBy('created_at'))
  const one = statement((p: { id: string }) =>
    sql.selectFrom('passkey').selectAll().where('id', '=', p.id),
  )
  const ofPerson = statement((p: { person: string }) =>
    sql.selectFrom('passkey').select('id').where('person', '=', p.person).orderBy('created_at'),
  )
  const used = statement((p: { id: string; from: number; to: number; at: number }) =>
    sql
      .updateTable('passkey')
      .set({ sign_count: p.to, last_used_at: p.at })
      .where('id', '=', p.id)
      .where('sign_count', '=', p.from),
  )
  const remove = statement((p: { id: string }) => sql.deleteFrom('passkey').where('id', '=', p.id))
  const removeOf = statement((p: { person: string }) =>
    sql.deleteFrom('passkey').where('person', '=', p.person),
  )

  return {
    all: async (reader: Reader) => (await reader.all(all)).map(toPasskey),
    async find(reader: Reader, id: string) {
      const row = await reader.first(one({ id }))
      return row && toPasskey(row)
    },
    idsOf: async (reader: Reader, person: string) =>
      (await reader.all(ofPerson({ person }))).map(({ id }) => id),
    /** False when it is registered already. */
    async add(tx: Tx, passkey: Passkey) {
      const added = sql.insertInto('passkey').values({
        id: passkey.id,
        person: passkey.person,
        name: passkey.name,
        public_key: passkey.publicKey.toString('base64url'),
        algorithm: passkey.algorithm,
        sign_count: passkey.signCount,
        created_at: passkey.createdAt,
        last_used_at: null,
      })
      return (await tx.run(query(added.onConflict((c) => c.column('id').doNothing())))) > 0
    },
    /** False when it has moved on since: two answers were checked against one count. */
    used: async (tx: Tx, id: string, count: { from: number; to: number }, at: number) =>
      (await tx.run(used({ id, at, from: count.from, to: count.to }))) > 0,
    remove: (tx: Tx, id: string) => tx.run(remove({ id })),
    removeOf: (tx: Tx, person: string) => tx.run(removeOf({ person })),
  }
}

const toPasskey = (row: Row): Passkey => ({
  id: row.id,
  person: row.person,
  name: row.name,
  publicKey: Buffer.from(row.public_key, 'base64url'),
  algorithm: row.algorithm,
  signCount: row.sign_count,
  createdAt: row.created_at,
  ...(row.last_used_at !== null && { lastUsedAt: row.last_used_at }),
})
