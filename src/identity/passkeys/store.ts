import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'
import type { Algorithm, StoredPublicKey } from './verify.ts'

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

export type Passkey = StoredPublicKey & {
  /** The credential id in base64url. */
  readonly id: string
  readonly person: string
  readonly name: string
  readonly createdAt: number
  readonly lastUsedAt?: number
}

export type PasskeyStore = ReturnType<typeof createPasskeyStore>

export function createPasskeyStore(dialect: Dialect) {
  const sql = builder<{ passkey: Row }>(dialect)
  const passkeys = sql.selectFrom('passkey').orderBy('created_at')

  return {
    all: async (reader: Reader) => (await reader.all(query(passkeys.selectAll()))).map(toPasskey),
    async find(reader: Reader, id: string) {
      const row = await reader.first(query(passkeys.selectAll().where('id', '=', id)))
      return row && toPasskey(row)
    },
    async listIds(reader: Reader, person: string) {
      const own = passkeys.select('id').where('person', '=', person)
      return (await reader.all(query(own))).map(({ id }) => id)
    },
    /** Returns false if the passkey is already registered. */
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
    /** Returns false if the count has changed: two responses were verified against the same count. */
    async updateCount(tx: Tx, id: string, count: { from: number; to: number }, at: number) {
      const used = sql.updateTable('passkey').set({ sign_count: count.to, last_used_at: at })
      const unmoved = used.where('id', '=', id).where('sign_count', '=', count.from)
      return (await tx.run(query(unmoved))) > 0
    },
    remove: (tx: Tx, id: string) => tx.run(query(sql.deleteFrom('passkey').where('id', '=', id))),
    removeByPerson: (tx: Tx, person: string) =>
      tx.run(query(sql.deleteFrom('passkey').where('person', '=', person))),
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
