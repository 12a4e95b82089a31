// The guard of files for tests of other modules: the real worker and the real rules, without grants.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../src/base/config/index.ts'
import { silentLog } from '../src/base/log.ts'
import { statePaths } from '../src/base/state.ts'
import { createFileWorker } from '../src/files/worker-client.ts'
import type { FileWorker } from '../src/files/worker-client.ts'
import { toGuardSettings } from '../src/files/guard-settings.ts'
import { createGuardedFiles } from '../src/files/guarded-files.ts'
import { createGuard } from '../src/files/rules/guard.ts'
import type { Root } from '../src/files/worker/protocol.ts'

/** Most tests of work read no file of a repository: the worker starts with the first that does. */
export function guardFiles(folder: string) {
  const home = homedir()
  const state = join(folder, 'state')
  const { config } = loadConfig({ env: { COWORK_STATE_DIR: state } })
  const paths = statePaths(state)
  const guard = toGuardSettings({ config, paths, home, workspace: join(folder, 'workspace') })
  const limits = { maxFileBytes: 50_000_000, maxBinaryReadBytes: 10_000_000 }
  let worker: FileWorker | undefined
  const workerWith = (roots: readonly Root[]) =>
    (worker ??= createFileWorker({ setup: { roots, guard, limits }, log: silentLog }))
  const guarded = createGuardedFiles({
    worker: { ask: (...asked) => workerWith([]).ask(...asked) },
    guard: createGuard(guard),
    home,
    setFolders: (roots) => workerWith([]).setRoots(roots),
  })
  return { ...guarded, close: async () => worker?.close() }
}
