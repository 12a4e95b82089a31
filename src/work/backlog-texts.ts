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

  async function readCurrent(reader: Reader, project: string, id: string): Promise<TextFileState> {
    const pending = await store.texts.latest(reader, project, id)
    if (pending) return { as: 'text', text: pending.text, sha256: pending.sha256 }
    return root.isHolder
      ? readTextFile(root.folderOf(project), id)
      : { as: 'unusable', why: 'another daemon holds the files' }
  }

  /**
   * Returns the text for a reply. Only the first page has the hash, so later pages cannot supply a
   * newer one.
   */
  async function getTextFields(reader: Reader, project: string, id: string, cursor?: string) {
    const state = await readCurrent(reader, project, id)
    if (state.as === 'unusable') return { text_note: `Cannot read ${textPath(id)}: ${state.why}.` }
    if (!hasText(state)) return {}
    return { text: state.text, ...(cursor === undefined && { text_sha256: state.sha256 }) }
  }

  async function readAll(
    reader: Reader,
    project: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const pending = await store.texts.pending(reader, project)
    const texts = new Map(pending.map(({ id, text }) => [id, text]))
    for (const id of root.isHolder ? ids : []) {
      const state = texts.has(id) ? undefined : readTextFile(root.folderOf(project), id)
      if (state && hasText(state)) texts.set(id, state.text)
    }
    return texts
  }

  /** Returns for each item which of the lower-case words its text contains. */
  async function findWords(
    reader: Reader,
    project: string,
    ids: ReadonlySet<string>,
    words: readonly string[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const waiting = await store.texts.pending(reader, project)
    const state = root.isHolder
      ? await files.find(root.folderOf(project), ids, words)
      : new Map<string, readonly string[]>()
    // The newest pending text of an item wins.
    for (const { id, text } of waiting) {
      const lowerCase = text.toLowerCase()
      state.set(
        id,
        words.filter((word) => lowerCase.includes(word)),
      )
    }
    return state
  }

  async function hasTextFile(reader: Reader, project: string, id: string): Promise<boolean> {
    if (!root.isHolder) return false
    const state = await readCurrent(reader, project, id)
    return state.as === 'unusable' || hasText(state)
  }

  /** Validates a change of the text: a caller can only replace the text it has read. */
  async function validateChange(
    projectTx: ProjectTransaction,
    id: string,
    { text: newContent, text_sha256: readSha256 }: TextChange,
  ): Promise<NewText | undefined> {
    if (newContent === undefined && readSha256 === undefined) return undefined
    const state = await readUsable(projectTx, id)
    const sha256 = hasText(state) ? state.sha256 : undefined
    if (sha256 !== readSha256)
      throw new CoworkError('stale', staleMessage(id, sha256, readSha256), {
        hint: 'Read the text with worksync_get, then send its text_sha256 with the change.',
        details: { ...(sha256 !== undefined && { text_sha256: sha256 }) },
      })
    return newContent === undefined ? undefined : toNewText(newContent, state)
  }

  async function readUsable(
    projectTx: ProjectTransaction,
    id: string,
  ): Promise<Exclude<TextFileState, { as: 'unusable' }>> {
    if (!root.isHolder)
      throw new CoworkError('data_root_busy', 'Another daemon holds the files of the work data.', {
        hint: 'Change texts of backlog items through that daemon.',
      })
    const state = await readCurrent(projectTx.tx, projectTx.project, id)
    if (state.as !== 'unusable') return state
    throw new CoworkError('work_file_broken', `Cannot change ${textPath(id)}: ${state.why}.`, {
      hint: 'Fix the file; cowork does not overwrite it.',
    })
  }

  /** Prepares a text that replaces any current text. */
  const prepareReplacement = async (
    projectTx: ProjectTransaction,
    id: string,
    text: string,
  ): Promise<NewText> => toNewText(text, await readUsable(projectTx, id))

  /**
   * Stores the text in the transaction of its change, after the steps; the flush writes the file
   * (W7).
   */
  async function put(
    projectTx: ProjectTransaction,
    id: string,
    { text, sha256, base }: NewText,
  ): Promise<void> {
    await store.texts.add(projectTx.tx, projectTx.project, {
      seq: projectTx.seq(),
      id,
      base,
      sha256,
      text,
    })
  }

  return { getTextFields, readAll, findWords, hasTextFile, validateChange, prepareReplacement, put }
}

/** An empty file counts as no text. */
const hasText = (found: TextFileState): found is Extract<TextFileState, { as: 'text' }> =>
  found.as === 'text' && found.text !== ''

function toNewText(newContent: string, found: Exclude<TextFileState, { as: 'unusable' }>): NewText {
  // UTF-8 cannot encode a lone surrogate.
  const text = newContent.toWellFormed()
  const bytes = Buffer.byteLength(text)
  if (bytes > maxTextBytes)
    throw new CoworkError(
      'too_large',
      `The text has ${bytes} bytes; the limit is ${maxTextBytes}.`,
      {
        hint: 'Move part of the text to a file in the repository and name the file in the text.',
      },
    )
  return { text, sha256: sha256Hex(text), base: found.as === 'text' ? found.sha256 : null }
}

function staleMessage(
  id: string,
  currentSha256: string | undefined,
  readSha256: string | undefined,
): string {
  if (currentSha256 === undefined) return `${id} no longer has a text.`
  return readSha256 === undefined ? `${id} already has a text.` : `The text of ${id} has changed.`
}

/** Summarizes a text for the ledger entry; the call entry has the full text. */
export const toTextDetails = ({ text, sha256, base }: NewText) => ({
  sha256,
  bytes: Buffer.byteLength(text),
  ...(base !== null && { before: base }),
})
