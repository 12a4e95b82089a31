import { relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatRfc3339 } from '#base/clock.ts'
import { errorMessage } from '#base/errors.ts'
import { readColumns } from './worker/columns.ts'
import type { ListEntry } from './worker/protocol.ts'
import type { FileParts } from './service.ts'

type Deps = Pick<FileParts, 'db' | 'store' | 'worker' | 'workspace' | 'now' | 'log'> & {
  readonly debounceMs?: number
}

/** A larger index would be megabytes, written at every change. */
const maxFiles = 20_000
const pageSize = 5000
/** During continuous changes the index is written after this many debounce intervals. */
const maxPostponements = 5
/** Limits the wait for the last write at shutdown. */
const closeTimeoutMs = 1000

/** Writes `.cowork/index.json`, which lists the workspace files with their authors (F6). */
export function createIndexFile({
  db,
  store,
  worker,
  workspace,
  now,
  log,
  debounceMs = 2000,
}: Deps) {
  let timer: NodeJS.Timeout | undefined
  let scheduledAt = 0
  let isChanged = false
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    const files: ListEntry[] = []
    let after: string | undefined
    do {
      const answer = await worker.ask('list', {
        at: { root: 'workspace', path: '' },
        recursive: true,
        limit: pageSize,
        ignore: false,
        ...(after !== undefined && { after }),
      })
      files.push(
        ...readColumns(answer).filter(
          ({ type, path }) => type === 'file' && !path.startsWith('.cowork/'),
        ),
      )
      after = answer.next
    } while (after !== undefined && files.length < maxFiles)
    const makers = new Map(
      (await store.listMade(db)).map(({ path, by }) => [relative(workspace, path), by]),
    )
    const index = {
      version: 1,
      workspace,
      written_at: formatRfc3339(now()),
      complete: after === undefined,
      files: files.map(({ path, size, modifiedAt }) => ({
        path,
        size,
        modified_at: formatRfc3339(modifiedAt),
        made_by: makers.get(path) ?? null,
      })),
    }
    const body = Buffer.from(`${JSON.stringify(index, undefined, 1)}\n`)
    await worker.ask('writeInternalFile', { name: 'index.json' }, { body })
  }

  function startWrite(): void {
    timer = undefined
    isChanged = false
    writing = writing
      .then(write)
      .catch((error: unknown) =>
        log.warn('workspace index not written', { error: errorMessage(error) }),
      )
  }

  function schedule(): void {
    if (!timer) {
      scheduledAt = performance.now()
      timer = setTimeout(startWrite, debounceMs).unref()
    } else if (performance.now() - scheduledAt < (maxPostponements - 1) * debounceMs)
      timer.refresh()
  }

  return {
    /** Schedules a write at start, because files may have changed while the daemon was stopped. */
    schedule,
    /** Schedules a write after a change. */
    markChanged(): void {
      isChanged = true
      schedule()
    },
    /** Writes pending changes, but does not wait for a disk that does not respond. */
    async close(): Promise<void> {
      clearTimeout(timer)
      if (isChanged) startWrite()
      await Promise.race([writing, sleep(closeTimeoutMs, undefined, { ref: false })])
    },
  }
}
