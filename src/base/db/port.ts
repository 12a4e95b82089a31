import type { EntryDraft } from '../entry.ts'
import type { ErrorCode } from '../errors.ts'

export type Dialect = 'sqlite' | 'postgres'

/** A compiled statement with its values; `R` is the row it gives. */
export type Query<R = unknown> = {
  readonly sql: string
  readonly parameters: readonly unknown[]
  readonly row?: R
}

export type Reader = {
  all<R>(query: Query<R>): Promise<R[]>
  first<R>(query: Query<R>): Promise<R | undefined>
}

export type Tx = Reader & {
  /** Gives the number of rows changed. */
  run(query: Query): Promise<number>
  /** One statement for any number of rows of one table. */
  insert(table: string, rows: readonly Record<string, unknown>[]): Promise<void>
  /** Collected now, numbered and hashed at the end of the batch, committed with the rest (L1). */
  append(draft: EntryDraft): void
}

export type TransactionBody<T> = (tx: Tx) => Promise<T>

export type TransactOptions = {
  /** Runs before the bodies that wait, in the next transaction: what a person asked for (RS4). */
  readonly isUrgent?: boolean
}

/** Why nothing can be read or written now. */
export type StoreOutage = {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
}

export type Db = Reader & {
  readonly dialect: Dialect
  /** Known without asking: a server elsewhere can be away (A11). */
  trouble(): StoreOutage | undefined
  /**
   * The one way to write. The body awaits only `tx`, has no side effects and may run twice.
   * It resolves when everything it did is on disk.
   */
  transact<T>(body: TransactionBody<T>, options?: TransactOptions): Promise<T>
  /** Calls back after each commit that appended entries, here or (PostgreSQL) in another daemon. */
  onAppend(listener: () => void): () => void
  /** Whether this daemon is the one that signs checkpoints (L5): the holder of the advisory lock. */
  leads(): Promise<boolean>
  /** Everything as it stands, before a migration changes it (SV8). Gives the place. */
  backup(label: string): Promise<string>
  close(): Promise<void>
}

/** One moment of a store, to read from. */
export type Snapshot = Reader & {
  readonly dialect: Dialect
  /** Every row of an answer that may be too large to hold, so many at a time. */
  scan<R>(query: Query<R>, size: number): AsyncIterable<R[]>
  close(): Promise<void>
} & AsyncDisposable

/** A store that is being filled in one transaction: nobody else sees any of it before `commit`. */
export type StoreImport = Snapshot & Pick<Tx, 'run' | 'insert'> & { commit(): Promise<void> }

/**
 * What the ledger does inside the store's transactions. `prepare` runs in the body (so an entry that
 * may not be recorded fails only its own body), `seal` at the end of the batch, under the lock on the head.
 */
export type Sealer<P extends object = object> = {
  prepare(draft: EntryDraft): P
  seal(tx: Tx, prepared: readonly P[]): Promise<void>
}

export const noSealer: Sealer<never> = {
  prepare() {
    throw new Error('this store has no ledger')
  },
  seal: () => Promise.resolve(),
}
