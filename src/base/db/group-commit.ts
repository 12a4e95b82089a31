import { CoworkError, errorMessage } from '../errors.ts'
import { bufferInserts } from './insert-buffer.ts'
import type { TransactionBody, Query, Sealer, TransactOptions, Tx } from './port.ts'

/** What the batch needs of an engine. Statements run one after the other on one connection. */
export type Connection = {
  readonly begin: string
  all(query: Query): Promise<unknown[]>
  run(query: Query): Promise<number>
  insert(table: string, rows: readonly Record<string, unknown>[]): Promise<void>
  control(sql: string): Promise<void>
  /** Ends the transaction durably; `appended` tells whether others have something to follow. */
  commit(appended: boolean): Promise<void>
  /** The whole batch may be tried again: a deadlock or a serialisation failure. */
  mayRetry(error: unknown): boolean
  /** The store failed, not the body (disk full, connection lost): no savepoint can save the others. */
  isBroken(error: unknown): boolean
  /** The connection is gone; `connect` makes a new one. */
  isLost(): boolean
}

type Job = {
  readonly body: TransactionBody<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

// Enough to share an fsync among all callers, few enough to give the event loop its turn.
const largestBatch = 256
/**
 * A transaction takes no further bodies after this much work of the event loop, or this long: an urgent body waits for
 * either (RS4).
 */
const maxBatchCpuMs = 15
const maxBatchMs = 100
/** A batch that grows with every turn of the event loop is left to grow for this long. */
const maxGatherMs = 4
const tries = 5

/**
 * Group commit: bodies that arrive while a commit is under way run in turn inside the next transaction
 * and are answered together. Measured on SQLite: 35,000 durable transactions a second
 * against 4,500 with one commit each.
 */
export function createGroupCommit<P extends object>(
  connect: () => Promise<Connection>,
  sealer: Sealer<P>,
  onAppend: () => void,
) {
  const waiting: Job[] = []
  /** Goes before all that waits. */
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
      ;(isUrgent ? urgent : waiting).push(job)
      running ??= drain()
    })
  }

  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

  /** Messages come in one a turn, so a commit for each would be begun before the next is there. */
  async function gather(): Promise<void> {
    const start = performance.now()
    let before: number
    do {
      before = waiting.length
      await turn()
    } while (
      waiting.length > before &&
      waiting.length < largestBatch &&
      urgent.length === 0 &&
      performance.now() - start < maxGatherMs
    )
  }

  async function drain() {
    while (urgent.length + waiting.length > 0) {
      // Answered callers get to run, and to queue again, before the next batch closes.
      await gather()
      const jobs = [...urgent.splice(0), ...waiting.splice(0, largestBatch)]
      try {
        const done = await runBatch(jobs)
        waiting.unshift(...jobs.slice(done))
      } catch (cause) {
        const error = asStoreError(cause)
        for (const job of jobs) job.reject(error)
      }
    }
    running = undefined
  }

  /** Returns how many of them it answered; the others wait for the next. */
  async function runBatch(jobs: Job[]): Promise<number> {
    // Most bodies succeed, and a savepoint each costs a sixth of a proposal on PostgreSQL: only when one
    // fails are the others run again, each behind its own. A lone body has nobody's work to keep.
    let savepoints = false
    for (let attempt = 1; ;) {
      const connection = await connect()
      // A connection lost while it commits leaves the outcome unknown: trying again could do it twice.
      let committing = false
      try {
        const plan = { savepoints, committing: () => (committing = true) }
        const { answers, appended } = await tryBatch(connection, jobs, plan)
        for (const answer of answers) answer()
        if (appended) onAppend()
        return answers.length
      } catch (error) {
        await connection.control('ROLLBACK').catch(() => undefined)
        if (error instanceof BodyFailed) {
          if (jobs.length === 1) {
            jobs[0]?.reject(error.cause)
            return 1
          }
          savepoints = true
          continue
        }
        const again = connection.mayRetry(error) || (connection.isLost() && !committing)
        if (connection.isLost() && committing) throw outcomeUnknown(error)
        if (attempt === tries || !again) throw error
        await new Promise((later) => setTimeout(later, 20 * attempt))
        attempt++
      }
    }
  }

  type Plan = { readonly savepoints: boolean; readonly committing: () => void }

  async function tryBatch(connection: Connection, jobs: Job[], { savepoints, committing }: Plan) {
    const answers: (() => void)[] = []
    const entries: P[] = []
    // Behind savepoints each body must meet the faults of its own rows.
    const inserts = savepoints ? undefined : bufferInserts(connection)
    const fails = (error: unknown) =>
      connection.mayRetry(error) || connection.isBroken(error)
        ? error
        : new BodyFailed({ cause: error })
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
        const failed = fails(error)
        if (!savepoints || !(failed instanceof BodyFailed)) throw failed
        answers.push(() => job.reject(error))
        await connection.control('ROLLBACK TO body; RELEASE body')
      }
    }
    await inserts?.release().catch((error: unknown) => {
      throw fails(error)
    })
    if (entries.length > 0) await sealer.seal(asTx(connection), entries)
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

