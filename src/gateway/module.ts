import type { Clock } from '#base/clock.ts'
import type { Config } from '#base/config/index.ts'
import type { Db } from '#base/db/port.ts'
import type { Log } from '#base/log.ts'
import type { Tool } from '#base/tool.ts'
import { createServerManager } from './manager.ts'
import type { ManagedServer } from './manager.ts'
import { gatewayMigrations } from './migrations.ts'
import { checkIntent } from './rules/intent.ts'
import { createSettingsFile } from './settings-file.ts'
import { createGatewayStore } from './store.ts'
import { gatewayTools } from './tools.ts'
import { toUpstreamTool } from './upstream-tool.ts'

type Context = {
  readonly db: Db
  readonly config: Pick<Config, 'sentry'>
  readonly mcpSettings: string
  readonly home: string
  readonly version: string
  readonly maskSecrets: (text: string) => string
  readonly onClose: (close: () => unknown) => void
  readonly now: Clock
  readonly log: Log
}

export const module = {
  migrations: gatewayMigrations,
  open: ({ db, config, mcpSettings, home, version, maskSecrets, onClose, now, log }: Context) => ({
    start() {
      const file = createSettingsFile(mcpSettings)
      const scoped = log.scope('gateway')
      const manager = createServerManager({
        db,
        store: createGatewayStore(db.dialect),
        file,
        version,
        home,
        now,
        log: scoped,
      })
      onClose(manager.close)

      // Tools are made once per list, because their schemas are compiled.
      const made = new WeakMap<ManagedServer['accepted'], readonly Tool[]>()
      const listTools = ({ remote, accepted }: ManagedServer): readonly Tool[] => {
        const known = made.get(accepted)
        if (known) return known
        const tools = accepted.map((raw) =>
          toUpstreamTool(remote.settings, raw, { request: manager.request, maskSecrets }),
        )
        made.set(accepted, tools)
        return tools
      }
      let live: readonly Tool[] | undefined
      manager.onChange(() => (live = undefined))

      return Promise.resolve({
        tools: gatewayTools({ db, manager, file, listTools, maskSecrets }),
        liveTools: {
          list: () => (live ??= manager.list().flatMap(listTools)),
          onChange: manager.onChange,
          servers: () =>
            manager.list().map(({ remote: { name, settings } }) => ({
              name,
              description: settings.description,
            })),
        },
        checks: [
          checkIntent({
            sentry: config.sentry,
            isUpstream: (toolset) => manager.list().some(({ remote }) => remote.name === toolset),
            warn: (tool, agent) => scoped.warn('call without intent', { tool, agent }),
          }),
        ],
      })
    },
  }),
}
