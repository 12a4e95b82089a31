import {
  accessSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join, sep } from 'node:path'
import type { Config } from '#base/config/index.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import type { Log } from '#base/log.ts'
import { readTouchedFiles } from '#ledger'
import type { Entry, MirroredEntry } from '#ledger'

/** The agents' folder, ready for use. */
export type Workspace = {
  /** The real path, without symbolic links. */
  readonly path: string
  /** The path from the configuration, which may contain symbolic links. */
  readonly configuredPath: string
  /** The folder of cowork's own files; agents may read it but not write it (F6). */
  readonly internalFolder: string
  /** On the same volume, so that deleting is a rename (TR1). */
  readonly trash: string
  /** True until the ledger has recorded the workspace. */
  readonly isNew: boolean
}

/** Marker in `.cowork/` until the ledger has recorded the workspace; after a crash the next start completes the setup. */
const unrecordedMarker = 'unrecorded'

export const markRecorded = ({ internalFolder }: Workspace): void =>
  rmSync(join(internalFolder, unrecordedMarker), { recursive: true, force: true })

/** Creates or opens the workspace at start (F1). An unusable workspace stops the start. */
export function prepareWorkspace(settings: Config['workspace'], log: Log): Workspace {
  const { path: configuredPath, create_if_missing, structure } = settings
  const stat = statSync(configuredPath, { throwIfNoEntry: false })
  if (!stat && !create_if_missing)
    throw new CoworkError('workspace_missing', `Workspace not found: ${configuredPath}.`, {
      hint: 'Create the folder, change workspace.path, or set workspace.create_if_missing to true.',
    })
  if (stat && !stat.isDirectory())
    throw new CoworkError(
      'workspace_unusable',
      `The workspace ${configuredPath} is not a folder.`,
      { hint: 'Move the file away, or set workspace.path to another folder.' },
    )
  try {
    if (!stat) mkdirSync(configuredPath, { recursive: true })
    const path = realpathSync(configuredPath)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    const internalFolder = join(path, '.cowork')
    const trash = join(internalFolder, 'trash')
    createInternalFolder(path, internalFolder)
    ensureFolder(trash)
    const isNew =
      lstatSync(join(internalFolder, unrecordedMarker), { throwIfNoEntry: false }) !== undefined
    if (isNew)
      for (const folder of structure)
        if (!createSubfolders(path, folder))
          log.warn('workspace folder not created: name is taken', { folder })
    return { path, configuredPath, internalFolder, trash, isNew }
  } catch (cause) {
    if (cause instanceof CoworkError) throw cause
    throw new CoworkError(
      'workspace_unusable',
      `Cannot use the workspace ${configuredPath}: ${errorMessage(cause)}.`,
      {
        hint: 'Give the account that runs cowork write permission, or set workspace.path to another folder.',
        cause,
      },
    )
  }
}

/** Creates the folder together with its marker: a crash cannot leave the folder without the marker. */
function createInternalFolder(path: string, own: string): void {
  if (lstatSync(own, { throwIfNoEntry: false })) return ensureFolder(own)
  const fresh = mkdtempSync(join(path, '.cowork-'))
  mkdirSync(join(fresh, unrecordedMarker), { mode: 0o700 })
  renameSync(fresh, own)
}

/** Refuses a symbolic link: it would redirect the files of cowork (TR2). */
function ensureFolder(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) {
    mkdirSync(path, { mode: 0o700 })
    return
  }
  const { getuid } = process
  if (!found.isDirectory() || (getuid && found.uid !== getuid()))
    throw new CoworkError(
      'workspace_unusable',
      found.isDirectory() ? `${path} belongs to another user.` : `${path} is not a folder.`,
      { hint: 'Move it away; cowork creates a new folder.' },
    )
}

/** Creates one segment at a time, so that no symbolic link leads outside. Returns false if a segment is not a folder. */
function createSubfolders(root: string, folder: string): boolean {
  let path = root
  for (const name of folder.split('/').filter((part) => part !== '' && part !== '.')) {
    path = join(path, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found && !found.isDirectory()) return false
    if (!found) mkdirSync(path)
  }
  return true
}

const auditFields = ['size_bytes', 'sha256', 'dry_run'] as const

/**
 * Reduces an entry for `.cowork/audit.jsonl` (F6) to who did what to which workspace files. Every agent can read that
 * file, so it omits sessions, grants and files outside the workspace (L10).
 */
export const toWorkspaceAuditEntry =
  (workspace: string) =>
  (entry: Entry): readonly MirroredEntry[] => {
    const { actor, at, seq, type, domain, subject, outcome, data } = entry
    if (domain !== 'files') return []
    const isInside = (path = '') => path === workspace || path.startsWith(workspace + sep)
    const touched = readTouchedFiles(entry).filter(({ path }) => isInside(path))
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
        // These details are about the subject of the entry.
        data: {
          ...(about === subject && pickAuditFields(data)),
          tool: data?.['tool'],
          ...(files.length > 0 && { files }),
        },
      },
    ]
  }

const pickAuditFields = (data: Entry['data']) =>
  Object.fromEntries(auditFields.map((name) => [name, data?.[name]]))
