import type { EntryDraft } from '../entry.ts'
import type { ErrorCode } from '../errors.ts'

export type Dialect = 'sqlite' | 'postgres'

/** A compiled statement with its values; `R` is the type of a row. */
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
  /** Returns the number of changed rows. */
  run(query: Query): Promise<number>
  /** Inserts any number of rows with one statement. */
  insert(table: string, rows: readonly Record<string, unknown>[]): Promise<void>
  /** Collects an entry; it is numbered and hashed at the end of the batch and committed with the rest (L1). */
  append(draft: EntryDraft): void
}

export type TransactionBody<T> = (tx: Tx) => Promise<T>

export type TransactOptions = {
  /** Runs before queued bodies, in the next transaction. For requests of people (RS4). */
  readonly isUrgent?: boolean
}

/** The reason that the store is unavailable. */
export type StoreOutage = {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
}

export type Db = Reader & {
  readonly dialect: Dialect
  /** Returns the current outage without a query (A11). */
  outage(): StoreOutage | undefined
  /**
   * Runs a write transaction; there is no other way to write. The body awaits only `tx`, has no side effects and may run
   * twice. Resolves when its changes are on disk.
   */
  transact<T>(body: TransactionBody<T>, options?: TransactOptions): Promise<T>
  /** Calls the listener after each commit with entries, of this or (PostgreSQL) another daemon. */
  onAppend(listener: () => void): () => void
  /** Returns whether this daemon holds the advisory lock and so signs checkpoints (L5). */
  isLeader(): Promise<boolean>
  /** Backs up the store before a migration (SV8). Returns the location. */
  backup(label: string): Promise<string>
  close(): Promise<void>
}

/** A consistent read view of a store. */
export type Snapshot = Reader & {
  readonly dialect: Dialect
  /** Yields the rows of a large result in groups of `size`. */
  scan<R>(query: Query<R>, size: number): AsyncIterable<R[]>
  close(): Promise<void>
} & AsyncDisposable

/** An import into a store in one transaction, invisible to others before `commit`. */
export type StoreImport = Snapshot & Pick<Tx, 'run' | 'insert'> & { commit(): Promise<void> }

/**
 * The ledger's part of a transaction. `prepare` runs in the body, so that an invalid entry fails only its body; `seal`
 * runs at the end of the batch, under the lock on the head.
 */
export type Sealer<P extends object = object> = {
  prepare(draft: EntryDraft): P
  seal(tx: Tx, prepared: readonly P[]): Promise<void>
}

export const noSealer: Sealer<never> = {
  prepare() {
    throw new Error('the store has no ledger')
  },
  seal: () => Promise.resolve(),
}
