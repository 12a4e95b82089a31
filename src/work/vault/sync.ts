import { lstatSync, mkdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import * as z from 'zod'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { CoworkError, errorMessage } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import { createFolderInside, readTextInside } from '../disk/confined-read.ts'
import type { Work } from '../service.ts'
import type { workResults } from '../wire.ts'
import { globalPage, generatedMarker, notesTemplate, projectPages } from './pages.ts'

const manifestName = '.worksync-manifest.json'
/** Hash of the generated part by path. */
const manifest = z.record(z.string(), z.string())
type Manifest = z.infer<typeof manifest>
type VaultSyncResult = z.infer<typeof workResults.worksync_sync>

/** Writes the notes that changed (W18). Text below the marker and files of people stay (W33). */
export async function syncVault(work: Work, only?: string): Promise<VaultSyncResult> {
  const folder = work.vaultPath()
  checkVaultFolder(work, folder)
  const known = readManifest(folder)
  const names = only === undefined ? work.projects() : [only]
  const snapshots = await Promise.all(names.map((name) => work.snapshots.current(name)))
  const pages = new Map<string, string>()
  for (const snapshot of snapshots) {
    const ids = snapshot.backlog().map(({ item }) => item.id)
    const texts = await work.texts.readAll(work.db, snapshot.project, ids)
    for (const [path, text] of projectPages(snapshot, texts)) pages.set(path, text)
  }
  pages.set('Global Dashboard.md', globalPage(work.projects()))
  const next: Manifest = {}
  const failures: string[] = []
  /** Collects the failure of one note so that the others are still written. */
  const attempt = (path: string, act: (path: string) => boolean): boolean | undefined => {
    try {
      return act(path)
    } catch (error) {
      failures.push(`${path}: ${errorMessage(error)}`)
      const before = known[path]
      if (before !== undefined) next[path] = before
      return undefined
    }
  }
  let written = 0
  for (const [path, text] of pages) {
    const generated = text.slice(0, text.indexOf(generatedMarker))
    const isWritten = attempt(path, (one) => writeNote(folder, one, generated))
    if (isWritten !== undefined) next[path] = sha256Hex(generated)
    if (isWritten) written++
  }
  const isInScope = (path: string) =>
    only === undefined || path.startsWith(`projects/${only}/`) || path === 'Global Dashboard.md'
  let removed = 0
  for (const [path, hash] of Object.entries(known)) {
    if (pages.has(path)) continue
    if (!isInScope(path)) next[path] = hash
    else if (attempt(path, (one) => removeNote(folder, one, hash))) removed++
  }
  const manifestText = `${JSON.stringify(next, null, 1)}\n`
  attempt(manifestName, (one) => {
    const isKnown = readTextInside(folder, one) === manifestText
    if (!isKnown) writeFileAtomic(join(folder, one), manifestText, 0o644)
    return !isKnown
  })
  const [first] = failures
  if (first !== undefined)
    throw new CoworkError('vault_blocked', `Some notes in ${folder} were not written. ${first}`, {
      hint: 'Move the file or folder that blocks the note, then call worksync_sync again.',
      details: { faults: failures.slice(0, 20), failed: failures.length, written, removed },
    })
  return { vault_path: folder, written, removed, notes: pages.size }
}

/**
 * Refuses a protected folder: the registry or a link in the data root can name any folder (PV4).
 */
function checkVaultFolder({ root, guarded }: Work, folder: string): void {
  const isOwn = folder === join(root.folder, 'vault') && !isLink(folder)
  if (!isOwn) guarded.checkWritable(folder)
  mkdirSync(folder, { recursive: true })
}

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

/** Returns false if the note is unchanged. */
function writeNote(folder: string, path: string, generated: string): boolean {
  const before = readTextInside(folder, path)
  const mark = before?.indexOf(generatedMarker) ?? -1
  // A person's own file with this name, or a note without its marker.
  if (before !== undefined && mark === -1) return false
  const own = before === undefined ? notesTemplate : before.slice(mark)
  if (before === generated + own) return false
  const inFolder = dirname(path)
  const at = inFolder === '.' ? folder : createFolderInside(folder, inFolder)
  writeFileAtomic(join(at, basename(path)), generated + own, 0o644)
  return true
}

/** Deletes the note of a removed item unless a person edited it. */
function removeNote(folder: string, path: string, hash: string): boolean {
  const text = readTextInside(folder, path)
  if (text === undefined) return false
  const mark = text.indexOf(generatedMarker)
  if (mark === -1 || text.slice(mark) !== notesTemplate || sha256Hex(text.slice(0, mark)) !== hash)
    return false
  rmSync(join(folder, path))
  return true
}

function readManifest(folder: string): Manifest {
  try {
    const parsed = manifest.safeParse(JSON.parse(readTextInside(folder, manifestName) ?? ''))
    return parsed.success ? parsed.data : {}
  } catch {
    return {}
  }
}
