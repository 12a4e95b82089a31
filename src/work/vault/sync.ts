import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeFileAtomic } from '#base/atomic-file.ts'
import { sha256Hex } from '#base/hash.ts'
import type { Work } from '../service.ts'
import { globalPage, notesMark, ownNotes, projectPages } from './pages.ts'

type Manifest = Record<string, string>
export type VaultRun = {
  readonly vault_path: string
  readonly written: number
  readonly removed: number
  readonly notes: number
}

/** Writes the notes that changed (W18). What people wrote below the mark, and files of theirs, stay (W33). */
export async function syncVault(work: Work, only?: string): Promise<VaultRun> {
  const folder = work.vaultPath()
  const manifestPath = join(folder, '.worksync-manifest.json')
  const known = readManifest(manifestPath)
  const names = only === undefined ? work.projects() : [only]
  const boards = await Promise.all(names.map((name) => work.boards.current(name)))
  const pages = new Map<string, string>()
  for (const board of boards) {
    const ids = board.backlog().map(({ item }) => item.id)
    const texts = await work.texts.all(work.db, board.project, ids)
    for (const [path, text] of projectPages(board, texts)) pages.set(path, text)
  }
  pages.set('Global Dashboard.md', globalPage(work.projects()))
  const next: Manifest = {}
  let written = 0
  for (const [path, text] of pages) {
    const generated = text.slice(0, text.indexOf(notesMark))
    next[path] = sha256Hex(generated)
    if (put(join(folder, path), generated)) written++
  }
  const isOurs = (path: string) =>
    only === undefined || path.startsWith(`projects/${only}/`) || path === 'Global Dashboard.md'
  let removed = 0
  for (const [path, hash] of Object.entries(known)) {
    if (next[path] !== undefined) continue
    if (!isOurs(path)) next[path] = hash
    else if (remove(join(folder, path), hash)) removed++
  }
  const manifest = `${JSON.stringify(next, null, 1)}\n`
  if (!existsSync(manifestPath) || readFileSync(manifestPath, 'utf8') !== manifest)
    writeFileAtomic(manifestPath, manifest, 0o644)
  return { vault_path: folder, written, removed, notes: pages.size }
}

/** False where the note says so already. */
function put(path: string, generated: string): boolean {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined
  const mark = before?.indexOf(notesMark) ?? -1
  // A file of a person's that happens to have the name, or a note whose mark they removed.
  if (before !== undefined && mark === -1) return false
  const own = before === undefined ? ownNotes : before.slice(mark)
  if (before === generated + own) return false
  mkdirSync(dirname(path), { recursive: true })
  writeFileAtomic(path, generated + own, 0o644)
  return true
}

/** A note goes with its item unless a person wrote something into it. */
function remove(path: string, hash: string): boolean {
  if (!existsSync(path)) return false
  const text = readFileSync(path, 'utf8')
  const mark = text.indexOf(notesMark)
  if (mark === -1 || text.slice(mark) !== ownNotes || sha256Hex(text.slice(0, mark)) !== hash)
    return false
  rmSync(path)
  return true
}

function readManifest(path: string): Manifest {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Manifest
  } catch {
    return {}
  }
}
