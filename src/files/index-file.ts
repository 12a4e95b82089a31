import { relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatRfc3339 } from '#base/clock.ts'
import { errorMessage } from '#base/errors.ts'
import { readColumns } from './worker/columns.ts'
import type { ListEntry } from './worker/protocol.ts'
import type { FileParts } from './service.ts'

type Deps = Pick<FileParts, 'db' | 'store' | 'worker' | 'workspace' | 'now' | 'log'> & {
  readonly afterMs?: number
}

/** Beyond this many it would be megabytes, written at every change. */
const mostFiles = 20_000
const pageSize = 5000
/** While changes keep coming it is written all the same, so many quiet times after the first. */
const mostQuiets = 5
/** For the last change before the end. */
const lastMs = 1000

/** `.cowork/index.json`: which files are in the workspace and who made them, for whoever looks there (F6). */
export function createIndexFile({ db, store, worker, workspace, now, log, afterMs = 2000 }: Deps) {
  let timer: NodeJS.Timeout | undefined
  let since = 0
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
    } while (after !== undefined && files.length < mostFiles)
    const makers = new Map(
      (await store.made(db)).map(({ path, by }) => [relative(workspace, path), by]),
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

  function run(): void {
    timer = undefined
    isChanged = false
    writing = writing
      .then(write)
      .catch((error: unknown) =>
        log.warn('the index of the workspace was not written', { error: errorMessage(error) }),
      )
  }

  function renew(): void {
    if (!timer) {
      since = performance.now()
      timer = setTimeout(run, afterMs).unref()
    } else if (performance.now() - since < (mostQuiets - 1) * afterMs) timer.refresh()
  }

  return {
    /** At start, since people may have changed something meanwhile. */
    renew,
    /** Something changed: it is written once things are quiet, or have not been for long. */
    touch(): void {
      isChanged = true
      renew()
    },
    /** What has not been written yet is; but a disk that does not answer does not keep the daemon. */
    async close(): Promise<void> {
      clearTimeout(timer)
      if (isChanged) run()
      await Promise.race([writing, sleep(lastMs, undefined, { ref: false })])
    },
  }
}
