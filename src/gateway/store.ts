import type { Dialect, Reader, Tx } from '#base/db/port.ts'
import { builder, query } from '#base/db/statement.ts'
import type { Pin, ToolDefinition } from './rules/pinning.ts'

type ToolRow = {
  server: string
  tool: string
  hash: string
  /** JSON of a `ToolDefinition`. */
  definition: string
  accepted_by: string
  accepted_at: number
}
type Tables = { server_tool: ToolRow }

export type GatewayStore = ReturnType<typeof createGatewayStore>

/** The only SQL about accepted tools of upstream servers. */
export function createGatewayStore(dialect: Dialect) {
  const sql = builder<Tables>(dialect)

  return {
    async pins(db: Reader, server: string): Promise<readonly Pin[]> {
      const rows = await db.all(
        query(
          sql
            .selectFrom('server_tool')
            .select(['tool', 'hash', 'definition'])
            .where('server', '=', server)
            .orderBy('tool'),
        ),
      )
      return rows.map(({ tool, hash, definition }) => ({
        tool,
        hash,
        definition: JSON.parse(definition) as ToolDefinition,
      }))
    },

    /** Replaces the pins of these tools, and deletes those of tools that are gone. */
    async savePins(tx: Tx, server: string, { pins, gone = [], by, at }: SavedPins): Promise<void> {
      const names = [...pins.map(({ tool }) => tool), ...gone]
      if (names.length > 0)
        await tx.run(
          query(
            sql.deleteFrom('server_tool').where('server', '=', server).where('tool', 'in', names),
          ),
        )
      await tx.insert(
        'server_tool',
        pins.map(({ tool, hash, definition }) => ({
          server,
          tool,
          hash,
          definition: JSON.stringify(definition),
          accepted_by: by,
          accepted_at: at,
        })),
      )
    },
  }
}

type SavedPins = {
  readonly pins: readonly Pin[]
  readonly gone?: readonly string[]
  readonly by: string
  readonly at: number
}
