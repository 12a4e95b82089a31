import { formatRfc3339 } from '#base/clock.ts'
import type { TouchedFile } from '#base/tool.ts'
import type { MirroredEntry } from './mirror.ts'
import type { Entry } from './model.ts'
import type { AuditEntry } from './wire.ts'

/** Entries that say how a call ended. That of a proposal is the record of its own call (0014). */
export const callEndTypes = [
  'call.done',
  'call.failed',
  'call.refused',
  'proposal.created',
] as const

type TypedEntry = { readonly type: unknown; readonly data?: unknown }

/** Whether it says that a call was carried out. Before 0014 a proposal had a `call.done` beside it. */
export const isCompletedCall = ({ type, data }: TypedEntry): boolean =>
  type === 'call.done' || (type === 'proposal.created' && hasTool(data))

const hasTool = (data: unknown) =>
  typeof data === 'object' && data !== null && Object.hasOwn(data, 'tool')

/** A line for each file that the call was about; one where it says no more than its subject. */
export function toAuditEntries(entry: Entry): AuditEntry[] {
  const { at, type, actor, subject, domain, ids, data } = entry
  // The seed's log names the area of a file: the workspace, or a grant (FT8).
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
 * The lines of `audit.log_path` (L9): each file operation, also a failed or refused one, in the words of seed 004. The
 * seq of the ledger entry comes last; it is how the file continues after a restart.
 */
export function toFileOperations(entry: Entry): readonly MirroredEntry[] {
  if (entry.domain !== 'files' || !(callEndTypes as readonly string[]).includes(entry.type))
    return []
  return toAuditEntries(entry)
    .filter(({ domain }) => areas.includes(domain))
    .map((line) => ({ ...line, seq: entry.seq }))
}

/** Entries stay small: of a call about more files the first are named, and how many there were. */
const maxTouchedFiles = 100

export const toTouchedData = (files: readonly TouchedFile[]) => ({
  files: files.slice(0, maxTouchedFiles),
  ...(files.length > maxTouchedFiles && { files_count: files.length }),
})

/** The files of an entry, where it names several or its subject is none. */
export function readTouchedFiles({ data }: Pick<Entry, 'data'>): readonly TouchedFile[] {
  const files = data?.['files']
  return Array.isArray(files) ? files.filter(isTouchedFile) : []
}

const isTouchedFile = (file: unknown): file is TouchedFile =>
  typeof file === 'object' && file !== null && 'path' in file && typeof file.path === 'string'
