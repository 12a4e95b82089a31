import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { CoworkError } from '#base/errors.ts'
import type { StatePaths } from '#base/state.ts'

const made = z.union([
  z.object({ depth: z.int(), padded: z.boolean() }),
  z.object({ gap: z.string() }),
])
const step = z.union([z.string(), z.object({ id: z.string() })])

const connection = z.object({
  client: z.string(),
  file: z.string(),
  agent: z.string(),
  via: z.enum(['stdio', 'http']),
  created_file: z.boolean(),
  /** The file before the first connect. */
  backup: z.string().optional(),
  /** Written entries; never a token, only the digest of the value. */
  entries: z.array(z.object({ place: z.array(step), digest: z.string(), made: made.optional() })),
  connected_at: z.string(),
})
const content = z.object({ connections: z.array(connection) })

export type Connection = z.output<typeof connection>

export const connectionsFile = (paths: StatePaths): string => join(paths.dir, 'connections.json')

/** Reads what `cowork connect` wrote and where, so that `disconnect` can revert it byte for byte. */
export function readConnections(paths: StatePaths): Connection[] {
  const file = connectionsFile(paths)
  if (!existsSync(file)) return []
  try {
    return content.parse(JSON.parse(readFileSync(file, 'utf8'))).connections
  } catch (cause) {
    throw new CoworkError('state_damaged', `Invalid connections file: ${file}.`, {
      hint: 'Move the file away; `cowork disconnect` finds its entries in the clients’ files.',
      cause,
    })
  }
}

/** Saves one connection per client and file. */
export function saveConnection(paths: StatePaths, added: Connection): void {
  write(paths, [...without(paths, added), added])
}

export function deleteConnection(
  paths: StatePaths,
  connection: Pick<Connection, 'client' | 'file'>,
): void {
  write(paths, without(paths, connection))
}

const without = (paths: StatePaths, { client, file }: Pick<Connection, 'client' | 'file'>) =>
  readConnections(paths).filter((row) => row.client !== client || row.file !== file)

const write = (paths: StatePaths, connections: readonly Connection[]) =>
  writeFileAtomic(connectionsFile(paths), `${JSON.stringify({ connections }, null, 2)}\n`)
