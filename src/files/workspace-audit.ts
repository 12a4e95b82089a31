import { sep } from 'node:path'
import { touchedIn } from '#ledger'
import type { Entry, Shown } from '#ledger'

/** What was done to a file, and nothing of by which right or from where. */
const facts = ['size_bytes', 'sha256', 'dry_run'] as const

/**
 * What `.cowork/audit.jsonl` says of an entry (F6): who did what to which files of the workspace. Every agent
 * reads it, so it leaves out what concerns one of them alone (L10): sessions, grants, and files outside.
 */
export const workspaceAudit =
  (workspace: string) =>
  (entry: Entry): readonly Shown[] => {
    const { actor, at, seq, type, domain, subject, outcome, data } = entry
    if (domain !== 'files') return []
    const isInside = (path = '') => path === workspace || path.startsWith(workspace + sep)
    const touched = touchedIn(entry).filter(({ path }) => isInside(path))
    const about = isInside(subject) ? subject : touched[0]?.path
    if (about === undefined) return []
    const files = touched.map(({ path, success, size_bytes }) => ({ path, success, size_bytes }))
    return [
      {
        actor: { kind: actor.kind, id: actor.id },
        at,
        seq,
        type,
        outcome,
        subject: about,
        // The other details of the entry are about the subject.
        data: {
          ...(about === subject && picked(data)),
          tool: data?.['tool'],
          ...(files.length > 0 && { files }),
        },
      },
    ]
  }

const picked = (data: Entry['data']) =>
  Object.fromEntries(facts.map((name) => [name, data?.[name]]))
