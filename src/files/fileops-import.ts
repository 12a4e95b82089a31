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

const mostBytes = 50 * 1024 * 1024

/** What an earlier File Ops left in `.fileops/` (F6): its index becomes known, its log is kept as it is. */
export function importFileOpsWorkspace(
  { path, own }: Workspace,
  log: Log,
): FileOpsImport | undefined {
  const folder = join(path, '.fileops')
  // The workspace is open to agents: a link there must not have files from elsewhere copied into it.
  if (!isPlainFolder(folder)) return undefined
  const index = textOf(join(folder, 'index.json'), log)
  const audit = textOf(join(folder, 'audit.log'), log)
  if (index === undefined && audit === undefined) return undefined
  if (audit !== undefined) writeFileAtomic(join(own, 'fileops-audit.log'), audit)
  return {
    made: index === undefined ? [] : madeIn(index, path, log),
    ...(audit !== undefined && {
      audit: { lines: audit.split('\n').filter(Boolean).length, sha256: sha256Hex(audit) },
    }),
  }
}

const isPlainFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Only a plain file that lies there itself; a FIFO does not hold the daemon up. */
function textOf(file: string, log: Log): string | undefined {
  try {
    const fd = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const found = fstatSync(fd)
      if (found.isFile() && found.size <= mostBytes) return readFileSync(fd, 'utf8')
      log.warn('a file of the earlier workspace was not imported', { file, size: found.size })
      return undefined
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    log.warn('a file of the earlier workspace was not imported', {
      file,
      error: errorMessage(error),
    })
    return undefined
  }
}

type Indexed = Readonly<Record<string, unknown>>

/** The seed fixes no form for its index: a list of files, or an object by path. What is not understood is left. */
function madeIn(text: string, root: string, log: Log): FileOpsImport['made'] {
  let index: unknown
  try {
    index = JSON.parse(text)
  } catch (error) {
    log.warn('the index of the earlier workspace is not JSON', { error: errorMessage(error) })
    return []
  }
  const files = isObject(index) && 'files' in index ? index['files'] : index
  const entries = Array.isArray(files)
    ? files.filter(isObject)
    : isObject(files)
      ? Object.entries(files).map(([path, more]) => ({ path, ...(isObject(more) && more) }))
      : []
  return entries.flatMap((entry) => {
    const { path, made_by, created_by, agent_id, created_at, modified_at } = entry as Indexed
    const by = [made_by, created_by, agent_id].find((one) => typeof one === 'string')
    if (typeof path !== 'string' || typeof by !== 'string') return []
    const names = path.split('/').filter((name) => name !== '' && name !== '.')
    if (path.startsWith('/') || names.includes('..') || names.length === 0) return []
    const at = [created_at, modified_at].map((one) => Date.parse(String(one))).find(Number.isFinite)
    return [{ path: join(root, ...names), by, at: at ?? 0 }]
  })
}

const isObject = (value: unknown): value is Indexed =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