/** One body of a batch threw; its own error is the cause. */
class BodyFailed extends Error {
  constructor(options: { cause: unknown }) {
    super('a body failed', options)
  }
}

const asTx = (connection: Connection): Tx => ({
  all: <R>(query: Query<R>) => connection.all(query) as Promise<R[]>,
  first: async <R>(query: Query<R>) => (await connection.all(query))[0] as R | undefined,
  run: (query) => connection.run(query),
  insert: (table, rows) => connection.insert(table, rows),
  append() {
    throw new Error('the sealer appends nothing')
  },
})

/**
 * Runs the bodies of a batch, one at a time, and notices when one waits for anything but the store: that would
 * hold every other caller's commit. A body that is not settled, has no statement under way and stays so for a
 * whole turn of the event loop has left; its transaction is rolled back and its `tx` is dead from then on.
 */
function createGuard<P extends object>(connection: Connection, sealer: Sealer<P>) {
  let inFlight = 0
  let activity = 0
  /** Ends the body that runs. */
  let leave: ((error: CoworkError) => void) | undefined
  // One for all bodies, since most of them come and go within one turn.
  let armed: NodeJS.Immediate | undefined

  const left = () =>
    new CoworkError(
      'transaction_left_the_store',
      'A transaction waited for something other than the store and was rolled back.',
      { hint: 'Await only tx inside transact; do the rest before or after it.' },
    )

  function watch() {
    if (armed) return
    const seen = activity
    armed = setImmediate(() => {
      armed = undefined
      if (!leave || inFlight > 0) return
      if (activity === seen) leave(left())
      else watch()
    })
  }

  return {
    async run(body: TransactionBody<unknown>, own: P[]): Promise<unknown> {
      let ended = false

      async function use<T>(act: () => Promise<T>): Promise<T> {
        if (ended) throw left()
        inFlight++
        activity++
        try {
          return await act()
        } finally {
          inFlight--
          if (inFlight === 0 && leave) watch()
        }
      }

      const tx: Tx = {
        all: <R>(query: Query<R>) => use(() => connection.all(query)) as Promise<R[]>,
        first: <R>(query: Query<R>) =>
          use(async () => (await connection.all(query))[0]) as Promise<R | undefined>,
        run: (query) => use(() => connection.run(query)),
        insert: (table, rows) => use(() => connection.insert(table, rows)),
        append(draft) {
          if (ended) throw left()
          own.push(sealer.prepare(draft))
        },
      }

      activity++
      watch()
      try {
        return await new Promise((resolve, reject) => {
          leave = reject
          body(tx).then(resolve, reject)
        })
      } finally {
        ended = true
        leave = undefined
      }
    },
    [Symbol.dispose]() {
      clearImmediate(armed)
    },
  }
}

export const storeClosedError = () => new CoworkError('store_closed', 'The store is closed.')

const asStoreError = (cause: unknown): CoworkError =>
  cause instanceof CoworkError
    ? cause
    : new CoworkError(
        'store_unavailable',
        `The store could not be written: ${errorMessage(cause)}`,
        {
          hint: 'Nothing was saved. See `cowork doctor` and the log, then try again.',
          cause,
        },
      )

const outcomeUnknown = (cause: unknown) =>
  new CoworkError(
    'outcome_unknown',
    `The connection to the store broke while it was committing: ${errorMessage(cause)}`,
    { hint: 'It may or may not be saved. Look it up before you try again.', cause },
  )
