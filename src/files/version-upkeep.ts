import { systemActor } from '#base/entry.ts'
import { newId } from '#base/ids.ts'
import { bytesOf, contentsToDrop, versionsToDrop } from './rules/retention.ts'
import type { VersionLimits } from './rules/retention.ts'
import type { FileParts } from './service.ts'

type Deps = Pick<FileParts, 'db' | 'store' | 'history' | 'worker' | 'now'> & {
  readonly limits: VersionLimits
}

/** Contents in one call: however slow the disk, it is done before the call's deadline. */
const mostAtOnce = 1000
const mostNamed = 100

/** Keeps the version store within its limits (TR4). Rows and contents are both of this node alone. */
export function createVersionUpkeep({ db, store, history, worker, limits, now }: Deps) {
  /** What versions take up; too much where equal contents came since it was counted. */
  let storedBytes = 0
  /** Contents that could go, and had to be spared the last time. */
  let spared: readonly string[] = []

  /** What a file was that a crash left half written, and that no grant opens any more, is a version like others. */
  async function adoptNotes(): Promise<void> {
    await history.cleaning(async () => {
      const { notes } = await worker.ask('leftNotes', { settled: [] })
      if (notes.length === 0) return
      await db.transact(async (tx) => {
        for (const { path, before, at } of notes)
          await store.keepVersion(tx, {
            id: newId(),
            path,
            ...before,
            at,
            by: 'unknown',
            operation: 'update_file',
            call: '',
          })
        tx.append({
          type: 'versions.found',
          actor: systemActor,
          domain: 'files',
          data: {
            versions: notes.length,
            found: notes.map(({ path }) => path).slice(0, mostNamed),
          },
        })
      })
      await worker.ask('leftNotes', { settled: notes.map(({ name }) => name) })
    })
  }

  /** What is beyond the limits goes for good, and contents that no version names. */
  async function expire(): Promise<void> {
    await adoptNotes()
    const lying = await contentsThere()
    await history.cleaning(async (isExpected) => {
      const all = await store.versions(db)
      const over = new Set(versionsToDrop(all, limits, now()))
      const kept = all.filter((one) => !over.has(one))
      const there = new Set([...lying, ...[...over].map(({ sha256 }) => sha256)])
      const ids = [...over].map(({ id }) => id)
      await drop(ids, contentsToDrop([...there], kept), isExpected)
      storedBytes = bytesOf(kept)
    })
  }

  /**
   * All that lie in the store for as long as a version is kept, also those a crash left there before a version
   * could name them: until then such a one may be the only copy of what was overwritten.
   */
  async function contentsThere(): Promise<readonly string[]> {
    const all: string[] = []
    const before = now() - limits.retentionMs
    let after: string | undefined
    do {
      const { sha256, next } = await worker.ask('keptVersions', {
        before,
        ...(after !== undefined && { after }),
      })
      all.push(...sha256)
      after = next
    } while (after !== undefined)
    return all
  }

  /** On record first: contents that are left over when that fails are found the next time. */
  async function drop(
    ids: readonly string[],
    contents: readonly string[],
    isExpected: (sha256: string) => boolean,
  ): Promise<void> {
    const unneeded = contents.filter((sha256) => !isExpected(sha256))
    spared = contents.filter(isExpected)
    if (ids.length + unneeded.length === 0) return
    await db.transact(async (tx) => {
      for (const id of ids) await store.dropVersion(tx, id)
      tx.append({
        type: 'versions.dropped',
        actor: systemActor,
        domain: 'files',
        data: { versions: ids.length, contents: unneeded.length, why: 'retention' },
      })
    })
    for (let at = 0; at < unneeded.length; at += mostAtOnce)
      await worker.ask('dropVersions', { sha256: unneeded.slice(at, at + mostAtOnce) })
  }

  return {
    expire,
    /** What came since the last time. All is gone through only where there may be too much in all. */
    async trim(): Promise<void> {
      const { bytes, surplus } = history.takeGrowth()
      storedBytes += bytes
      const perhaps = [...new Set([...spared, ...surplus])]
      if (storedBytes > limits.maxBytes) await expire()
      else if (perhaps.length > 0)
        await history.cleaning(async (isExpected) => {
          const named = await store.named(db, perhaps)
          await drop(
            [],
            perhaps.filter((sha256) => !named.has(sha256)),
            isExpected,
          )
        })
    },
  }
}
