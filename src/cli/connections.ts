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
  /** The file as it was before the first connect. */
  backup: z.string().optional(),
  /** What was written where; never a token, only the digest of the value. */
  entries: z.array(z.object({ place: z.array(step), digest: z.string(), made: made.optional() })),
  connected_at: z.string(),
})
const content = z.object({ connections: z.array(connection) })

export type Connection = z.output<typeof connection>

export const connectionsFile = (paths: StatePaths): string => join(paths.dir, 'connections.json')

/** What `cowork connect` has written and where, so that it can be undone to the byte. */
export function readConnections(paths: StatePaths): Connection[] {
  const file = connectionsFile(paths)
  if (!existsSync(file)) return []
  try {
    return content.parse(JSON.parse(readFileSync(file, 'utf8'))).connections
  } catch (cause) {
    throw new CoworkError('state_damaged', `${file} is not a list of connections.`, {
      hint: 'Move it away; `cowork disconnect` then finds its entries in the clients’ files.',
      cause,
    })
  }
}

/** One connection per client and file. */
export function saveConnection(paths: StatePaths, added: Connection): void {
  write(paths, [...without(paths, added), added])
}

export function deleteConnection(
  paths: StatePaths,
  gone: Pick<Connection, 'client' | 'file'>,
): void {
  write(paths, without(paths, gone))
}

const without = (paths: StatePaths, { client, file }: Pick<Connection, 'client' | 'file'>) =>
  readConnections(paths).filter((one) => one.client !== client || one.file !== file)

const write = (paths: StatePaths, connections: readonly Connection[]) =>
  writeFileAtomic(connectionsFile(paths), `${JSON.stringify({ connections }, null, 2)}\n`)
