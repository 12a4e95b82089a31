import { editText } from '#dispatch'
import type { EarlierRun } from '#dispatch'

type Result = Readonly<Record<string, unknown>>

/** Says in both halves of a result what ran instead of what was asked for, where a person changed it (B3, RA2). */
export const withEditNotice = <R extends Result>(result: R, earlier: EarlierRun): R =>
  earlier.approved_change === undefined ? result : withNote(result, editText(earlier), earlier)

/** The same, and that the call ran before and was not run again (A15). */
export function withEarlier<R extends Result>(result: R, earlier: EarlierRun | undefined): R {
  if (!earlier) return result
  const text = `This call ran once, under approval ${earlier.approval_id}. It was not run again.`
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
