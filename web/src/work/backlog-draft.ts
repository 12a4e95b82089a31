import type { BacklogWhole } from './work.ts'

/** A backlog item as it stands in a form: all of it text. */
export type BacklogDraft = {
  readonly summary: string
  readonly theme: string
  readonly priority: string
  readonly status: string
  readonly text: string
}

export const backlogDraft = (item?: BacklogWhole): BacklogDraft => ({
  summary: item?.summary ?? '',
  theme: item?.theme ?? '',
  priority: item?.priority ?? '',
  status: item?.status ?? 'todo',
  text: item?.text ?? '',
})

/** What the form says otherwise than it was; what was taken away is null (W12). */
export function backlogChanges(
  draft: BacklogDraft,
  from: BacklogDraft,
  before?: Pick<BacklogWhole, 'text' | 'text_sha256'>,
): Record<string, unknown> {
  const differs = (name: 'summary' | 'theme' | 'priority' | 'status') =>
    draft[name].trim() !== from[name].trim()
  return {
    ...(differs('summary') && { summary: draft.summary.trim() }),
    ...(differs('theme') && { theme: draft.theme.trim() || null }),
    ...(differs('priority') && { priority: draft.priority || null }),
    ...(differs('status') && { status: draft.status }),
    // Only over the text that the form was opened with (W25).
    ...(draft.text !== from.text && {
      text: withLineEnds(draft.text, before?.text),
      ...(before?.text_sha256 !== undefined && { text_sha256: before.text_sha256 }),
    }),
  }
}

/** A form gives every line the same end; a file that had the other one keeps it. */
const withLineEnds = (text: string, before = ''): string =>
  /\r\n/.test(before) && !/(?<!\r)\n/.test(before) ? text.replaceAll(/(?<!\r)\n/g, '\r\n') : text
