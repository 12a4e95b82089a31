import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { paginateByKey } from '#base/db/pages.ts'
import type { Snapshot } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { parseJson } from '#base/json.ts'
import type { StoredEntry } from './chain-verifier.ts'
import { toIndexColumns, emptyHead } from './model.ts'
import { leafHash } from './tree.ts'
import type { Entry } from './model.ts'
import { createLedgerStore } from './store.ts'
import type { PayloadRow } from './store.ts'
import type { LedgerSource } from './verify.ts'

type CheckpointCopy = { readonly size: number; readonly note: string }

/** Creates the source for a ledger in a store, with the copies of its checkpoints. */
export async function databaseSource(
  db: Snapshot,
  copies: readonly CheckpointCopy[],
): Promise<{ source: LedgerSource; vkey: string | undefined }> {
  const store = createLedgerStore(db.dialect)
  // A migration creates the head; a store without it was changed.
  const head = (await store.peek(db)) ?? emptyHead
  return {
    vkey: await store.key(db),
    source: {
      head,
      toColumns: toIndexColumns,
      async *entries() {
        const page = (after: number, limit: number) => store.stored(db, after, limit)
        for await (const rows of paginateByKey(page))
          // The row also serves as the columns: copying them cost 2 of the 12 µs per entry.
          yield rows.map((row) => ({
            seq: row.seq,
            at: row.at,
            type: row.type,
            hash: row.hash,
            body: row.body,
            columns: row,
            payload:
              row.payload_salt === null || row.payload_body === null
                ? undefined
                : { salt: row.payload_salt, body: row.payload_body },
          }))
      },
      checkpoints: async () => [...(await store.checkpoints(db)), ...copies],
      async *nodes() {
        yield (await store.allNodes(db)).map(({ level, idx, hash }) => ({
          level,
          index: idx,
          hash,
        }))
      },
    },
  }
}

/** File names in a folder of `cowork audit export`. */
export const exportNames = {
  entries: 'entries.jsonl',
  payloads: 'payloads.jsonl',
  checkpoints: 'checkpoints.jsonl',
  key: 'key.pub',
} as const

/** Creates the source for an exported ledger, which needs only the files. */
export function folderSource(folder: string): { source: LedgerSource; vkey: string } {
  const file = (name: keyof typeof exportNames) => join(folder, exportNames[name])
  for (const name of ['entries', 'checkpoints', 'key'] as const)
    if (!existsSync(file(name)))
      throw new CoworkError('not_found', `Not found: ${file(name)}`, {
        hint: 'Use a folder that `cowork audit export` wrote.',
      })
  return {
    vkey: readFileSync(file('key'), 'utf8').trim(),
    source: {
      entries: () => readExportedEntries(file('entries'), file('payloads')),
      checkpoints: async () => readCheckpoints(file('checkpoints')),
    },
  }
}

export const readCheckpoints = (path: string): CheckpointCopy[] =>
  existsSync(path) ? parseCheckpoints(readFileSync(path, 'utf8')) : []

/** Parses one JSON object per line: {size, note}. Ignores a partial line that a crash left. */
export const parseCheckpoints = (text: string): CheckpointCopy[] =>
  text.split('\n').flatMap((line) => (parseJson(line) as CheckpointCopy | undefined) ?? [])

const batchSize = 1000
const placeholderEntry = (seq: number) => ({ seq, at: 0, type: '' })

/** Reads exported entries. A line is the canonical body, which was hashed. Payloads have the same order. */
async function* readExportedEntries(
  entries: string,
  payloads: string,
): AsyncGenerator<StoredEntry[], void> {
  const payloadLines = readLines(payloads)
  let next = await payloadLines.next()
  let batch: StoredEntry[] = []
  let last = 0
  for await (const body of readLines(entries)) {
    // An invalid line gets the next seq, so that the verifier can report it.
    const { seq, at, type } = (parseJson(body) as Entry | undefined) ?? placeholderEntry(last + 1)
    last = seq
    const payloadRow = next.done ? undefined : (parseJson(next.value) as PayloadRow | undefined)
    const payload =
      payloadRow?.seq === seq ? { salt: payloadRow.salt, body: payloadRow.body } : undefined
    if (payload) next = await payloadLines.next()
    batch.push({
      seq,
      at,
      type,
      hash: leafHash(body).toString('hex'),
      body,
      ...(payload && { payload }),
    })
    if (batch.length === batchSize) {
      yield batch
      batch = []
    }
  }
  yield batch
}

async function* readLines(path: string): AsyncGenerator<string, void> {
  if (!existsSync(path)) return
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity }))
    if (line !== '') yield line
}
