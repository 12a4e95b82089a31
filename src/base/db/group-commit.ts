import { CoworkError, errorMessage } from '../errors.ts'
import { bufferInserts } from './insert-buffer.ts'
import type { TransactionBody, Query, Sealer, TransactOptions, Tx } from './port.ts'

/** The connection of an engine for group commit. Statements run sequentially. */
export type Connection = {
  readonly begin: string
  all(query: Query): Promise<unknown[]>
  run(query: Query): Promise<number>
  insert(table: string, rows: readonly Record<string, unknown>[]): Promise<void>
  control(sql: string): Promise<void>
  /** Commits durably; `appended` tells whether the batch contains ledger entries. */
  commit(appended: boolean): Promise<void>
  /** Returns whether the batch can be retried: a deadlock or a serialization failure. */
  canRetry(error: unknown): boolean
  /** Returns whether the store failed and not the body (disk full, connection lost): savepoints do not help. */
  isStoreFailure(error: unknown): boolean
  /** Returns whether the connection is lost; `connect` then opens a new one. */
  isDisconnected(): boolean
}

type Job = {
  readonly body: TransactionBody<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

// Large enough to share an fsync among all callers, small enough not to block the event loop.
const maxBatchSize = 256
/**
 * A transaction accepts no further bodies after this much CPU time or wall time. An urgent body waits that long at most
 * (RS4).
 */
const maxBatchCpuMs = 15
const maxBatchMs = 100
/** A batch that grows in every iteration of the event loop waits this long at most. */
const maxGatherMs = 4
const maxAttempts = 5

/**
 * Group commit: bodies that arrive during a commit run sequentially in the next transaction and resolve together.
 * Measured on SQLite: 35,000 durable transactions per second instead of 4,500 with one commit each.
 */
export function createGroupCommit<P extends object>(
  connect: () => Promise<Connection>,
  sealer: Sealer<P>,
  onAppend: () => void,
) {
  const queued: Job[] = []
  /** Runs before all queued bodies. */
  const urgent: Job[] = []
  let running: Promise<void> | undefined
  let closed = false

  function transact<T>(
    body: TransactionBody<T>,
    { isUrgent = false }: TransactOptions = {},
  ): Promise<T> {
    if (closed) return Promise.reject(storeClosedError())
    return new Promise<T>((resolve, reject) => {
      const job = { body, resolve: resolve as (value: unknown) => void, reject }
      ;(isUrgent ? urgent : queued).push(job)
      running ??= drain()
    })
  }

  const yieldToEventLoop = () => new Promise<void>((resolve) => setImmediate(resolve))

  /** The event loop receives one message per iteration; without this wait each would get its own commit. */
  async function waitForMoreBodies(): Promise<void> {
    const start = performance.now()
    let before: number
    do {
      before = queued.length
      await yieldToEventLoop()
    } while (
      queued.length > before &&
      queued.length < maxBatchSize &&
      urgent.length === 0 &&
      performance.now() - start < maxGatherMs
    )
  }

  async function drain() {
    while (urgent.length + queued.length > 0) {
      // Callers of the last batch run, and may queue new bodies, before the next batch closes.
      await waitForMoreBodies()
      const jobs = [...urgent.splice(0), ...queued.splice(0, maxBatchSize)]
      try {
        const done = await runBatch(jobs)
        queued.unshift(...jobs.slice(done))
      } catch (cause) {
        const error = toStoreError(cause)
        for (const job of jobs) job.reject(error)
      }
    }
    running = undefined
  }

  /** Returns the number of finished bodies; the others go into the next batch. */
  async function runBatch(jobs: Job[]): Promise<number> {
    // Most bodies succeed, and a savepoint for each costs a sixth of a proposal on PostgreSQL. So savepoints are used
    // only after a body has failed; all bodies then run again. A single body needs no savepoint.
    let savepoints = false
    for (let attempt = 1; ;) {
      const connection = await connect()
      // If the connection is lost during COMMIT, the outcome is unknown and a retry could apply the batch twice.
      let committing = false
      try {
        const plan = { savepoints, committing: () => (committing = true) }
        const { answers, appended } = await tryBatch(connection, jobs, plan)
        for (const answer of answers) answer()
        if (appended) onAppend()
        return answers.length
      } catch (error) {
        await connection.control('ROLLBACK').catch(() => undefined)
        if (error instanceof BodyError) {
          if (jobs.length === 1) {
            jobs[0]?.reject(error.cause)
            return 1
          }
          savepoints = true
          continue
        }
        const again = connection.canRetry(error) || (connection.isDisconnected() && !committing)
        if (connection.isDisconnected() && committing) throw outcomeUnknownError(error)
        if (attempt === maxAttempts || !again) throw error
        await new Promise((later) => setTimeout(later, 20 * attempt))
        attempt++
      }
    }
  }

  type Plan = { readonly savepoints: boolean; readonly committing: () => void }

  async function tryBatch(connection: Connection, jobs: Job[], { savepoints, committing }: Plan) {
    const answers: (() => void)[] = []
    const entries: P[] = []
    // With savepoints each body must receive the errors of its own rows.
    const inserts = savepoints ? undefined : bufferInserts(connection)
    const classifyError = (error: unknown) =>
      connection.canRetry(error) || connection.isStoreFailure(error)
        ? error
        : new BodyError({ cause: error })
    await connection.control(connection.begin)
    const isFull = createStopwatch()
    using guard = createGuard(inserts?.connection ?? connection, sealer)
    for (const job of jobs) {
      if (answers.length > 0 && isFull()) break
      const own: P[] = []
      if (savepoints) await connection.control('SAVEPOINT body')
      try {
        const value = await guard.run(job.body, own)
        entries.push(...own)
        answers.push(() => job.resolve(value))
        if (savepoints) await connection.control('RELEASE body')
      } catch (error) {
        const failed = classifyError(error)
        if (!savepoints || !(failed instanceof BodyError)) throw failed
        answers.push(() => job.reject(error))
        await connection.control('ROLLBACK TO body; RELEASE body')
      }
    }
    await inserts?.release().catch((error: unknown) => {
      throw classifyError(error)
    })
    if (entries.length > 0) await sealer.seal(toTx(connection), entries)
    committing()
    await connection.commit(entries.length > 0)
    return { answers, appended: entries.length > 0 }
  }

  return {
    transact,
    async close() {
      closed = true
      await running
    },
  }
}

function createStopwatch(): () => boolean {
  const start = performance.now()
  const cpu = process.threadCpuUsage()
  return () => {
    const { user, system } = process.threadCpuUsage(cpu)
    return user + system > maxBatchCpuMs * 1000 || performance.now() - start > maxBatchMs
  }
}

/** A body of a batch threw; `cause` is its error. */
class BodyError extends Error {
  constructor(options: { cause: unknown }) {
    super('transaction body failed', options)
  }
}

const toTx = (connection: Connection): Tx => ({
  all: <R>(query: Query<R>) => connection.all(query) as Promise<R[]>,
  first: async <R>(query: Query<R>) => (await connection.all(query))[0] as R | undefined,
  run: (query) => connection.run(query),
  insert: (table, rows) => connection.insert(table, rows),
  append() {
    throw new Error('append is not available to the sealer')
  },
})

/**
 * Runs the bodies of a batch sequentially and aborts a body that waits for anything other than the store, because it
 * would delay every other commit. A body that is pending without a running statement for a whole iteration of the event
 * loop is rolled back, and its `tx` rejects all further statements.
 */
function createGuard<P extends object>(connection: Connection, sealer: Sealer<P>) {
  let inFlight = 0
  let activity = 0
  /** Rejects the running body. */
  let abortBody: ((error: CoworkError) => void) | undefined
  // Shared by all bodies, since most finish within one iteration.
  let armed: NodeJS.Immediate | undefined

  const leftStoreError = () =>
    new CoworkError(
      'transaction_left_the_store',
      'A transaction waited for something other than the store and was rolled back.',
      { hint: 'Inside transact, await only tx.' },
    )

  function watch() {
    if (armed) return
    const before = activity
    armed = setImmediate(() => {
      armed = undefined
      if (!abortBody || inFlight > 0) return
      if (activity === before) abortBody(leftStoreError())
      else watch()
    })
  }

  return {
    async run(body: TransactionBody<unknown>, own: P[]): Promise<unknown> {
      let ended = false

      async function use<T>(act: () => Promise<T>): Promise<T> {
        if (ended) throw leftStoreError()
        inFlight++
        activity++
        try {
          return await act()
        } finally {
          inFlight--
          if (inFlight === 0 && abortBody) watch()
        }
      }

      const tx: Tx = {
        all: <R>(query: Query<R>) => use(() => connection.all(query)) as Promise<R[]>,
        first: <R>(query: Query<R>) =>
          use(async () => (await connection.all(query))[0]) as Promise<R | undefined>,
        run: (query) => use(() => connection.run(query)),
        insert: (table, rows) => use(() => connection.insert(table, rows)),
        append(draft) {
          if (ended) throw leftStoreError()
          own.push(sealer.prepare(draft))
        },
      }

      activity++
      watch()
      try {
        return await new Promise((resolve, reject) => {
          abortBody = reject
          body(tx).then(resolve, reject)
        })
      } finally {
        ended = true
        abortBody = undefined
      }
    },
    [Symbol.dispose]() {
      clearImmediate(armed)
    },
  }
}

export const storeClosedError = () => new CoworkError('store_closed', 'The store is closed.')

const toStoreError = (cause: unknown): CoworkError =>
  cause instanceof CoworkError
    ? cause
    : new CoworkError('store_unavailable', `Cannot write to the store: ${errorMessage(cause)}`, {
        hint: 'Nothing was saved. Run `cowork doctor` and check the log, then retry.',
        cause,
      })

const outcomeUnknownError = (cause: unknown) =>
  new CoworkError(
    'outcome_unknown',
    `Connection to the store lost during a commit: ${errorMessage(cause)}`,
    { hint: 'Check whether the change was saved before you retry.', cause },
  )
