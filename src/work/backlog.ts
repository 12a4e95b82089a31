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
  act: ReturnType<typeof createProjectTransactions>,
  texts: BacklogTexts,
) {
  async function addBacklog(tx: Tx, input: ChangeInput<'worksync_add_backlog'>, call: Call) {
    const { project, item_id: asked, theme, summary, status = 'todo', text: given, ...rest } = input
    const on = await act(tx, project, call)
    if (asked !== undefined) checkId(asked)
    const wished = asked ?? (toKebabCase(summary) || 'item')
    // A leftover text belongs to the previous item with this id; only an explicit id reuses it.
    const isTaken = async (one: string) =>
      (await on.find('backlog', one)) !== undefined || (await texts.isThere(tx, project, one))
    if (asked !== undefined && (await on.find('backlog', asked)))
      throw duplicateIdError(project, 'backlog item', asked, await nextFreeId(asked, isTaken))
    if (asked !== undefined && given !== undefined && (await isTaken(asked)))
      throw new CoworkError('duplicate_id', `${textPath(asked)} already exists.`, {
        hint: 'Omit text to use the existing file, or use the suggestion.',
        details: { suggestion: await nextFreeId(asked, isTaken) },
      })
    const id = asked ?? ((await isTaken(wished)) ? await nextFreeId(wished, isTaken) : wished)
    const text = await texts.checked(on, id, { text: given })
    const item = on.add('backlog', id, { theme, summary, status, ...rest })
    if (text) await texts.put(on, id, text)
    await on.commit('work.added', { id, ...withText(text) })
    return { item: { ...item, ...(text && { text_sha256: text.sha256 }) } }
  }

  async function updateBacklog(tx: Tx, input: ChangeInput<'worksync_update_backlog'>, call: Call) {
    const { project, item_id: id, expect_rev, text: given, text_sha256: read, ...fields } = input
    const on = await act(tx, project, call)
    const found = await on.need('backlog', id)
    on.guard(found, { expect_rev })
    const changed = toPatch(fields)
    if (Object.keys(changed).length === 0 && given === undefined)
      throw noFieldsError('summary, theme, status, priority, related_sprints, text')
    const text = await texts.checked(on, id, { text: given, text_sha256: read })
    const item = on.set(found, changed)
    if (text) await texts.put(on, id, text)
    await on.commit('work.changed', { id, ...withText(text) })
    return { item: { ...item, ...(text && { text_sha256: text.sha256 }) } }
  }

  async function removeBacklog(tx: Tx, input: ChangeInput<'worksync_remove_backlog'>, call: Call) {
    const { project, item_id: id, ...guards } = input
    const on = await act(tx, project, call)
    const found = await on.need('backlog', id)
    on.guard(found, guards)
    on.remove(found)
    await on.commit('work.removed', { id, data: { removed: found.item } })
    return { removed: { ...found.item, id } }
  }

  return { addBacklog, updateBacklog, removeBacklog }
}

const withText = (text: Parameters<typeof toTextDetails>[0] | undefined) =>
  text ? { besides: ['text'], data: { text: toTextDetails(text) } } : {}
