import type { Clock } from '#base/clock.ts'
import type { Db } from '#base/db/port.ts'
import type { Log } from '#base/log.ts'
import type { Tool } from '#base/tool.ts'
import { createServerManager } from './manager.ts'
import type { ManagedServer } from './manager.ts'
import { gatewayMigrations } from './migrations.ts'
import { createSettingsFile } from './settings-file.ts'
import { createGatewayStore } from './store.ts'
import { gatewayTools } from './tools.ts'
import { toUpstreamTool } from './upstream-tool.ts'

type Context = {
  readonly db: Db
  readonly mcpSettings: string
  readonly home: string
  readonly version: string
  readonly redact: (value: unknown) => unknown
  readonly onClose: (close: () => unknown) => void
  readonly now: Clock
  readonly log: Log
}

export const module = {
  migrations: gatewayMigrations,
  open: ({ db, mcpSettings, home, version, redact, onClose, now, log }: Context) => ({
    start() {
      const file = createSettingsFile(mcpSettings)
      const manager = createServerManager({
        db,
        store: createGatewayStore(db.dialect),
        file,
        version,
        home,
        now,
        log: log.scope('gateway'),
      })
      onClose(manager.close)
      // Tools are made once per list, because their schemas are compiled.
      const made = new WeakMap<ManagedServer['accepted'], readonly Tool[]>()
      const listTools = ({ remote, accepted }: ManagedServer): readonly Tool[] => {
        const known = made.get(accepted)
        if (known) return known
        const tools = accepted.map((raw) =>
          toUpstreamTool(remote.settings, raw, { request: manager.request, redact }),
        )
        made.set(accepted, tools)
        return tools
      }
      return Promise.resolve({
        tools: gatewayTools({ db, manager, file, listTools, redact }),
        liveTools: {
          list: () => manager.list().flatMap(listTools),
          onChange: manager.onChange,
        },
        servers: () =>
          manager.list().map(({ remote: { name, settings } }) => ({
            name,
            description: settings.description,
          })),
      })
    },
  }),
}
