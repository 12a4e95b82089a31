import { checkWork } from './check.ts'
import type { GuardedFiles } from './guarded.ts'
import { workMigrations } from './migrations.ts'
import { workPrompts } from './prompts.ts'
import { workResources } from './resources.ts'
import { createWork } from './service.ts'
import type { WorkDeps } from './service.ts'
import { workTools } from './tools/index.ts'
import type { Caller } from '#base/caller.ts'
import type { SharedKeys } from '#identity'

type Context = Pick<WorkDeps, 'db' | 'config' | 'now' | 'log'> & {
  readonly guarded: () => GuardedFiles
  readonly shared: SharedKeys | undefined
  readonly onClose: (close: () => unknown) => void
}

export const module = {
  migrations: workMigrations,
  open: ({ guarded, shared, onClose, log, ...context }: Context) => ({
    async start() {
      const work = createWork({
        ...context,
        guarded: guarded(),
        needsToken: shared?.worksyncKey !== undefined,
        log: log.scope('work'),
      })
      onClose(work.close)
      await work.start()
      return {
        tools: workTools(work),
        checks: [checkWork(work)],
        resources: [workResources(work)],
        prompts: (caller: Caller) => workPrompts(work, caller),
      }
    },
  }),
}
