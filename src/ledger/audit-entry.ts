import { formatRfc3339 } from '#base/clock.ts'
import type { TouchedFile } from '#base/tool.ts'
import type { MirroredEntry } from './mirror.ts'
import type { Entry } from './model.ts'
import type { AuditEntry } from './wire.ts'

/** The types of entries that end a call. The entry of a proposal also ends its call (0014). */
export const callEndTypes = [
  'call.done',
  'call.failed',
  'call.refused',
  'proposal.created',
] as const

type TypedEntry = { readonly type: unknown; readonly data?: unknown }

/** Returns whether an entry records a completed call. Before 0014 a proposal had a separate `call.done`. */
export const isCompletedCall = ({ type, data }: TypedEntry): boolean =>
  type === 'call.done' || (type === 'proposal.created' && hasTool(data))

const hasTool = (data: unknown) =>
  typeof data === 'object' && data !== null && Object.hasOwn(data, 'tool')

/** Builds one audit line per file of a call, or one line for the subject. */
export function toAuditEntries(entry: Entry): AuditEntry[] {
  const { at, type, actor, subject, domain, ids, data } = entry
  // The log of File Ops contains the area of a file: the workspace or a grant (FT8).
  const { tool, size_bytes: size, area: defaultArea = domain, dry_run } = data ?? {}
  const touched = readTouchedFiles(entry)
  const files: readonly Partial<TouchedFile>[] =
    touched.length > 0
      ? touched
      : [
          {
            ...(subject !== undefined && { path: subject }),
            ...(ids?.grant && { grant: ids.grant }),
          },
        ]
  return files.map(({ path, area = defaultArea, grant, success, size_bytes }) => {
    const bytes = size_bytes ?? (files.length === 1 || path === subject ? size : undefined)
    return {
      timestamp: formatRfc3339(at),
      operation: typeof tool === 'string' ? tool : type,
      ...(path !== undefined && { path }),
      ...(typeof area === 'string' && { domain: area }),
      ...(grant !== undefined && { grant_id: grant }),
      agent_id: actor.id,
      ...(actor.session !== undefined && { session_id: actor.session }),
      success: isCompletedCall(entry) && success !== false,
      ...(dry_run === true && { dry_run }),
      ...(typeof bytes === 'number' && { size_bytes: bytes }),
    }
  })
}

const areas: readonly unknown[] = ['workspace', 'granted']

/**
 * Builds the lines of `audit.log_path` (L9): each file operation, including failed and refused ones, in the format of
 * File Ops. Each line ends with the seq of the ledger entry, from which the file continues after a restart.
 */
export function toFileOperations(entry: Entry): readonly MirroredEntry[] {
  if (entry.domain !== 'files' || !(callEndTypes as readonly string[]).includes(entry.type))
    return []
  return toAuditEntries(entry)
    .filter(({ domain }) => areas.includes(domain))
    .map((line) => ({ ...line, seq: entry.seq }))
}

/** Maximum number of files in an entry, to keep entries small. A longer list is truncated and counted. */
const maxTouchedFiles = 100

export const toTouchedData = (files: readonly TouchedFile[]) => ({
  files: files.slice(0, maxTouchedFiles),
  ...(files.length > maxTouchedFiles && { files_count: files.length }),
})

/** Reads the files of an entry that names several files, or one that is not its subject. */
export function readTouchedFiles({ data }: Pick<Entry, 'data'>): readonly TouchedFile[] {
  const files = data?.['files']
  return Array.isArray(files) ? files.filter(isTouchedFile) : []
}

const isTouchedFile = (file: unknown): file is TouchedFile =>
  typeof file === 'object' && file !== null && 'path' in file && typeof file.path === 'string'
