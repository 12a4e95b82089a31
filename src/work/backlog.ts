import type { Tx } from '#base/db/port.ts'
import { CoworkError } from '#base/errors.ts'
import type { Call } from '#base/tool.ts'
import {
  toPatch,
  checkId,
  duplicateIdError,
  nextFreeId,
  noFieldsError,
} from './project-transaction.ts'
import type { createProjectTransactions } from './project-transaction.ts'
import { textPath } from './disk/text-search.ts'
import { toKebabCase } from './rules.ts'
import { toTextDetails } from './backlog-texts.ts'
import type { BacklogTexts } from './backlog-texts.ts'
import type { ChangeInput } from './tools/shared-schemas.ts'

/** Creates the operations on backlog items and their texts (W12, W25). */
export function createBacklog(
  openTransaction: ReturnType<typeof createProjectTransactions>,
  texts: BacklogTexts,
) {
  async function addBacklog(tx: Tx, input: ChangeInput<'worksync_add_backlog'>, call: Call) {
    const {
      project,
      item_id: requestedId,
      theme,
      summary,
      status = 'todo',
      text: newText,
      ...rest
    } = input
    const projectTx = await openTransaction(tx, project, call)
    if (requestedId !== undefined) checkId(requestedId)
    const preferredId = requestedId ?? (toKebabCase(summary) || 'item')
    // A leftover text belongs to the previous item with this id; only an explicit id reuses it.
    const isTaken = async (candidate: string) =>
      (await projectTx.find('backlog', candidate)) !== undefined ||
      (await texts.hasTextFile(tx, project, candidate))
    if (requestedId !== undefined && (await projectTx.find('backlog', requestedId)))
      throw duplicateIdError(
        project,
        'backlog item',
        requestedId,
        await nextFreeId(requestedId, isTaken),
      )
    if (requestedId !== undefined && newText !== undefined && (await isTaken(requestedId)))
      throw new CoworkError('duplicate_id', `${textPath(requestedId)} already exists.`, {
        hint: 'Omit text to use the existing file, or use the suggestion.',
        details: { suggestion: await nextFreeId(requestedId, isTaken) },
      })
    const id =
      requestedId ??
      ((await isTaken(preferredId)) ? await nextFreeId(preferredId, isTaken) : preferredId)
    const text = await texts.validateChange(projectTx, id, { text: newText })
    const item = projectTx.add('backlog', id, { theme, summary, status, ...rest })
    if (text) await texts.put(projectTx, id, text)
    await projectTx.commit('work.added', { id, ...toTextEntry(text) })
    return { item: { ...item, ...(text && { text_sha256: text.sha256 }) } }
  }

  async function updateBacklog(tx: Tx, input: ChangeInput<'worksync_update_backlog'>, call: Call) {
    const {
      project,
      item_id: id,
      expect_rev,
      text: newText,
      text_sha256: readSha256,
      ...fields
    } = input
    const projectTx = await openTransaction(tx, project, call)
    const current = await projectTx.getOrThrow('backlog', id)
    projectTx.checkPreconditions(current, { expect_rev })
    const patch = toPatch(fields)
    if (Object.keys(patch).length === 0 && newText === undefined)
      throw noFieldsError('summary, theme, status, priority, related_sprints, text')
    const text = await texts.validateChange(projectTx, id, {
      text: newText,
      text_sha256: readSha256,
    })
    const item = projectTx.set(current, patch)
    if (text) await texts.put(projectTx, id, text)
    await projectTx.commit('work.changed', { id, ...toTextEntry(text) })
    return { item: { ...item, ...(text && { text_sha256: text.sha256 }) } }
  }

  async function removeBacklog(tx: Tx, input: ChangeInput<'worksync_remove_backlog'>, call: Call) {
    const { project, item_id: id, ...guards } = input
    const projectTx = await openTransaction(tx, project, call)
    const current = await projectTx.getOrThrow('backlog', id)
    projectTx.checkPreconditions(current, guards)
    projectTx.remove(current)
    await projectTx.commit('work.removed', { id, data: { removed: current.item } })
    return { removed: { ...current.item, id } }
  }

  return { addBacklog, updateBacklog, removeBacklog }
}

const toTextEntry = (text: Parameters<typeof toTextDetails>[0] | undefined) =>
  text ? { extraFields: ['text'], data: { text: toTextDetails(text) } } : {}
