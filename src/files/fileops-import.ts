import { closeSync, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { errorMessage } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import type { Log } from '#base/log.ts'
import { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } from './confine/flags.ts'
import type { Workspace } from './workspace.ts'

export type FileOpsImport = {
  readonly made: readonly { readonly path: string; readonly by: string; readonly at: number }[]
  readonly audit?: { readonly lines: number; readonly sha256: string }
}

const maxBytes = 50 * 1024 * 1024

/** Imports the index and the log of a File Ops workspace from `.fileops/` (F6). */
export function importFileOpsWorkspace(
  { path, internalFolder }: Workspace,
  log: Log,
): FileOpsImport | undefined {
  const folder = join(path, '.fileops')
  // Agents can write to the workspace: a symbolic link there must not import files from outside.
  if (!isPlainFolder(folder)) return undefined
  const index = readText(join(folder, 'index.json'), log)
  const audit = readText(join(folder, 'audit.log'), log)
  if (index === undefined && audit === undefined) return undefined
  if (audit !== undefined) writeFileAtomic(join(internalFolder, 'fileops-audit.log'), audit)
  return {
    made: index === undefined ? [] : parseIndex(index, path, log),
    ...(audit !== undefined && {
      audit: { lines: audit.split('\n').filter(Boolean).length, sha256: sha256Hex(audit) },
    }),
  }
}

const isPlainFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Reads a regular file; refuses symbolic links, and does not block on a FIFO. */
function readText(file: string, log: Log): string | undefined {
  try {
    const fd = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const stat = fstatSync(fd)
      if (stat.isFile() && stat.size <= maxBytes) return readFileSync(fd, 'utf8')
      log.warn('file ops import: file skipped', { file, size: stat.size })
      return undefined
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    log.warn('file ops import: file skipped', {
      file,
      error: errorMessage(error),
    })
    return undefined
  }
}

type IndexEntry = Readonly<Record<string, unknown>>

/** File Ops specifies no index format. Accepts a list of files or an object by path, and skips other entries. */
function parseIndex(text: string, root: string, log: Log): FileOpsImport['made'] {
  let index: unknown
  try {
    index = JSON.parse(text)
  } catch (error) {
    log.warn('file ops import: index is not JSON', { error: errorMessage(error) })
    return []
  }
  const files = isObject(index) && 'files' in index ? index['files'] : index
  const entries = Array.isArray(files)
    ? files.filter(isObject)
    : isObject(files)
      ? Object.entries(files).map(([path, fields]) => ({ path, ...(isObject(fields) && fields) }))
      : []
  return entries.flatMap((entry) => {
    const { path, made_by, created_by, agent_id, created_at, modified_at } = entry as IndexEntry
    const by = [made_by, created_by, agent_id].find((value) => typeof value === 'string')
    if (typeof path !== 'string' || typeof by !== 'string') return []
    const names = path.split('/').filter((name) => name !== '' && name !== '.')
    if (path.startsWith('/') || names.includes('..') || names.length === 0) return []
    const at = [created_at, modified_at]
      .map((value) => Date.parse(String(value)))
      .find(Number.isFinite)
    return [{ path: join(root, ...names), by, at: at ?? 0 }]
  })
}

const isObject = (value: unknown): value is IndexEntry =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
