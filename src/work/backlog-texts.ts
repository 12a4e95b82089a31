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
 * The long text of a backlog item: `BACKLOG/<id>.md`, which is a person's file as much as an agent's (W25).
 * What the file says is the truth; a text that was acknowledged is in the store until the file says it.
 */
export function createBacklogTexts({ store, root, now }: Deps) {
  const files = createTextSearch(now)

  async function current(reader: Reader, project: string, id: string): Promise<TextFileState> {
    const waiting = await store.texts.latest(reader, project, id)
    if (waiting) return { as: 'text', text: waiting.text, sha256: waiting.sha256 }
    return root.isHolder
      ? readTextFile(root.folderOf(project), id)
      : { as: 'unusable', why: 'another daemon has the files' }
  }

  /** For an answer. The hash comes with the first part of it: who reads on has to present that one. */
  async function shown(reader: Reader, project: string, id: string, cursor?: string) {
    const found = await current(reader, project, id)
    if (found.as === 'unusable') return { text_note: `${textPath(id)} is not given: ${found.why}.` }
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

  /** Of these words, which are in lower case, those that the text of each of these items has. */
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
    // The last one of each item is what it says.
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

  /** The change that was asked for, where it may be made: nobody writes over what they have not read. */
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
        hint: 'Read it with worksync_get, then change that text, and give its text_sha256.',
        details: { ...(sha256 !== undefined && { text_sha256: sha256 }) },
      })
    return given === undefined ? undefined : newText(given, found)
  }

  async function usable(
    on: ProjectTransaction,
    id: string,
  ): Promise<Exclude<TextFileState, { as: 'unusable' }>> {
    if (!root.isHolder)
      throw new CoworkError('data_root_busy', 'Another daemon has the files of the work data.', {
        hint: 'Texts of backlog items are changed through that one.',
      })
    const found = await current(on.tx, on.project, id)
    if (found.as !== 'unusable') return found
    throw new CoworkError('work_file_broken', `${textPath(id)} cannot be changed: ${found.why}.`, {
      hint: 'Somebody has to mend what is there; it is not written over.',
    })
  }

  /** Instead of whatever there is, since somebody said so. */
  const instead = async (on: ProjectTransaction, id: string, text: string): Promise<NewText> =>
    newText(text, await usable(on, id))

  /** In the transaction of the change that it belongs to, after its steps; the file says it soon (W7). */
  async function put(
    on: ProjectTransaction,
    id: string,
    { text, sha256, base }: NewText,
  ): Promise<void> {
    await store.texts.add(on.tx, on.project, { seq: on.seq(), id, base, sha256, text })
  }

  return { shown, all, holding, isThere, checked, instead, put }
}

/** An empty file says nothing. */
const isSaying = (found: TextFileState): found is Extract<TextFileState, { as: 'text' }> =>
  found.as === 'text' && found.text !== ''

function newText(given: string, found: Exclude<TextFileState, { as: 'unusable' }>): NewText {
  // Half a character cannot be in a file.
  const text = given.toWellFormed()
  const bytes = Buffer.byteLength(text)
  if (bytes > maxTextBytes)
    throw new CoworkError('too_large', `The text has ${bytes} bytes; ${maxTextBytes} may be.`, {
      hint: 'Leave the rest in a file of the repository, and name it in the text.',
    })
  return { text, sha256: sha256Hex(text), base: found.as === 'text' ? found.sha256 : null }
}

function staleWords(id: string, there: string | undefined, read: string | undefined): string {
  if (there === undefined) return `${id} has no text any more.`
  return read === undefined
    ? `${id} has a text already.`
    : `The text of ${id} is another one by now.`
}

/** What the entry says of a text; the call has it whole. */
export const toTextDetails = ({ text, sha256, base }: NewText) => ({
  sha256,
  bytes: Buffer.byteLength(text),
  ...(base !== null && { before: base }),
})
