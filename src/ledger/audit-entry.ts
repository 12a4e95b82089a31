import { rfc3339 } from '#base/clock.ts'
import type { TouchedFile } from '#base/tool.ts'
import { callEnds, isDone } from './calls.ts'
import type { Shown } from './mirror.ts'
import type { Entry } from './model.ts'
import { touchedIn } from './touched.ts'
import type { AuditEntry } from './wire.ts'

/** A line for each file that the call was about; one where it says no more than its subject. */
export function auditEntriesOf(entry: Entry): AuditEntry[] {
  const { at, type, actor, subject, domain, ids, data } = entry
  // The seed's log names the area of a file: the workspace, or a grant (FT8).
  const { tool, size_bytes: size, area: ownArea = domain, dry_run } = data ?? {}
  const touched = touchedIn(entry)
  const about: readonly Partial<TouchedFile>[] =
    touched.length > 0
      ? touched
      : [
          {
            ...(subject !== undefined && { path: subject }),
            ...(ids?.grant && { grant: ids.grant }),
          },
        ]
  return about.map(({ path, area = ownArea, grant, success, size_bytes }) => {
    const bytes = size_bytes ?? (about.length === 1 || path === subject ? size : undefined)
    return {
      timestamp: rfc3339(at),
      operation: typeof tool === 'string' ? tool : type,
      ...(path !== undefined && { path }),
      ...(typeof area === 'string' && { domain: area }),
      ...(grant !== undefined && { grant_id: grant }),
      agent_id: actor.id,
      ...(actor.session !== undefined && { session_id: actor.session }),
      success: isDone(entry) && success !== false,
      ...(dry_run === true && { dry_run }),
      ...(typeof bytes === 'number' && { size_bytes: bytes }),
    }
  })
}

const ends: readonly string[] = callEnds
const areas: readonly unknown[] = ['workspace', 'granted']

/**
 * The lines of `audit.log_path` (L9): each file operation, also a failed or refused one, in the words of seed 004. The
 * seq of the ledger entry comes last; it is how the file continues after a restart.
 */
export function fileOperationsIn(entry: Entry): readonly Shown[] {
  if (entry.domain !== 'files' || !ends.includes(entry.type)) return []
  return auditEntriesOf(entry)
    .filter(({ domain }) => areas.includes(domain))
    .map((line) => ({ ...line, seq: entry.seq }))
}
