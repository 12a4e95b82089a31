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

/** The folder of the agents' own, ready for use. */
export type Workspace = {
  /** Its real path: no link in it. */
  readonly path: string
  /** As config names it, which may lead there over links. */
  readonly given: string
  /** What cowork keeps in it; agents may read it and not write it (F6). */
  readonly own: string
  /** On the same volume, so that deleting is a rename (TR1). */
  readonly trash: string
  /** Nothing of cowork's was there before, or a first start ended before it was on record. */
  readonly isNew: boolean
}

/** In `.cowork/` until the workspace is on record: so a first start that was cut off is made good by the next. */
const unrecorded = 'unrecorded'

export const markRecorded = ({ own }: Workspace): void =>
  rmSync(join(own, unrecorded), { recursive: true, force: true })

/** Makes or finds the workspace at start (F1). What is wrong with it is said with the remedy, and stops the start. */
export function prepareWorkspace(settings: Config['workspace'], log: Log): Workspace {
  const { path: given, create_if_missing, structure } = settings
  const found = statSync(given, { throwIfNoEntry: false })
  if (!found && !create_if_missing)
    throw new CoworkError('workspace_missing', `There is no workspace at ${given}.`, {
      hint: 'Make the folder, name another one in workspace.path, or set workspace.create_if_missing to true.',
    })
  if (found && !found.isDirectory())
    throw new CoworkError('workspace_unusable', `The workspace ${given} is not a folder.`, {
      hint: 'Move what is there out of the way, or name another folder in workspace.path.',
    })
  try {
    if (!found) mkdirSync(given, { recursive: true })
    const path = realpathSync(given)
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
    const own = join(path, '.cowork')
    const trash = join(own, 'trash')
    makeOwn(path, own)
    makeFolder(trash)
    const isNew = lstatSync(join(own, unrecorded), { throwIfNoEntry: false }) !== undefined
    if (isNew)
      for (const folder of structure)
        if (!makeBelow(path, folder))
          log.warn('a folder of the workspace was not made: something else has its name', {
            folder,
          })
    return { path, given, own, trash, isNew }
  } catch (cause) {
    if (cause instanceof CoworkError) throw cause
    throw new CoworkError(
      'workspace_unusable',
      `The workspace ${given} cannot be used: ${errorMessage(cause)}.`,
      {
        hint: 'Give the account that runs cowork the right to write there, or name another folder in workspace.path.',
        cause,
      },
    )
  }
}

/** With its mark from the first moment on. */
function makeOwn(path: string, own: string): void {
  if (lstatSync(own, { throwIfNoEntry: false })) return makeFolder(own)
  const fresh = mkdtempSync(join(path, '.cowork-'))
  mkdirSync(join(fresh, unrecorded), { mode: 0o700 })
  renameSync(fresh, own)
}

/** A link in its place would lead what cowork keeps elsewhere (TR2). */
function makeFolder(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) {
    mkdirSync(path, { mode: 0o700 })
    return
  }
  const { getuid } = process
  if (!found.isDirectory() || (getuid && found.uid !== getuid()))
    throw new CoworkError(
      'workspace_unusable',
      `${path} is ${found.isDirectory() ? 'another user’s' : 'not a folder'}.`,
      { hint: 'Move it out of the way; cowork makes its own.' },
    )
}

/** Name by name, so that no link leads out. False when a name on the way is no folder. */
function makeBelow(root: string, folder: string): boolean {
  let path = root
  for (const name of folder.split('/').filter((one) => one !== '' && one !== '.')) {
    path = join(path, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found && !found.isDirectory()) return false
    if (!found) mkdirSync(path)
  }
  return true
}

/** What was done to a file, and nothing of by which right or from where. */
const facts = ['size_bytes', 'sha256', 'dry_run'] as const

/**
 * What `.cowork/audit.jsonl` says of an entry (F6): who did what to which files of the workspace. Every agent
 * reads it, so it leaves out what concerns one of them alone (L10): sessions, grants, and files outside.
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
