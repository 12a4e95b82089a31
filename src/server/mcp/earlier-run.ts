import { editText } from '#dispatch'
import type { EarlierRun } from '#dispatch'

type Result = Readonly<Record<string, unknown>>

/** Adds a person's edit to both halves of a result (B3, RA2). */
export const withEditNotice = <R extends Result>(result: R, earlier: EarlierRun): R =>
  earlier.approved_change === undefined ? result : withNote(result, editText(earlier), earlier)

/** Adds a person's edit and a note that the call already ran and was not repeated (A15). */
export function withEarlier<R extends Result>(result: R, earlier: EarlierRun | undefined): R {
  if (!earlier) return result
  const text = `This call already ran under approval ${earlier.approval_id} and was not run again.`
  const note = [text, editText(earlier)].filter(Boolean).join(' ')
  return withNote(result, note, { ...earlier, not_run_again: true })
}

function withNote<R extends Result>(result: R, text: string, facts: object): R {
  const { content, structuredContent } = result
  if (!Array.isArray(content)) return result
  const isObject = typeof structuredContent === 'object' && structuredContent !== null
  return {
    ...result,
    content: [...(content as unknown[]), { type: 'text', text }],
    ...(isObject && { structuredContent: { ...structuredContent, ...facts } }),
  }
}
