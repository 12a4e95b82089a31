import type { Clock } from '#base/clock.ts'
import type { Reader } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import { sha256Hex } from '#base/hash.ts'
import type { ProjectTransaction } from './project-transaction.ts'
import type { DataRoot } from './disk/data-root.ts'
import { createTextSearch, maxTextBytes, readTextFile, textPath } from './disk/text-search.ts'
import type { TextFileState } from './disk/text-search.ts'
import type { WorkStore } from './store.ts'

type Deps = {
  readonly store: WorkStore
  readonly root: Pick<DataRoot, 'isHolder' | 'folderOf'>
  readonly now: Clock
}

type TextChange = {
  readonly text?: string | undefined
  readonly text_sha256?: string | undefined
}

type NewText = { readonly text: string; readonly sha256: string; readonly base: string | null }

export type BacklogTexts = ReturnType<typeof createBacklogTexts>

/**
 * Creates the service for the texts of backlog items in `BACKLOG/<id>.md`, which people and agents
 * both edit (W25). The file is authoritative; an acknowledged text stays in the store until it is
 * in the file.
 */
export function createBacklogTexts({ store, root, now }: Deps) {
  const files = createTextSearch(now)

  async function current(reader: Reader, project: string, id: string): Promise<TextFileState> {
    const waiting = await store.texts.latest(reader, project, id)
    if (waiting) return { as: 'text', text: waiting.text, sha256: waiting.sha256 }
    return root.isHolder
      ? readTextFile(root.folderOf(project), id)
      : { as: 'unusable', why: 'another daemon holds the files' }
  }

  /**
   * Returns the text for a reply. Only the first page has the hash, so later pages cannot supply a
   * newer one.
   */
  async function shown(reader: Reader, project: string, id: string, cursor?: string) {
    const found = await current(reader, project, id)
    if (found.as === 'unusable') return { text_note: `Cannot read ${textPath(id)}: ${found.why}.` }
    if (!isSaying(found)) return {}
    return { text: found.text, ...(cursor === undefined && { text_sha256: found.sha256 }) }
  }

  async function all(
    reader: Reader,
    project: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const waiting = await store.texts.waiting(reader, project)
    const texts = new Map(waiting.map(({ id, text }) => [id, text]))
    for (const id of root.isHolder ? ids : []) {
      const found = texts.has(id) ? undefined : readTextFile(root.folderOf(project), id)
      if (found && isSaying(found)) texts.set(id, found.text)
    }
    return texts
  }

  /** Returns for each item which of the lower-case words its text contains. */
  async function holding(
    reader: Reader,
    project: string,
    ids: ReadonlySet<string>,
    words: readonly string[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const waiting = await store.texts.waiting(reader, project)
    const found = root.isHolder
      ? await files.find(root.folderOf(project), ids, words)
      : new Map<string, readonly string[]>()
    // The newest pending text of an item wins.
    for (const { id, text } of waiting) {
      const lowered = text.toLowerCase()
      found.set(
        id,
        words.filter((word) => lowered.includes(word)),
      )
    }
    return found
  }

  async function isThere(reader: Reader, project: string, id: string): Promise<boolean> {
    if (!root.isHolder) return false
    const found = await current(reader, project, id)
    return found.as === 'unusable' || isSaying(found)
  }

  /** Validates a change of the text: a caller can only replace the text it has read. */
  async function checked(
    on: ProjectTransaction,
    id: string,
    { text: given, text_sha256: read }: TextChange,
  ): Promise<NewText | undefined> {
    if (given === undefined && read === undefined) return undefined
    const found = await usable(on, id)
    const sha256 = isSaying(found) ? found.sha256 : undefined
    if (sha256 !== read)
      throw new CoworkError('stale', staleWords(id, sha256, read), {
        hint: 'Read the text with worksync_get, then send its text_sha256 with the change.',
        details: { ...(sha256 !== undefined && { text_sha256: sha256 }) },
      })
    return given === undefined ? undefined : newText(given, found)
  }

  async function usable(
    on: ProjectTransaction,
    id: string,
  ): Promise<Exclude<TextFileState, { as: 'unusable' }>> {
    if (!root.isHolder)
      throw new CoworkError('data_root_busy', 'Another daemon holds the files of the work data.', {
        hint: 'Change texts of backlog items through that daemon.',
      })
    const found = await current(on.tx, on.project, id)
    if (found.as !== 'unusable') return found
    throw new CoworkError('work_file_broken', `Cannot change ${textPath(id)}: ${found.why}.`, {
      hint: 'Fix the file; cowork does not overwrite it.',
    })
  }

  /** Prepares a text that replaces any current text. */
  const instead = async (on: ProjectTransaction, id: string, text: string): Promise<NewText> =>
    newText(text, await usable(on, id))

  /**
   * Stores the text in the transaction of its change, after the steps; the flush writes the file
   * (W7).
   */
  async function put(
    on: ProjectTransaction,
    id: string,
    { text, sha256, base }: NewText,
  ): Promise<void> {
    await store.texts.add(on.tx, on.project, { seq: on.seq(), id, base, sha256, text })
  }

  return { shown, all, holding, isThere, checked, instead, put }
}

/** An empty file counts as no text. */
const isSaying = (found: TextFileState): found is Extract<TextFileState, { as: 'text' }> =>
  found.as === 'text' && found.text !== ''

function newText(given: string, found: Exclude<TextFileState, { as: 'unusable' }>): NewText {
  // UTF-8 cannot encode a lone surrogate.
  const text = given.toWellFormed()
  const bytes = Buffer.byteLength(text)
  if (bytes > maxTextBytes)
    throw new CoworkError(
      'too_large',
      `The text has ${bytes} bytes; the limit is ${maxTextBytes}.`,
      {
        hint: 'Move the rest to a file in the repository and name that file in the text.',
      },
    )
  return { text, sha256: sha256Hex(text), base: found.as === 'text' ? found.sha256 : null }
}

function staleWords(id: string, there: string | undefined, read: string | undefined): string {
  if (there === undefined) return `${id} no longer has a text.`
  return read === undefined ? `${id} already has a text.` : `The text of ${id} has changed.`
}

/** Summarizes a text for the ledger entry; the call entry has the full text. */
export const toTextDetails = ({ text, sha256, base }: NewText) => ({
  sha256,
  bytes: Buffer.byteLength(text),
  ...(base !== null && { before: base }),
})
