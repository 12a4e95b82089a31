import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '#base/log.ts'
import { inWorkspace } from '../../../test/ops.ts'
import { testFolders } from '../../../test/roots.ts'
import { createFileWorker } from '../client.ts'
import { listedOf } from '../worker/columns.ts'

/** How many threads each process has that this one has started. */
const threadsOfChildren = (): number[] =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map((pid) => readdirSync(`/proc/${pid}/task`).length)

test.runIf(process.platform === 'linux' && availableParallelism() > 1)(
  'PV6 FT3 behind Landlock another thread comes up for long lists, and stays',
  async () => {
    const { workspace, setup } = testFolders()
    const worker = createFileWorker({ setup, log: silentLog })
    onTestFinished(() => worker.close())
    for (let n = 0; n < 1000; n++) writeFileSync(join(workspace, `n${1000 + n}`), 'x'.repeat(n))
    const ask = { at: inWorkspace(''), recursive: false, ignore: false }
    const sizes = async (limit: number) =>
      listedOf(await worker.ask('list', { ...ask, limit })).map(({ size }) => size)
    expect(await sizes(10)).toHaveLength(10)
    const before = threadsOfChildren()
    for (let round = 0; round < 20; round++) {
      expect(await sizes(1000)).toEqual(Array.from({ length: 1000 }, (_, n) => n))
      await sleep(20)
    }
    expect(worker.containment()).toBe('landlock')
    expect(threadsOfChildren()).toEqual(before.map((count) => count + 1))
  },
)
